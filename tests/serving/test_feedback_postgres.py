"""The feedback store on a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from longtail.data import read_folder
from longtail.errors import FeedbackStoreError
from longtail.serving.feedback import FeedbackStore
from tests.cli.conftest import Call, call
from tests.serving.postgres import server
from tests.serving.test_feedback import check_round_trip, feedback

__all__ = ["call"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server() as place:
        yield place


@pytest.fixture
def store(url: str) -> Iterator[FeedbackStore]:
    """Empty again for every test."""
    store = FeedbackStore(url)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("TRUNCATE longtail_feedback RESTART IDENTITY")
    yield store
    store.close()


def test_entries_come_back_as_they_were(store: FeedbackStore) -> None:
    check_round_trip(store)


def test_many_writers(store: FeedbackStore, url: str) -> None:
    other = FeedbackStore(url)
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: (store, other)[n % 2].add(feedback(f"d{n}")), range(100)))
    assert sorted(ids) == [entry.id for entry in store.entries()]
    other.close()


def test_a_lost_connection_is_made_anew(store: FeedbackStore, url: str) -> None:
    store.add(feedback("d1"))
    other = FeedbackStore(url)
    with other._engine.begin() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    other.close()
    store.add(feedback("d2"))
    assert [entry.document.id for entry in store.entries()] == ["d1", "d2"]


def test_a_refused_entry_is_one_sentence(store: FeedbackStore) -> None:
    with store._engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE longtail_feedback ADD CONSTRAINT no CHECK (model <> 'bad')")
    with pytest.raises(FeedbackStoreError, match="violates check constraint"):
        store.add(feedback(model="bad"))
    with store._engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE longtail_feedback DROP CONSTRAINT no")


def test_export_from_the_command_line(store: FeedbackStore, url: str, call: Call, tmp_path: Path) -> None:
    store.add(feedback("d1"))
    store.add(feedback("d1", accepted=(), added=("b",)))
    answer = call("feedback", "export", url, "-o", tmp_path / "train.jsonl")
    assert answer.code == 0, answer.err
    data = read_folder(tmp_path)["train"]
    assert data.documents.ids == ["d1"]
    assert data.labels.ids == ["b"]
