"""Every error is a problem, whatever was sent; an unexpected one says nothing of the documents."""

from __future__ import annotations

import logging

import pytest

from longtail.errors import ModelError, UnreachablePrecisionError
from longtail.serving.problems import in_words
from longtail.serving.service import Service
from tests.serving.running import running

PREDICT = "/v1/models/linear/predict"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/models/../../etc/passwd", 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("GET", "/static/..%2fapp.py", 404),
        ("GET", "/static/%00", 404),
        ("GET", "/v1/models/%00", 404),
        ("GET", "/v1/models/linear/labels/%00", 404),
        ("GET", "/v1/models/linear/labels/%ff%fe", 404),
        ("GET", "/v1/models/linear/labels?q=%00", 422),
        ("GET", "/v1/models/linear/labels?limit=x", 422),
        ("GET", "/v1/models/linear/labels?limit=1000000", 422),
        ("GET", f"/v1/models/linear/labels?q={'a' * 201}", 422),
        ("DELETE", "/v1/models", 405),
        ("PUT", PREDICT, 405),
        ("GET", PREDICT, 405),
        ("POST", "/", 405),
        ("POST", "/static/docs.css", 405),
        ("TRACE", "/v1/models", 405),
        ("GET", "/admin", 404),
    ],
)
def test_paths_and_methods_that_are_not_there(served, method, path, status):
    answer = served.ask(method, path)
    assert answer.status == status
    assert answer.detail


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"documents": [{"text": "\\ud800"}]}', 400),
        (b'{"documents": [{"text": "\xed\xa0\x80"}]}', 400),
        (b'{"\\ud800": 1}', 400),
        (b'{"documents": [{"text": "a\\u0000b"}]}', 422),
        (b'{"documents": [{"id": "\\u0000", "text": "a"}]}', 422),
        (b'{"documents": [], "threshold": NaN}', 400),
        (b'{"documents": [], "threshold": 1e999}', 400),
        (b"[" * 90_000, 400),
        (b'{"documents": ' + b"[" * 500 + b"]" * 500 + b"}", 422),
        (b"[]", 422),
        (b"null", 422),
        (b"7", 422),
        (b'"text"', 422),
        (b"{}", 422),
        (b'{"documents": "text"}', 422),
        (b'{"documents": ["text"]}', 422),
        (b'{"documents": [null]}', 422),
        (b'{"documents": [{"text": 7}]}', 422),
        (b'{"documents": [{"text": null}]}', 422),
        (b'{"documents": [{"body": "a"}]}', 422),
        (b'{"documents": [], "more": 1}', 422),
        (b'{"documents": [], "k": 0}', 422),
        (b'{"documents": [], "k": -1}', 422),
        (b'{"documents": [], "k": 1.5}', 422),
        (b'{"documents": [], "k": "5"}', 422),
        (b'{"documents": [], "k": true}', 422),
        (b'{"documents": [], "k": 99999999999999999999999}', 422),
        (b'{"documents": [{"text": "a"}], "precision": 2}', 422),
        (b'{"documents": [{"text": "a"}], "precision": 0}', 422),
        (b'{"documents": [{"text": "a"}], "max_f1": 1}', 422),
        (b'{"documents": [{"text": "a"}], "max_f1": true, "threshold": 0.5}', 422),
        (b'{"documents": [{"text": "a"}], "precision_by": "other", "precision": 0.5}', 422),
        (b'{"documents": [{"text": "a"}], "revealed": []}', 422),
        (b'{"documents": [{"text": "a"}], "revealed": ["label-1"]}', 422),
        (b'{"documents": [{"text": "a"}], "revealed": [["\\u0000"]]}', 422),
    ],
)
def test_bodies_that_cannot_be_answered(served, body, status):
    answer = served.post(PREDICT, body)
    assert answer.status == status, answer.body
    assert answer.detail


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_other_media_types_are_refused(served, kind):
    answer = served.post(PREDICT, b'{"documents": []}', **{"Content-Type": kind})
    assert (answer.status, answer.detail) == (415, "the body must be of the type application/json")


def test_a_precision_that_cannot_be_had_is_said(served):
    model = served.service.registry.get("linear").system
    with pytest.raises(UnreachablePrecisionError) as caught:
        model.predict(["a"], precision=0.9999)
    answer = served.post(PREDICT, {"documents": [{"text": "a"}], "precision": 0.9999})
    assert (answer.status, answer.detail) == (422, str(caught.value))
    unable = served.post("/v1/models/near/predict", {"documents": [{"text": "a"}], "precision": 0.5})
    assert unable.status == 422
    assert unable.detail


def test_faults_are_named_without_what_was_sent():
    faults = [{"loc": ("body", "documents", n, "text"), "msg": "wrong", "input": "secret"} for n in range(7)]
    words = in_words(faults)
    assert words.startswith("body.documents.0.text: wrong; ")
    assert words.endswith("and 2 more")
    assert "secret" not in words


def test_an_unexpected_error_is_answered_and_logged_without_texts(registry, monkeypatch, caplog):
    def broken(system, documents, **options):
        raise RuntimeError(documents.texts[0])

    service = Service(registry, jobs=1)
    caplog.set_level(logging.INFO)
    with running(service) as server:
        monkeypatch.setattr(type(registry.get("linear").system), "predict", broken)
        answer = server.post(PREDICT, {"documents": [{"text": "a secret text"}]})
        monkeypatch.undo()
        assert server.post(PREDICT, {"documents": [{"text": "a"}]}).status == 200
    assert answer.status == 500
    assert "secret" not in answer.detail
    assert "RuntimeError" in caplog.text
    assert "secret text" not in caplog.text


def test_errors_of_the_library_have_their_status(registry, monkeypatch):
    def broken(*arguments, **options):
        raise ModelError("the model is gone")

    with running(Service(registry, jobs=1)) as server:
        monkeypatch.setattr(type(registry.get("linear").system), "predict", broken)
        answer = server.post(PREDICT, {"documents": [{"text": "a"}]})
        monkeypatch.undo()
    assert (answer.status, answer.detail) == (500, "the model is gone")
