from __future__ import annotations

from pathlib import Path

import pytest

from longtail.cli.prediction_sources import stream_all
from longtail.errors import DataError
from tests.cli.conftest import records, write_lines


def test_files_of_a_folder_are_read_by_name(tmp_path: Path) -> None:
    write_lines(tmp_path / "b.jsonl", records(5, 7))
    write_lines(tmp_path / "a.jsonl", records(0, 5))
    (tmp_path / "notes.md").write_text("not read")
    found = [documents.ids for documents, _ in stream_all(str(tmp_path), batch_size=3)]
    assert found == [["doc-0", "doc-1", "doc-2"], ["doc-3", "doc-4"], ["doc-5", "doc-6"]]
    assert [d.ids for d, _ in stream_all(str(tmp_path / "b.jsonl"))] == [["doc-5", "doc-6"]]


def test_a_folder_without_documents(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"without files that end in \.jsonl"):
        stream_all(str(tmp_path))
