from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from longtail.cli.split import METHODS, WARM_START
from longtail.data import read_folder
from longtail.data.splits import Method
from tests.cli.conftest import Call, records, write_lines


def ids(folder: Path) -> dict[str, list[str]]:
    return {part: data.documents.ids for part, data in read_folder(folder).items()}


def test_the_methods_are_those_of_the_library() -> None:
    assert (*get_args(Method), WARM_START) == METHODS


@pytest.mark.parametrize("method", ["random", "stratified"])
def test_a_split_has_every_document_once(call: Call, folder: Path, tmp_path: Path, method: str) -> None:
    source = tmp_path / "docs.jsonl"
    # Documents of the same words would stay together.
    write_lines(source, [{**row, "text": f"{row['text']} {row['id']}"} for row in records(0, 40)])
    first = call("split", source, "-o", tmp_path / "a", "--method", method, "--seed", 1)
    assert first.code == 0, first.err
    parts = ids(tmp_path / "a")
    assert set(parts) == {"train", "valid", "test"}
    assert sorted(name for names in parts.values() for name in names) == sorted(f"doc-{n}" for n in range(40))
    assert f"{len(parts['train'])} documents in train" in first.err
    call("split", source, "-o", tmp_path / "b", "--method", method, "--seed", 1)
    assert ids(tmp_path / "b") == parts


def test_by_time_and_by_group(call: Call, folder: Path, tmp_path: Path) -> None:
    shares = ("--fractions", "train=.75,test=.25")
    time = call("split", folder, "-o", tmp_path / "t", "--method", "time", "--field", "year", *shares)
    assert time.code == 0, time.err
    assert ids(tmp_path / "t")["test"] == [f"doc-{n}" for n in range(30, 40)]
    group = call("split", folder, "-o", tmp_path / "g", "--method", "group", "--field", "group", *shares)
    assert group.code == 0, group.err
    parts = {part: {int(name[4:]) % 7 for name in names} for part, names in ids(tmp_path / "g").items()}
    assert not parts["train"] & parts["test"]


def test_copies_that_are_parted_are_told(call: Call, tmp_path: Path) -> None:
    rows = [f"{2000 + n},the same text number {n % 5},x\n" for n in range(10)]
    source = tmp_path / "docs.csv"
    source.write_text("year,text,labels\n" + "".join(rows))
    shares = ("--fractions", "train=.6,test=.4")
    time = call("split", source, "-o", tmp_path / "t", "--method", "time", "--field", "year", *shares)
    assert (
        "warning: 4 documents of test have near-duplicates in train, so metrics will be too high" in time.err
    )
    assert "warning" not in call("split", source, "-o", tmp_path / "r", *shares).err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fractions", "train"), "'train' is not of the form part=share"),
        (("--fractions", "train=x"), "'train=x' is not of the form part=share"),
        (("--method", "time"), "needs the name of the field"),
        (("--method", "tme"), "'tme' is not one of"),
        (("--fractions", "train=.5,exam=.5"), "there is no part 'exam'"),
        (("--fractions", "train=.5,train=.5"), "the part 'train' is there twice"),
        (("--to", "table"), "can only be read"),
        (("--inductive",), "--inductive belongs to the method warm-start"),
    ],
)
def test_wrong_usage(call: Call, folder: Path, tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    answer = call("split", folder, "-o", tmp_path / "out", "-q", *options)
    assert answer.code == 2
    assert words in answer.err
    assert not (tmp_path / "out").exists()


def test_weights_that_are_lost_are_told(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "train.txt"
    source.write_text("".join(f"0::0.5\ta red fox {n}\n" for n in range(10)))
    answer = call("split", source, "-o", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "warning: label weights are not written, as the format jsonl has none" in answer.err


@pytest.mark.parametrize("inductive", [False, True])
def test_warm_start(call: Call, folder: Path, tmp_path: Path, inductive: bool) -> None:
    (tmp_path / "in").mkdir()
    for path in folder.iterdir():
        (tmp_path / "in" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "in" / "edges.tsv").write_text("doc-50\tdoc-1\t0.5\n")
    options = ("--method", "warm-start", "--seed", 3, *(["--inductive"] if inductive else []))
    answer = call("split", tmp_path / "in", "-o", tmp_path / "out", *options)
    assert answer.code == 0, answer.err
    before, after = read_folder(folder), read_folder(tmp_path / "out")
    assert {part: len(data) for part, data in after.items()} == {
        "train": 40 if inductive else 50,
        "valid": 10,
        "test": 10,
    }
    test = after["test"]
    assert test.revealed is not None
    assert ((test.Y + test.revealed) != before["test"].Y).nnz == 0
    added = after["train"].take(range(40, len(after["train"])))
    assert ((test.revealed[:0] if inductive else test.revealed) != added.Y).nnz == 0
    assert test.edges is not None
    assert test.edges.sources == ["doc-50"]
    again = call("split", tmp_path / "in", "-o", tmp_path / "again", *options)
    assert again.code == 0
    assert read_folder(tmp_path / "again")["test"].fingerprint() == test.fingerprint()


def test_warm_start_needs_two_parts(call: Call, folder: Path, tmp_path: Path) -> None:
    answer = call("split", folder / "train.jsonl", "-o", tmp_path / "out", "--method", "warm-start", "-q")
    assert answer.code == 2
    assert "has no part 'test', and the method warm-start needs train and test" in answer.err


def test_what_a_format_has_no_place_for_is_told(call: Call, folder: Path, tmp_path: Path) -> None:
    answer = call("split", folder, "-o", tmp_path / "out", "--method", "warm-start", "--to", "text2text")
    assert answer.code == 0, answer.err
    assert "warning: revealed labels are not written, as the format text2text has none: jsonl" in answer.err
