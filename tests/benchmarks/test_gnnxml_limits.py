import json

from benchmarks.gnnxml_limits import main
from longtail import threads
from longtail.data import catalogue, write


def test_all_rows_are_measured_and_clusters_by_the_truth_are_no_worse(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    arguments = ["--data", str(tmp_path / "data"), "--documents", "80", "--valid-documents", "40"]
    for setting in ("match.epochs=1", "documents.width=8", "network.width=8", "clusters.number=4"):
        arguments += ["--set", setting]
    with threads.limit(1):
        main([*arguments, "--out", str(tmp_path / "limits.json")])
    made = json.loads((tmp_path / "limits.json").read_text())
    assert (made["documents"], made["clusters"]) == (80, 4)
    found = {row["row"]: row["metrics"] for row in made["rows"]}
    assert len(found) == 19
    assert [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()[2:]] == [
        f"| {row}" for row in found
    ]
    of = "product of the paper, clusters by "
    assert found[f"{of}the truth"]["R@10"] >= found[f"{of}fixed vectors"]["R@10"]
