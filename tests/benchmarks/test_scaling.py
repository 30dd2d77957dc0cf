import json
from xml.etree import ElementTree

from benchmarks.scaling import main

COLUMNS = ("documents", "embed s", "shortlist s", "rank s", "peak GB", "batch ms", "alone ms")


def test_a_row_a_size(capsys) -> None:
    tiny = ["--set", "width=8", "--set", "stages.rank.batch_size=64"]
    main(["--labels", "50,80", *tiny])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| system | labels | documents | train s |")
    assert [line.split(" | ")[1] for line in lines[2:]] == ["50", "80"]


def test_systems_are_measured_once(tmp_path, capsys) -> None:
    kept = tmp_path / "rows.json"
    known = {"system": "linear", "labels": 50, "train s": 1.0}
    kept.write_text(json.dumps([known, {"system": "lexical", "labels": 50, "error": "no memory"}]))
    main(["--system", "linear,lexical", "--labels", "50", "--json", str(kept)])
    rows = {row["system"]: row for row in json.loads(kept.read_text())}
    assert rows["linear"] == known
    assert rows["lexical"]["model MB"] > 0
    main(["--system", "nothing", "--labels", "50", "--json", str(kept)])
    assert "nothing" in json.loads(kept.read_text())[-1]["error"]


def test_rows_are_kept_and_drawn(tmp_path, capsys) -> None:
    kept, picture = tmp_path / "rows.json", tmp_path / "plot.svg"
    kept.write_text(json.dumps([dict.fromkeys(COLUMNS, 1.5) | {"labels": 900}]))
    main(["--labels", "50", "--set", "width=8", "--json", str(kept), "--plot", str(picture)])
    assert [row["labels"] for row in json.loads(kept.read_text())] == [50, 900]
    root = ElementTree.fromstring(picture.read_text())
    assert len(root.findall(".//{*}polyline")) == 6
    assert len(root.findall(".//{*}circle")) == 12
    # Without sizes, what is kept is drawn again.
    before = picture.read_text()
    main(["--labels", "", "--json", str(kept), "--plot", str(picture)])
    assert picture.read_text() == before
