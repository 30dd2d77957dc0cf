"""The table of fields, on a small data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import field_choice
from longtail.data import write
from tests.planted import parts_of, planted


def test_texts_are_exchanged_and_nothing_else() -> None:
    data = planted(n_documents=50, n_labels=10)
    noisy = field_choice.with_noise(data)
    assert noisy.documents.titles == data.documents.titles
    assert sorted(noisy.documents.texts) == sorted(data.documents.texts)
    assert noisy.documents.texts != data.documents.texts
    assert (noisy.Y != data.Y).nnz == 0


def test_rows_are_printed_and_added_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = parts_of(planted(n_documents=120, n_labels=10))
    write({"train": parts.train, "valid": parts.valid}, tmp_path / "data")
    out = tmp_path / "fields.json"
    asked = ["--data", str(tmp_path / "data"), "--systems", "lexical", "--out", str(out)]
    field_choice.main([*asked, "--variants", "title;default"])
    field_choice.main([*asked, "--variants", "one text", "--noise", "--documents", "60"])
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [row["variant"] for row in found] == ["title", "default", "one text"]
    assert found[2]["data"] == "data, texts exchanged"
    assert found[2]["documents"] == 60
    assert found[0]["title_share"] is None
    assert 0 < found[1]["title_share"] < 1
    assert capsys.readouterr().out.count("| lexical |") == 3
