"""The routes of version 1, asked over a socket; answers are those of the model itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from longtail.serving.registry import Served
from longtail.serving.schemas import FeedbackIn
from longtail.serving.service import Service
from tests.planted import Parts
from tests.serving.running import Running, running

PREDICT = "/v1/models/linear/predict"


def expected(served: Running, name: str, texts: list[str], **options: Any) -> list[list[tuple[str, float]]]:
    best = served.service.registry.get(name).system.predict(texts, **options)
    return [[(label, float(np.float32(score))) for label, score in answer] for answer in best]


def answered(predictions: list[dict[str, Any]]) -> list[list[tuple[str, float]]]:
    return [
        [(label["id"], float(np.float32(label["score"]))) for label in prediction["labels"]]
        for prediction in predictions
    ]


def test_models_are_listed_with_the_first_as_the_default(served):
    found = served.get("/v1/models").json["models"]
    assert [(model["name"], model["system"], model["default"]) for model in found] == [
        ("linear", "linear", True),
        ("near", "knn", False),
    ]
    assert all(len(model["version"]) == 16 and model["labels"] == 40 for model in found)


def test_a_model_tells_what_it_is(served):
    found = served.get("/v1/models/linear").json
    assert found["config"]["seed"] == 0
    assert found["capabilities"] == {
        "revealed": False,
        "feedback": False,
        "learn": False,
        "explain": True,
        "precision": True,
    }
    assert "P@1" in found["metrics"]
    assert found["card"].startswith("#")


@pytest.mark.parametrize("learn", [False, True])
def test_what_a_model_can_do_depends_on_the_service(registry, learn: bool):
    kept = Kept()
    kept.learn = learn
    with running(Service(registry, feedback=kept, jobs=1)) as server:
        able = {name: server.get(f"/v1/models/{name}").json["capabilities"] for name in ("linear", "near")}
    assert able["linear"]["feedback"] is able["near"]["feedback"] is True
    assert able["linear"]["learn"] is False
    assert able["near"]["learn"] is learn


def test_predictions_are_those_of_the_model(served, tiny: Parts):
    texts = tiny.test.documents.joined()[:20]
    documents = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    answer = served.post(PREDICT, {"documents": documents, "k": 3}).json
    assert answer["model"] == "linear"
    assert answer["version"] == served.service.registry.get("linear").version
    assert [p["id"] for p in answer["predictions"]] == [f"d{i}" for i in range(20)]
    assert answered(answer["predictions"]) == expected(served, "linear", texts, k=3)
    labels = served.service.registry.get("linear").system.labels_
    first = answer["predictions"][0]["labels"][0]
    assert first["text"] == labels.texts[labels.index[first["id"]]]


@pytest.mark.parametrize(
    "choice",
    [{"threshold": 0.3}, {"precision": 0.5}, {"max_f1": True}, {"precision": 0.5, "precision_by": "all"}],
)
def test_labels_are_chosen_as_asked(served, tiny: Parts, choice):
    texts = tiny.test.documents.joined()[:10]
    answer = served.post(PREDICT, {"documents": [{"text": text} for text in texts], "k": 10, **choice})
    assert answered(answer.json["predictions"]) == expected(served, "linear", texts, k=10, **choice)


def test_a_document_without_an_id_has_its_number(served):
    answer = served.post(PREDICT, {"documents": [{"text": "a"}, {"title": "b", "id": "x"}]}).json
    assert [prediction["id"] for prediction in answer["predictions"]] == ["0", "x"]


def test_no_documents_no_predictions(served):
    assert served.post(PREDICT, {"documents": []}).json["predictions"] == []


def test_ids_of_clients_do_not_change_answers(served, tiny: Parts):
    # The model knows this document; by its id it would take it for itself and leave it out.
    document = tiny.train.documents[5]
    body = {"documents": [{"id": document.id, "title": document.title, "text": document.text}], "k": 3}
    other = {"documents": [{**body["documents"][0], "id": "another"}], "k": 3}
    path = "/v1/models/near/predict"
    assert answered(served.post(path, body).json["predictions"]) == answered(
        served.post(path, other).json["predictions"]
    )


def test_revealed_labels_are_not_given_again(served, tiny: Parts):
    text = tiny.test.documents.joined()[0]
    [[first, *_]] = expected(served, "linear", [text])
    body = {"documents": [{"text": text}], "revealed": [[first[0]]]}
    answer = served.post(PREDICT, body).json["predictions"]
    assert answered(answer) == expected(served, "linear", [text], revealed=[[first[0]]])
    assert first[0] not in {label["id"] for label in answer[0]["labels"]}


def test_requests_at_the_same_time_get_the_answers_that_each_would_get_alone(served, tiny: Parts):
    texts = tiny.test.documents.joined()
    ids = served.service.registry.get("linear").system.labels_.ids
    bodies: list[dict[str, Any]] = []
    for number in range(120):
        some = [texts[(number + i) % len(texts)] for i in range(1 + number % 4)]
        body: dict[str, Any] = {"documents": [{"text": text} for text in some], "k": 1 + number % 3}
        if number % 5 == 0:
            body["revealed"] = [ids[: number % 4]] * len(some)
        if number % 7 == 0:
            body["threshold"] = 0.2
        bodies.append(body)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda body: served.post(PREDICT, body), bodies))
    for body, answer in zip(bodies, answers, strict=True):
        assert answer.status == 200
        asked = {key: value for key, value in body.items() if key != "documents"}
        texts_asked = [document["text"] for document in body["documents"]]
        assert answered(answer.json["predictions"]) == expected(served, "linear", texts_asked, **asked)


def test_explanations_come_with_predictions_and_alone(served, tiny: Parts):
    text = tiny.test.documents.joined()[3]
    answer = served.post(PREDICT, {"documents": [{"text": text}], "k": 2, "explain": True}).json
    [prediction] = answer["predictions"]
    why = prediction["explanation"]
    assert why["text"] == text
    assert [label["id"] for label in why["labels"]] == [label["id"] for label in prediction["labels"]]
    word = why["labels"][0]["words"][0]
    assert text[word["start"] : word["end"]] == word["word"]
    asked = {"document": {"text": text}, "labels": [prediction["labels"][1]["id"]]}
    alone = served.post("/v1/models/linear/explain", asked).json
    assert alone["model"] == "linear"
    assert alone["explanation"]["labels"] == why["labels"][1:]
    best = served.post("/v1/models/linear/explain", {"document": {"text": text}, "k": 1}).json
    assert len(best["explanation"]["labels"]) == 1


def test_labels_are_found_by_typing(served):
    labels = served.service.registry.get("linear").system.labels_
    text = labels.texts[7]
    second = text.split()[1]
    found = served.get(f"/v1/models/linear/labels?q={second[:-1]}&limit=40").json["labels"]
    assert labels.ids[7] in {label["id"] for label in found}
    assert all(set(label) == {"id", "text", "documents"} for label in found)
    assert len(served.get("/v1/models/linear/labels?limit=3").json["labels"]) == 3


def test_a_label_has_a_page(served, tiny: Parts):
    label = "label-1"
    page = served.get(f"/v1/models/near/labels/{label}").json
    column = tiny.train.labels.index[label]
    assert page["documents"] == int(tiny.train.label_counts[column])
    assert page["names"] == [page["text"]] == [tiny.train.labels.texts[column]]
    having = {tiny.train.documents.ids[row] for row in tiny.train.Y[:, [column]].nonzero()[0]}
    assert {example["id"] for example in page["examples"]} <= having
    assert page["examples"]
    assert page["neighbours"][0]["weight"] <= 1
    assert label not in {near["id"] for near in page["nearest"]}
    assert served.get("/v1/models/linear/labels/label-1").json["examples"] == []


def test_unknown_models_and_labels_are_not_found(served):
    assert "there are linear, near" in served.get("/v1/models/other").detail
    assert served.get("/v1/models/linear/labels/nope").status == 404
    assert served.post("/v1/models/other/predict", {"documents": []}).status == 404
    unknown = served.post(PREDICT, {"documents": [{"text": "a"}], "revealed": [["nope"]]})
    assert unknown.status == 422
    assert "nope" in unknown.detail


def test_without_a_store_there_is_no_feedback(served):
    body = {"document": {"text": "a"}, "accepted": ["label-1"]}
    answer = served.post("/v1/models/linear/feedback", body)
    assert (answer.status, answer.detail) == (404, "this service takes no feedback")


class Kept:
    """Feedback in a list."""

    learn = False

    def __init__(self) -> None:
        self.taken: list[tuple[str, FeedbackIn, str | None]] = []

    def take(self, served: Served, given: FeedbackIn, user: str | None) -> tuple[int, bool]:
        self.taken.append((served.name, given, user))
        return len(self.taken), False


def test_feedback_goes_where_the_service_sends_it(registry):
    kept = Kept()
    with running(Service(registry, feedback=kept, jobs=1)) as server:
        body = {"document": {"id": "d", "text": "a"}, "accepted": ["label-1"], "user": "anna"}
        answer = server.post("/v1/models/near/feedback", body)
    assert answer.status == 201
    version = registry.get("near").version
    assert answer.json == {"id": 1, "model": "near", "version": version, "learned": False}
    [(name, given, user)] = kept.taken
    assert (name, given.accepted, given.document.id, user) == ("near", ["label-1"], "d", "anna")
