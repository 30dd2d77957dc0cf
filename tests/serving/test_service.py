"""The service: time-outs, full queues, texts in the log, and its end."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from longtail.serving.limits import Limits
from longtail.serving.predicting import Choice
from longtail.serving.problem import Problem
from longtail.serving.schemas import DocumentIn
from longtail.serving.service import Service
from tests.serving.running import running

SOME = [DocumentIn(text="a text")]
PREDICT = "/v1/models/linear/predict"


@pytest.fixture
def slow(registry, monkeypatch):
    """The linear model waits until ``slow.set()``; ``slow.entered`` says that it does."""
    model = type(registry.get("linear").system)
    predict, gate = model.predict, threading.Event()
    gate.entered = threading.Event()

    def waiting(self, *arguments, **options):
        gate.entered.set()
        assert gate.wait(60)
        return predict(self, *arguments, **options)

    monkeypatch.setattr(model, "predict", waiting)
    yield gate
    gate.set()


def test_an_answer_that_takes_too_long_is_given_up(registry, slow):
    service = Service(registry, Limits(seconds=0.2), jobs=1)
    with pytest.raises(Problem, match=r"within 0\.2 seconds") as caught:
        asyncio.run(service.predict(registry.get("linear"), SOME, Choice()))
    assert caught.value.status == 504
    slow.set()
    service.close()


def test_a_full_queue_is_said_over_http_and_nothing_is_lost(registry, slow):
    service = Service(registry, Limits(documents=2, queue=2, seconds=60), jobs=1)
    body = {"documents": [{"text": "a"}, {"text": "b"}]}
    answers = []
    with running(service) as server:
        first = threading.Thread(target=lambda: answers.append(server.post(PREDICT, body)))
        first.start()
        assert slow.entered.wait(30)
        second = threading.Thread(target=lambda: answers.append(server.post(PREDICT, body)))
        second.start()
        while service.depths()["linear"] < 2:
            pass
        refused = server.post(PREDICT, body)
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert "the queue takes 2" in refused.detail
        # Other models and routes go on.
        assert server.post("/v1/models/near/predict", body).status == 200
        slow.set()
        first.join(60)
        second.join(60)
    assert [answer.status for answer in answers] == [200, 200]


def test_predictions_do_not_wait_for_explanations(registry, slow):
    service = Service(registry, jobs=1)
    with running(service) as server:
        asked = {"document": {"text": "a"}}
        why = threading.Thread(target=lambda: server.post("/v1/models/linear/explain", asked))
        why.start()
        assert slow.entered.wait(30)
        assert server.post("/v1/models/near/predict", {"documents": [{"text": "a"}]}).status == 200
        slow.set()
        why.join(60)


def test_texts_are_in_the_log_only_if_asked_for(registry, caplog):
    caplog.set_level(logging.INFO)
    for asked in (False, True):
        service = Service(registry, jobs=1, log_texts=asked)
        asyncio.run(service.predict(registry.get("linear"), SOME, Choice()))
        service.close()
        assert ("a text" in caplog.text) is asked


def test_a_closed_service_refuses(registry):
    service = Service(registry, jobs=1)
    service.close()
    with pytest.raises(Problem, match="shutting down"):
        asyncio.run(service.predict(registry.get("linear"), SOME, Choice()))


def test_revealed_labels_are_for_every_document(service, registry):
    with pytest.raises(Problem, match="1 documents but 2 lists"):
        asyncio.run(service.predict(registry.get("linear"), SOME, Choice(), [[], []]))
