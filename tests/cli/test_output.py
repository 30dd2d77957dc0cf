from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from longtail.cli import output
from longtail.cli.session import Session
from longtail.errors import LongtailError, OutputExistsError, UsageError


@pytest.fixture(autouse=True)
def session() -> Iterator[Session]:
    """That of a command which is being executed."""
    with click.Context(click.Command("any"), obj=Session()) as context:
        yield context.obj


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (999_960, "1.0 MB"),
        (2.5e9, "2.5 GB"),
        (3e13, "30.0 TB"),
    ],
)
def test_sizes_in_words(count: float, words: str) -> None:
    assert output.size_in_words(count) == words


def test_looking_whether_a_name_is_free_leaves_no_trace(tmp_path: Path) -> None:
    for path in (tmp_path / "new", tmp_path / "deep" / "er" / "new"):
        output.check_folder_is_free(str(path), force=False)
        output.check_file_is_free(str(path), force=False)
    output.check_file_is_free("-", force=False)
    output.check_file_is_free(None, force=False)
    assert not list(tmp_path.iterdir())


def test_what_is_to_be_written_is_known_to_the_session(session: Session, tmp_path: Path) -> None:
    old, new, folder = tmp_path / "old", tmp_path / "new", tmp_path / "folder"
    old.write_text("old")
    output.check_file_is_free(str(old), force=True)
    output.check_file_is_free(str(new), force=False)
    output.check_folder_is_free(str(folder), force=False)
    assert not session.has_written()
    for write in (lambda: folder.mkdir(), lambda: new.touch(), lambda: os.replace(new, old)):
        write()
        assert session.has_written()
        session.watched = {
            path: os.stat(path).st_ino if os.path.exists(path) else None for path in session.watched
        }
        assert not session.has_written()


def test_what_is_in_the_way_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").touch()
    with pytest.raises(OutputExistsError, match="--force"):
        output.check_file_is_free(str(tmp_path / "file"), force=False)
    output.check_file_is_free(str(tmp_path / "file"), force=True)
    for name, force in (("file", True), ("folder", False), ("folder", True)):
        with pytest.raises(OutputExistsError):
            output.check_folder_is_free(str(tmp_path / name), force=force)
    with pytest.raises(LongtailError, match="file"):
        output.check_folder_is_free(str(tmp_path / "file" / "a" / "b"), force=False)
    with pytest.raises(UsageError, match="standard output"):
        output.check_folder_is_free("-", force=False)
    assert (tmp_path / "file").read_text() == "mine"
    assert os.listdir(tmp_path / "folder") == ["mine.txt"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "none"), (True, "true"), (0.5, "0.5"), ("auto", "auto"), (["title", "text"], "[title, text]")],
)
def test_values_of_settings(value: object, text: str) -> None:
    assert output.shown(value) == text


def test_table_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table([["a", "1"], ["longer", "22"]], indent="  ")
    output.print_table([])
    assert capsys.readouterr().out == "  a       1\n  longer  22\n"


def test_a_terminal_gets_its_last_column_folded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    rows = [["key", "a sentence that is longer than the room"], ["other", "short"]]
    output.print_table(rows)
    assert len(capsys.readouterr().out.splitlines()) == 2
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    output.print_table(rows)
    assert capsys.readouterr().out.splitlines() == [
        "key    a sentence that is",
        "       longer than the room",
        "other  short",
    ]


def test_the_input_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    train = folder / "train.jsonl"
    train.write_text("mine")
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(folder)
    for source in (folder, train, tmp_path / "link"):
        for target in (folder, tmp_path / "link", "../data"):
            with pytest.raises(UsageError, match="would replace the input"):
                output.check_folder_is_free(str(target), force=True, inputs=[str(source)])
    with pytest.raises(UsageError, match="would replace the input"):
        output.check_file_is_free("train.jsonl", force=True, inputs=["-", str(train)])
    with pytest.raises(UsageError, match="or a part of it"):
        output.check_file_is_free(str(train), force=True, inputs=[str(folder)])
    output.check_file_is_free(str(folder / "report.html"), force=False, inputs=[str(folder)])
    output.check_file_is_free(str(tmp_path / "new"), force=False, inputs=[str(train), "/dev/stdin", "-"])
    assert train.read_text() == "mine"


def test_an_empty_name_is_no_output() -> None:
    with pytest.raises(UsageError, match="empty"):
        output.check_folder_is_free("", force=False)
    with pytest.raises(UsageError, match="empty"):
        output.check_file_is_free("", force=False)
