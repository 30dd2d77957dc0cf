"""The feedback store on SQLite files; test_feedback_postgres.py has the same on a PostgreSQL server."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from longtail.errors import FeedbackStoreError, UsageError
from longtail.serving.feedback import Feedback, FeedbackStore, database_url
from longtail.types import Document


def feedback(id_: str = "d1", *, model: str = "m", **changes: object) -> Feedback:
    settings: dict[str, object] = {
        "model": model,
        "version": "v1",
        "document": Document(id_, "A title", f"the text of {id_}"),
        "accepted": ("a",),
        "user": "ann",
        **changes,
    }
    return Feedback(**settings)


def check_round_trip(store: FeedbackStore) -> None:
    """What every database must do; also called with a PostgreSQL server."""
    time = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
    entries = [
        feedback("d1", time=time),
        feedback("d2", accepted=(), rejected=("b", "ü'; DROP TABLE x;--"), added=("c",), user=""),
        feedback("", document=Document("", "", "no id, \U0001f989 ' \" % :x"), time=time + timedelta(1)),
        feedback("d1", model="other"),
        feedback("d1", accepted=("z",)),
    ]
    ids = [store.add(entry) for entry in entries]
    assert ids == sorted(set(ids))
    found = list(store.entries())
    assert [entry.id for entry in found] == ids
    for entry, stored in zip(entries, found, strict=True):
        for name in ("model", "version", "document", "accepted", "rejected", "added", "user", "time"):
            assert getattr(stored, name) == getattr(entry, name), name
    assert [entry.id for entry in store.entries("other")] == [ids[3]]
    assert [entry.id for entry in store.entries("m", latest=True)] == [ids[1], ids[2], ids[4]]
    assert [entry.id for entry in store.entries("m", latest=True, after=ids[1])] == [ids[2], ids[4]]
    assert list(store.entries("nobody")) == []
    assert store.models() == ["m", "other"]


def test_entries_come_back_as_they_were(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path / "f.sqlite")
    check_round_trip(store)
    store.close()


def test_entries_outlive_the_store(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path / "f.sqlite")
    store.add(feedback())
    store.close()
    again = FeedbackStore(f"sqlite:///{tmp_path}/f.sqlite")
    assert [entry.document.id for entry in again.entries()] == ["d1"]
    again.close()


def test_a_commit_is_synced_and_the_file_is_private(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path / "f.sqlite")
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.add(feedback())
    for name in os.listdir(tmp_path):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name
    store.close()


def test_threads_and_other_processes_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    store = FeedbackStore(path)
    program = (
        "import sys; from tests.serving.test_feedback import *; s = FeedbackStore(sys.argv[1])\n"
        "for n in range(40): s.add(feedback(f'other-{n}'))"
    )
    other = subprocess.Popen([sys.executable, "-c", program, str(path)], cwd=Path(__file__).parents[2])
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: store.add(feedback(f"own-{n}")), range(80)))
    assert other.wait() == 0
    assert len(set(ids)) == 80
    assert len(list(store.entries())) == 120
    store.close()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"accepted": ()}, "no label"),
        ({"rejected": ("a",)}, "'a' is both right and wrong"),
        ({"document": Document("x")}, "neither a title nor a text"),
        ({"document": Document("x", text="a\0b")}, "NUL"),
        ({"user": "\ud800"}, "surrogate"),
        ({"added": ("\udfff",)}, "surrogate"),
        ({"added": ("b\0",)}, "NUL"),
    ],
)
def test_feedback_that_makes_no_sense_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        feedback(**changes)


def test_documents_without_id_are_known_by_their_text() -> None:
    one, same, other = (
        feedback("", document=Document("", title, text)).document_key
        for title, text in [("a", "b"), ("a", "b"), ("ab", "")]
    )
    assert one == same != other


@pytest.mark.parametrize("name", ["a?b.sqlite", "a#b%20.sqlite", "file:x.sqlite", "ü x.sqlite"])
def test_a_file_name_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    store = FeedbackStore(tmp_path / name)
    store.add(feedback())
    store.close()
    assert (tmp_path / name).stat().st_size > 0
    assert os.listdir(tmp_path) == [name]


def test_reading_does_not_make_a_database(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no feedback database"):
        FeedbackStore(tmp_path / "none.sqlite", writable=False)
    assert os.listdir(tmp_path) == []


def test_reading_changes_nothing(tmp_path: Path) -> None:
    FeedbackStore(tmp_path / "f.sqlite").close()
    store = FeedbackStore(tmp_path / "f.sqlite", writable=False)
    with pytest.raises(FeedbackStoreError, match="readonly"):
        store.add(feedback())
    store.close()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, it is a text " * 100)
    with pytest.raises(FeedbackStoreError, match="not a database"):
        FeedbackStore(tmp_path / "text")
    sqlite3.connect(tmp_path / "other.sqlite").executescript("CREATE TABLE x (y)")
    with pytest.raises(UsageError, match="no table longtail_feedback"):
        FeedbackStore(tmp_path / "other.sqlite", writable=False)
    sqlite3.connect(tmp_path / "old.sqlite").executescript("CREATE TABLE longtail_feedback (id, model)")
    with pytest.raises(UsageError, match="has no column time"):
        FeedbackStore(tmp_path / "old.sqlite", writable=False)
    with pytest.raises(UsageError, match="cannot be written"):
        FeedbackStore(tmp_path / "no" / "such" / "folder.sqlite")


def test_urls_that_are_none_and_unknown_databases() -> None:
    with pytest.raises(UsageError, match="is not one"):
        database_url("://")
    with pytest.raises(UsageError, match="cannot be used"):
        FeedbackStore("nosuchdatabase://user:secret@host/x")
    with pytest.raises(UsageError, match="NUL"):
        database_url("a\0b")


def test_a_password_is_never_shown() -> None:
    with pytest.raises(FeedbackStoreError) as caught:
        FeedbackStore("postgresql+psycopg://user:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
