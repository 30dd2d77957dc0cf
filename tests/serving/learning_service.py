"""A service with a model that learns, for tests."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.testclient import TestClient

from longtail.serving.app import create_app
from longtail.serving.feedback import FeedbackStore
from longtail.serving.feedback_intake import FeedbackIntake, replayed
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from longtail.systems import create
from longtail.types import Dataset, Document

WORDS = ["fox", "owl", "elk", "bee", "cat", "dog", "hen", "ant"]


def training_data(named: bool = True) -> Dataset:
    """Documents about two of eight animals, which are their labels."""
    pairs = [(WORDS[n % 8], WORDS[(n + n // 8) % 8]) for n in range(160)]
    texts = [f"a text number{n} about the {one} and the {other}" for n, (one, other) in enumerate(pairs)]
    names = [f"train-{n}" if named else str(n) for n in range(160)]
    documents = [Document(name, text=text) for name, text in zip(names, texts, strict=True)]
    return Dataset.from_texts(documents, [list(pair) for pair in pairs])


def saved_model(folder: Path, system: str = "knn", *, force: bool = False, **settings: object) -> Path:
    """The folder of a trained model."""
    create(system, settings).fit(training_data()).save(folder, force=force)
    return folder


def started(model: Path, store: FeedbackStore | None, *, learn: bool = True) -> tuple[Service, TestClient]:
    """A service of one model, and a client of it."""
    prepare = partial(replayed, store) if store is not None and learn else None
    registry = Registry({"animals": model}, prepare=prepare)
    intake = None if store is None else FeedbackIntake(registry, store, learn=learn)
    service = Service(registry, feedback=intake)
    return service, TestClient(create_app(service), raise_server_exceptions=False)


def labels_of(client: TestClient, text: str, k: int = 3) -> list[str]:
    """The labels that the service gives to a text."""
    answer = client.post("/v1/models/animals/predict", json={"documents": [{"text": text}], "k": k})
    assert answer.status_code == 200, answer.text
    return [label["id"] for label in answer.json()["predictions"][0]["labels"]]
