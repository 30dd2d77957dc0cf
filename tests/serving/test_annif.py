"""The client that is published for Annif works with this service as it is."""

from __future__ import annotations

import io

import pytest
import requests
from annif_client import AnnifClient

import longtail
from longtail.serving.service import Service
from tests.planted import Parts
from tests.serving.running import running
from tests.serving.test_v1 import Kept

SUGGEST = "/v1/projects/linear/suggest"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def annif(served):
    return AnnifClient(f"{served.url}/v1/")


def test_it_finds_the_projects(annif):
    assert annif.api_info["version"] == longtail.__version__
    assert [project["project_id"] for project in annif.projects] == ["linear", "near"]
    project = annif.get_project("linear")
    assert project == annif.projects[0]
    assert project["is_trained"] is True
    assert project["backend"] == {"backend_id": "longtail-linear"}
    assert project["name"]
    assert project["language"]
    with pytest.raises(ValueError, match="there is no model 'other'"):
        annif.get_project("other")
    with pytest.raises(ValueError, match="nothing at /v1/detect-language"):
        annif.detect_language("a text", ["en"])


def test_it_suggests_subjects(annif, served, tiny: Parts):
    text = tiny.test.documents.joined()[4]
    found = annif.suggest("linear", text, limit=3)
    model = served.service.registry.get("linear").system
    assert [subject["uri"] for subject in found] == model.predict([text], k=3).labels[0]
    assert all(0 <= subject["score"] <= 1 and subject["label"] for subject in found)
    assert len(annif.suggest("linear", io.StringIO(text))) == 10
    assert [one["uri"] for one in annif.suggest("linear", text, limit=10, threshold=0.5)] == (
        model.predict([text], k=10, threshold=0.5).labels[0]
    )
    with pytest.raises(ValueError, match="no model"):
        annif.suggest("other", text)


def test_it_suggests_for_batches(annif, served, tiny: Parts):
    texts = tiny.test.documents.joined()[:4]
    documents = [{"text": text, "document_id": f"d{n}"} for n, text in enumerate(texts[:3])]
    documents.append({"text": texts[3]})
    found = annif.suggest_batch("linear", documents, limit=2, threshold=0.01)
    model = served.service.registry.get("linear").system
    expected = model.predict(texts, k=2, threshold=0.01).labels
    assert [[subject["uri"] for subject in one["results"]] for one in found] == expected
    assert [one["document_id"] for one in found] == ["d0", "d1", "d2", None]


def test_what_it_learns_is_feedback(registry):
    kept = Kept()
    with running(Service(registry, feedback=kept, jobs=1)) as server:
        annif = AnnifClient(f"{server.url}/v1/")
        document = {"text": "a text", "subjects": [{"uri": "label-1", "label": "one"}, {"uri": "label-2"}]}
        assert annif.learn("near", [document, document]).status_code == 204
        with pytest.raises(requests.HTTPError, match="422"):
            annif.learn("near", [document, {"text": "b", "subjects": [{"uri": "unknown"}]}])
        with pytest.raises(ValueError, match="no model"):
            annif.learn("other", [document])
    assert [(name, given.accepted) for name, given, _ in kept.taken] == [("near", ["label-1", "label-2"])] * 2
    assert kept.taken[0][1].document.text == "a text"
    assert kept.taken[0][1].rejected == []


def test_without_feedback_it_does_not_learn(annif):
    with pytest.raises(ValueError, match="does not learn"):
        annif.learn("near", [{"text": "a", "subjects": []}])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"limit=3", 422),
        (b"text=a&limit=0", 422),
        (b"text=a&limit=x", 422),
        (b"text=a&limit=1000", 422),
        (b"text=a&threshold=2", 422),
        (b"text=a&threshold=nan", 422),
        (b"text=a%00b", 422),
        (b"text=%ff", 400),
        (b"\xff", 400),
        (b"text=" + b"a" * 5001, 413),
        (b"&".join(b"a=%d" % n for n in range(20)), 400),
    ],
)
def test_forms_that_cannot_be_answered(served, body, status):
    answer = served.post(SUGGEST, body, **FORM)
    assert answer.status == status, answer.body
    assert answer.detail


def test_a_form_must_be_one(served):
    assert served.post(SUGGEST, {"text": "a"}).status == 415
