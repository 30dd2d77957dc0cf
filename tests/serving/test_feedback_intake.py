from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longtail.errors import FeedbackStoreError, UsageError
from longtail.serving.feedback import Feedback, FeedbackStore
from longtail.serving.feedback_intake import FeedbackIntake, with_learned
from longtail.serving.registry import Registry
from longtail.types import Document
from tests.serving.learning_service import WORDS, labels_of, saved_model, started
from tests.serving.running import Running, running

TEXT = "the number3 of a text and number7"
PATH = "/v1/models/animals/feedback"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_model(tmp_path_factory.mktemp("models") / "knn")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FeedbackStore]:
    store = FeedbackStore(tmp_path / "feedback.sqlite")
    yield store
    store.close()


def give(client: TestClient, **changes: object) -> dict[str, object]:
    body = {
        "document": {"id": "new", "text": TEXT},
        "accepted": [],
        "added": ["hen"],
        "user": "ann",
        **changes,
    }
    answer = client.post(PATH, json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_feedback_is_stored_and_learned_at_once(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    before = labels_of(client, TEXT)
    version = service.registry.get("animals").version
    told = give(client, added=["hen", "ant"], rejected=["fox"])
    assert told == {"id": 1, "model": "animals", "version": version, "learned": True}
    assert set(labels_of(client, TEXT, k=2)) == {"hen", "ant"} != set(before)
    [entry] = store.entries()
    assert (entry.model, entry.version, entry.user) == ("animals", version, "ann")
    assert (entry.accepted, entry.rejected, entry.added) == ((), ("fox",), ("hen", "ant"))
    # An answer names the state that it comes from.
    assert service.registry.get("animals").version == f"{version}+1"
    service.close()


def test_the_latest_feedback_on_a_document_counts(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    first = labels_of(client, TEXT)
    assert give(client, added=["hen"])["learned"] is True
    assert give(client, added=["owl"])["learned"] is True
    assert len(service.registry.get("animals").corrections) == 1
    assert labels_of(client, TEXT)[0] == "owl"
    assert give(client, added=[], rejected=["owl"])["learned"] is False
    assert labels_of(client, TEXT) == first
    service.close()


def test_what_was_learned_outlives_a_restart(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    give(client, added=["hen"])
    give(client, document={"text": "elk and elk"}, added=["cat"])
    expected = [labels_of(client, text) for text in (TEXT, "elk and elk")]
    version = service.registry.get("animals").version
    service.close()
    again, client = started(model, store)
    assert [labels_of(client, text) for text in (TEXT, "elk and elk")] == expected
    assert again.registry.get("animals").version == version
    again.close()


def test_what_was_learned_outlives_a_reload(tmp_path: Path, store: FeedbackStore) -> None:
    folder = saved_model(tmp_path / "m")
    service, client = started(folder, store)
    before = service.registry.get("animals")
    give(client, added=["hen"])
    saved_model(folder, force=True, neighbours=10)
    service.reload()
    after = service.registry.get("animals")
    assert after.on_disk != before.on_disk
    assert after.corrections
    assert labels_of(client, TEXT)[0] == "hen"
    service.close()


def test_feedback_that_comes_during_a_reload_is_learned(
    tmp_path: Path, store: FeedbackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved_model(tmp_path / "m")
    service, client = started(folder, store)
    saved_model(folder, force=True, neighbours=10)
    registry = service.registry
    replay, calls = registry._prepare, []

    def and_then_feedback(served: object) -> object:
        # The new model has learned all there is; then feedback comes, before the new model is in use.
        prepared = replay(served)
        calls.append(1)
        if len(calls) == 1:
            assert give(client, added=["hen"])["learned"] is True
        return prepared

    monkeypatch.setattr(registry, "_prepare", and_then_feedback)
    service.reload()
    assert len(calls) == 2
    assert labels_of(client, TEXT)[0] == "hen"
    service.close()


def test_a_reload_between_learning_and_exchange_is_noticed(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    registry = service.registry
    other, exchange, refused = replace(registry.get("animals"), card="another"), registry.exchange, []

    def too_late(before: object, after: object) -> bool:
        if not refused:
            registry._models = {"animals": other}
        refused.append(exchange(before, after))
        return refused[-1]

    registry.exchange = too_late
    assert give(client, added=["hen"])["learned"] is True
    assert refused == [False, True]
    assert registry.get("animals").card == "another"
    assert labels_of(client, TEXT)[0] == "hen"
    service.close()


def test_without_learn_feedback_is_stored_only(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store, learn=False)
    before = labels_of(client, TEXT)
    assert give(client)["learned"] is False
    assert labels_of(client, TEXT) == before
    assert len(list(store.entries())) == 1
    service.close()


def test_predictions_see_the_state_before_or_after(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    states = {tuple(labels_of(client, TEXT, k=2))}
    for pair in (["hen", "ant"], ["cat", "dog"]):
        give(client, added=pair)
        states.add(tuple(labels_of(client, TEXT, k=2)))
    done = threading.Event()

    def ask(server: Running) -> set[tuple[str, ...]]:
        seen = set()
        while not done.is_set():
            answer = server.post("/v1/models/animals/predict", {"documents": [{"text": TEXT}], "k": 2})
            assert answer.status == 200, answer.body
            seen.add(tuple(label["id"] for label in answer.json["predictions"][0]["labels"]))
        return seen

    # A real server: clients of several threads must share one event loop.
    with running(service) as server, ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, server) for _ in range(3)]
        try:
            for n in range(20):
                added = ["hen", "ant"] if n % 2 else ["cat", "dog"]
                body = {"document": {"id": "new", "text": TEXT}, "added": added, "user": "ann"}
                assert server.post(PATH, body).status == 201
        finally:
            done.set()
        seen = set().union(*(each.result(120) for each in asked))
    assert seen
    assert seen <= states


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"added": ["no such label"]}, "has no label 'no such label'"),
        ({"rejected": ["hen"]}, "both right and wrong"),
        ({"added": []}, "no label"),
        ({"document": {}}, "neither a title nor a text"),
        ({"document": {"text": "a\0"}}, "NUL"),
        ({"added": "hen"}, "added"),
        ({"added": ["hen"] * 1001}, "added"),
        ({"document": {"text": "x" * 200_001}}, "characters"),
    ],
)
def test_wrong_feedback_is_refused_and_not_stored(
    model: Path, store: FeedbackStore, changes: dict[str, object], sentence: str
) -> None:
    service, client = started(model, store)
    body = {"document": {"text": "x"}, "added": ["hen"], **changes}
    answer = client.post(PATH, json=body)
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert sentence in answer.json()["detail"]
    assert list(store.entries()) == []
    service.close()


def test_a_database_that_fails_is_told_and_nothing_is_learned(
    model: Path, store: FeedbackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, client = started(model, store)
    before = labels_of(client, TEXT)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE longtail_feedback")
    answer = client.post(PATH, json={"document": {"text": TEXT}, "added": ["hen"]})
    assert answer.status_code == FeedbackStoreError.http_status
    assert "the feedback database" in answer.json()["detail"]
    assert labels_of(client, TEXT) == before
    service.close()


def test_annif_clients_can_have_a_model_learn(model: Path, store: FeedbackStore) -> None:
    service, client = started(model, store)
    body = [{"text": TEXT, "subjects": [{"uri": "hen", "label": "Hen"}]}]
    assert client.post("/v1/projects/animals/learn", json=body).status_code == 204
    assert labels_of(client, TEXT)[0] == "hen"
    assert [entry.accepted for entry in store.entries()] == [("hen",)]
    for wrong in ([{"text": TEXT, "subjects": [{"uri": "x"}]}], [*body, {"text": "", "subjects": []}]):
        assert client.post("/v1/projects/animals/learn", json=wrong).status_code == 422
    assert len(list(store.entries())) == 1
    service.close()


def test_models_that_cannot_learn(tmp_path: Path, store: FeedbackStore) -> None:
    registry = Registry({"animals": saved_model(tmp_path / "linear", "linear")})
    with pytest.raises(UsageError, match="none of the models animals can learn"):
        FeedbackIntake(registry, store, learn=True)
    FeedbackIntake(registry, store)


def test_feedback_that_teaches_nothing_leaves_the_version(model: Path) -> None:
    served = Registry({"animals": model}).get("animals")
    entry = Feedback(model="animals", version="", document=Document("", text="x"), rejected=(WORDS[0],), id=7)
    after = with_learned(served, [entry])
    assert after.version == served.version
    assert after.system is served.system
    assert after.learned_to == 7
    assert with_learned(served, []) is served
