from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from longtail.data import read_folder
from longtail.evaluation import Insight
from longtail.systems import REGISTRY
from longtail.systems.dummy import Dummy
from tests.cli.conftest import Call, records, write_lines


class Telling(Dummy):
    """The dummy with an insight, whose texts are hostile."""

    name: ClassVar[str] = "telling"

    def insights(self) -> list[Insight]:
        """The share of each label."""
        return [
            Insight("Shares & <i>more</i>", "Of documents.", self.labels_.ids, {"<b>": list(self.prior_)})
        ]


@pytest.fixture
def telling(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(REGISTRY, "telling", f"{__name__}:Telling")
    place = tmp_path / "telling"
    Telling().fit(read_folder(folder)["train"]).save(place)
    return place


@pytest.fixture
def earlier(call: Call, model: Path, folder: Path, tmp_path: Path) -> Path:
    """The report of the dummy on the folder."""
    place = tmp_path / "earlier.json"
    assert call("evaluate", model, folder, "--json", place, "-k", "1,2").code == 0
    return place


def test_table_json_and_page(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    answer = call("evaluate", model, folder, "--json", data, "--html", page, "-k", "1,2")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("10 documents with 20 label assignments")
    assert "\x1b" not in answer.out
    report = json.loads(data.read_text())
    # Every document has the label 'common', which the dummy puts first; l0 is right for a fifth.
    assert report["metrics"]["P@1"]["value"] == pytest.approx(100)
    assert report["metrics"]["P@2"]["value"] == pytest.approx(60)
    assert report["meta"]["system"] == "dummy"
    assert {"load", "read", "evaluate", "predict", "measure"} <= set(report["meta"]["seconds"])
    size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    assert report["meta"]["model_bytes"] == size
    assert answer.out.splitlines()[-1].endswith(f"the model has {size / 1e6:,.1f} MB.")
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_other_parts_and_single_files(call: Call, model: Path, folder: Path) -> None:
    for arguments in ((folder, "--part", "valid"), (folder / "valid.jsonl",)):
        answer = call("evaluate", model, *arguments, "-q", "--json", "-")
        assert answer.code == 0, answer.err
        assert answer.err == ""
        assert json.loads(answer.out)["counts"]["documents"] == 10
    missing = call("evaluate", model, folder, "--part", "tset", "-q")
    assert missing.code == 2
    assert "'tset'" in missing.err


def test_existing_reports_are_kept(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("old")
    refused = call("evaluate", model, folder, "--html", page, "--json", tmp_path / "new.json")
    assert refused.code == 2
    assert page.read_text() == "old"
    assert not (tmp_path / "new.json").exists()
    assert call("evaluate", model, folder, "--html", page, "--force").code == 0
    assert page.read_text() != "old"


@pytest.mark.parametrize("ranks", ["0", "a", "1,,3", "-1"])
def test_wrong_ranks(call: Call, model: Path, folder: Path, ranks: str) -> None:
    answer = call("evaluate", model, folder, f"-k{ranks}")
    assert answer.code == 2
    assert "is not a list of ranks like 1,3,5" in answer.err


def test_no_colour_in_a_pipe(model: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "longtail", "evaluate", str(model), str(folder)]
    done = subprocess.run(command, capture_output=True, check=True, env={"TERM": "xterm-256color"})
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"evaluate took" in done.stderr


def test_two_reports_need_two_files(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    for name in ("-", str(tmp_path / "report")):
        answer = call("evaluate", model, folder, "--json", name, "--html", name, "-q")
        assert answer.code == 2
        assert "name two files" in answer.err
    assert not list(tmp_path.iterdir())


def test_a_reader_that_goes_away_gives_its_own_exit_code(model: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "longtail", "evaluate", str(model), str(folder), "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_revealed_labels_are_unscored(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "test.jsonl").read_text().splitlines()]
    source = tmp_path / "test.jsonl"
    source.write_text("".join(json.dumps({**row, "revealed": ["common"]}) + "\n" for row in rows))
    answer = call("evaluate", model, source, "-q", "--json", "-", "-k", "1")
    assert answer.code == 0, answer.err
    report = json.loads(answer.out)
    # 'common' is neither truth nor prediction any more: the next, l0, is right for a fifth.
    assert report["metrics"]["P@1"]["value"] == pytest.approx(20)
    assert report["counts"]["assignments"] == report["counts"]["unscored_pairs"] == 10


def test_a_model_beside_another_and_what_it_tells(
    call: Call, telling: Path, earlier: Path, folder: Path, tmp_path: Path
) -> None:
    page, data = tmp_path / "page.html", tmp_path / "report.json"
    answer = call(
        "evaluate", telling, folder, "--html", page, "--json", data, "--against", earlier, "-k", "1,2,3"
    )
    assert answer.code == 0, answer.err
    report = json.loads(data.read_text())
    parts = report["precision_parts"]
    assert list(parts) == ["P@1", "P@2", "P@3"]
    assert sum(parts["P@2"]) == pytest.approx(report["metrics"]["P@2"]["value"])
    assert parts["P@2"] == json.loads(earlier.read_text())["precision_parts"]["P@2"]
    [insight] = report["insights"]
    assert insight["title"] == "Shares & <i>more</i>"
    assert dict(zip(insight["x"], insight["series"]["<b>"], strict=True))["l0"] == pytest.approx(0.2)
    text = page.read_text()
    assert "This model: telling (telling)" in text
    assert "Against: dummy (dummy)" in text
    assert "P@2: 60.00 against 60.00 (+0.00)" in text
    assert "against 40" not in text, "the other report has no P@3"
    assert "Shares &amp; &lt;i&gt;more&lt;/i&gt;" in text
    assert "<i>" not in text
    assert "<b>" not in text


def test_systems_tell_nothing_by_default(earlier: Path) -> None:
    assert json.loads(earlier.read_text())["insights"] == []


def test_a_report_of_other_data_is_refused(
    call: Call, model: Path, earlier: Path, folder: Path, tmp_path: Path
) -> None:
    page, data, other = tmp_path / "page.html", tmp_path / "new.json", tmp_path / "other.jsonl"
    write_lines(other, records(50, 59))
    fewer = call("evaluate", model, other, "--html", page, "--json", data, "--against", earlier)
    assert fewer.code == 2
    assert f"{earlier} is a report of 10 documents, but there are 9 here" in fewer.err
    valid = call("evaluate", model, folder, "--part", "valid", "--html", page, "--against", earlier)
    assert valid.code == 2
    assert "evaluate both models on the same data" in valid.err
    assert not page.exists()
    assert not data.exists()


def test_what_is_no_report_is_refused_before_the_work(
    call: Call, model: Path, folder: Path, tmp_path: Path
) -> None:
    page, bad = tmp_path / "page.html", tmp_path / "bad.json"
    for content, message in (("{", "is not valid JSON"), ("{}", "not a report"), ("[]", "not a JSON object")):
        bad.write_text(content)
        answer = call("evaluate", model, folder, "--html", page, "--against", bad)
        assert answer.code == 1
        assert str(bad) in answer.err
        assert message in answer.err
        assert "load" not in answer.err
    missing = call("evaluate", model, folder, "--html", page, "--against", tmp_path / "none.json")
    assert missing.code == 1
    assert "none.json is missing" in missing.err
    assert not page.exists()


def test_a_comparison_needs_a_page_and_is_never_overwritten(
    call: Call, model: Path, earlier: Path, folder: Path, tmp_path: Path
) -> None:
    alone = call("evaluate", model, folder, "--against", earlier)
    assert alone.code == 2
    assert "--html" in alone.err
    before = earlier.read_bytes()
    page = tmp_path / "page.html"
    same = call("evaluate", model, folder, "--json", earlier, "--html", page, "--against", earlier, "--force")
    assert same.code == 2
    assert "would replace the input" in same.err
    assert earlier.read_bytes() == before


def test_documents_without_labels_are_refused(call: Call, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text("title,text,mark\nt,a,b\n")
    answer = call("evaluate", model, path)
    assert answer.code == 2
    assert (
        "no document has a label, so there is nothing to evaluate on; none of title, text, mark" in answer.err
    )


def test_training_documents_are_warned_of(call: Call, folder: Path, tmp_path: Path) -> None:
    assert call("train", folder, "-o", tmp_path / "m", "--system", "dummy").code == 0
    answer = call("evaluate", tmp_path / "m", folder, "--part", "train")
    assert answer.code == 0
    assert "train.jsonl: jsonl; id: id; title: title; text: text; labels: labels" in answer.err
    assert "warning: all documents were in the training data" in answer.err
