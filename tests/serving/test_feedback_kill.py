"""kill -9 of a real server while feedback comes in: all that was acknowledged is there."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import httpx2
import pytest

from longtail.serving.feedback import FeedbackStore
from tests.serving.learning_service import WORDS, saved_model
from tests.serving.server_process import ServerProcess, serving

CLIENTS, ROUNDS = 4, 2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_model(tmp_path_factory.mktemp("models") / "animals")


def post_until_it_is_gone(server: ServerProcess, name: str, acknowledged: dict[int, str]) -> None:
    with httpx2.Client(base_url=server.url, timeout=30) as client:
        for number in range(100_000):
            document = f"{name}-{number}"
            body = {"document": {"id": document, "text": f"a text {number}"}, "added": [WORDS[number % 8]]}
            try:
                answer = client.post("/v1/models/animals/feedback", json=body)
            except httpx2.TransportError:
                return
            assert answer.status_code == 201
            acknowledged[answer.json()["id"]] = document


@pytest.mark.parametrize("learn", [False, True])
def test_no_acknowledged_feedback_is_lost(model: Path, tmp_path: Path, learn: bool) -> None:
    path = tmp_path / "feedback.sqlite"
    rng = random.Random(int(learn))
    acknowledged: dict[int, str] = {}
    for round_ in range(ROUNDS):
        before = len(acknowledged)
        with serving(model, "--feedback", path, *(["--learn"] if learn else [])) as server:
            clients = [
                threading.Thread(target=post_until_it_is_gone, args=(server, f"{round_}-{n}", acknowledged))
                for n in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            while len(acknowledged) == before and any(client.is_alive() for client in clients):
                time.sleep(0.001)
            time.sleep(rng.uniform(0.05, 0.5))
            server.kill()
            for client in clients:
                client.join()
        assert len(acknowledged) > before, "".join(server.lines)
        store = FeedbackStore(path, writable=False)
        stored = {entry.id: entry.document.id for entry in store.entries()}
        store.close()
        assert acknowledged.items() <= stored.items()


def test_a_server_that_was_killed_has_learned_when_it_is_back(model: Path, tmp_path: Path) -> None:
    body = {"document": {"text": "the number3 of a text and number7"}, "added": ["hen"]}
    options = ("--feedback", tmp_path / "f.sqlite", "--learn")
    with serving(model, *options) as server:
        answer = httpx2.post(f"{server.url}/v1/models/animals/feedback", json=body)
        assert answer.json()["learned"] is True
        server.kill()
    with serving(model, *options) as server:
        asked = {"documents": [body["document"]], "k": 1}
        found = httpx2.post(f"{server.url}/v1/models/animals/predict", json=asked).json()
        assert [label["id"] for label in found["predictions"][0]["labels"]] == ["hen"]
        assert server.terminate() == 0
