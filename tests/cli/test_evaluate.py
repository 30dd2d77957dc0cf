from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_table_json_and_page(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    answer = call("evaluate", model, folder, "--json", data, "--html", page, "-k", "1,2")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("10 documents with 20 label assignments")
    assert "\x1b" not in answer.out
    report = json.loads(data.read_text())
    # Every document has the label 'common', which the dummy puts first; l0 is right for a fifth.
    assert report["figures"]["P@1"]["value"] == pytest.approx(100)
    assert report["figures"]["P@2"]["value"] == pytest.approx(60)
    assert report["meta"]["system"] == "dummy"
    assert {"load", "read", "evaluate", "measure"} <= set(report["meta"]["seconds"])
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


def test_revealed_labels_are_left_out(call: Call, model: Path, folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "test.jsonl").read_text().splitlines()]
    source = tmp_path / "test.jsonl"
    source.write_text("".join(json.dumps({**row, "revealed": ["common"]}) + "\n" for row in rows))
    answer = call("evaluate", model, source, "-q", "--json", "-", "-k", "1")
    assert answer.code == 0, answer.err
    report = json.loads(answer.out)
    # 'common' is neither truth nor prediction any more: the next, l0, is right for a fifth.
    assert report["figures"]["P@1"]["value"] == pytest.approx(20)
    assert report["counts"]["assignments"] == report["counts"]["pairs_left_out"] == 10
