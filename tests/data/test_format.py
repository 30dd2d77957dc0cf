"""What the rest relies on of every format: reading and streaming agree, names alone find the files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longtail.data import ReadOptions
from longtail.data.format import Format
from longtail.data.formats import FORMATS
from longtail.data.records import fail
from longtail.types import Dataset
from tests.data.build import matrix_dataset, put, tags

WRITABLE = {name: found.write for name, found in FORMATS.items() if found.write is not None}
OF_TEXT = ("jsonl", "text2text")
BY_HAND = {
    "xmc-raw": ("trn.json", '{"uid": "u", "title": "t", "content": "c", "target_ind": [0]}\n'),
    "fasttext": ("train.txt", "__label__x a b\n__label__x __label__y c\n"),
    "annif": ("train.tsv", "a\t<http://x/1>\nb\t<http://x/1> <http://x/2>\n"),
    "table": ("train.csv", "text,labels\na,x\nb,x;y\n"),
    "text": ("train.txt", "a b\nc d\n"),
}
"""A file of each format that can only be read."""


def parts_for(name: str) -> dict[str, Dataset]:
    whole = matrix_dataset(7, 5, 4, seed=1)
    if name in OF_TEXT:
        whole = Dataset.from_texts(
            [f"text {i}" for i in range(7)], [["x"], ["y", "x"], [], ["z"]] + [["y"]] * 3
        )
    return {"train": whole.take(range(5)), "test": whole.take([5, 6])}


@pytest.mark.parametrize("found", FORMATS.values(), ids=FORMATS)
def test_a_format_says_what_it_is(found: Format) -> None:
    assert FORMATS[found.name] is found
    assert found.shape
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.name = "other"


@pytest.mark.parametrize("found", FORMATS.values(), ids=FORMATS)
def test_an_empty_folder_has_no_files(found: Format, tmp_path: Path) -> None:
    assert found.files(tmp_path) == {}


@pytest.mark.parametrize("found", FORMATS.values(), ids=FORMATS)
def test_a_file_that_is_no_text_is_of_no_format(found: Format, tmp_path: Path) -> None:
    assert not found.fits_file(put(tmp_path / "picture.png", b"\x89PNG\0\xff\xfe"))


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("name", WRITABLE)
def test_what_is_written_is_found_read_and_streamed_alike(name: str, size: int, tmp_path: Path) -> None:
    parts, found = parts_for(name), FORMATS[name]
    WRITABLE[name](parts, tmp_path)
    files = found.files(tmp_path)
    assert list(files) == ["train", "test"]
    read = found.read(files, tmp_path, ReadOptions(), fail)
    for part, data in parts.items():
        again = read.parts[part].data
        assert tags(again) == tags(data)
        assert again.documents.texts == data.documents.texts
        batches = list(found.stream(files[part], ReadOptions(), size))
        assert [len(documents) for documents, _ in batches[:-1]] == [size] * (len(batches) - 1)
        assert [id_ for documents, _ in batches for id_ in documents.ids] == again.documents.ids
        assert [text for documents, _ in batches for text in documents.texts] == again.documents.texts


@pytest.mark.parametrize("name", BY_HAND)
def test_formats_that_are_only_read_are_found_read_and_streamed_alike(name: str, tmp_path: Path) -> None:
    file, content = BY_HAND[name]
    path, found = put(tmp_path / file, content), FORMATS[name]
    if name == "xmc-raw":
        put(tmp_path / "lbl.json", '{"uid": "x", "title": "label"}\n')
    assert found.write is None
    # A folder of texts without labels is nothing to learn from, so only a single file is plain text.
    assert found.files(tmp_path) == ({} if name == "text" else {"train": path})
    assert found.fits_file(path)
    again = found.read({"train": path}, tmp_path, ReadOptions(), fail).parts["train"].data
    (documents, labels) = next(iter(found.stream(path, ReadOptions(), 10)))
    assert len(documents) == len(again) == content.count("\n") - (name == "table")
    assert documents.joined() == again.documents.joined()
    assert [len(row) for row in labels] == [len(row) for row in tags(again)]


def test_every_format_is_tried_here() -> None:
    assert set(WRITABLE) | set(BY_HAND) == set(FORMATS)
