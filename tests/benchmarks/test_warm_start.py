import json

from benchmarks.warm_start import main
from longtail import threads
from longtail.data import catalogue, write


def test_a_row_a_system_and_the_ratio(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    tiny = ["width=8", "initial.rank.epochs=1", "initial.embed.epochs=1", "stages.joint.epochs=1"]
    kept = tmp_path / "rows.json"
    with threads.limit(1):
        main(
            [
                *("--data", str(tmp_path / "data"), "--systems", "linear,galaxc", "--json", str(kept)),
                *(part for setting in tiny for part in ("--set", setting)),
            ]
        )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:4]] == [["| linear", "False"], ["| galaxc", "True"]]
    assert "times the best one without" in lines[-1]
    rows = json.loads(kept.read_text())["rows"]
    assert rows[1]["P@1"] > 0
