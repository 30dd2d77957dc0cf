"""Predictions past the framework are those of its routes: the same answers, errors and series of metrics."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message, Scope

from longtail.serving.app import create_app
from longtail.serving.direct import ROUTES, Direct
from longtail.serving.service import Service

JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"
PREDICT, SUGGEST = "/v1/models/linear/predict", "/v1/projects/linear/suggest"


async def asked(app: Any, path: str, body: bytes, kind: bytes | None, method: str = "POST") -> Any:
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [] if kind is None else [(b"content-type", kind)],
        "root_path": "",
        "scheme": "http",
        "server": ("test", 80),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    head = sent[0]
    content = b"".join(message.get("body", b"") for message in sent[1:])
    headers = dict(head["headers"])
    assert int(headers[b"content-length"]) == len(content)
    return head["status"], headers[b"content-type"], json.loads(content)


BODY = {"documents": [{"id": "x", "title": "t", "text": "word1 word2"}, {"text": "word3"}], "k": 3}


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        (PREDICT, json.dumps(BODY).encode(), JSON),
        (PREDICT, json.dumps(BODY).encode(), b"Application/JSON; charset=utf-8"),
        (PREDICT, json.dumps({**BODY, "explain": True, "revealed": [["label-1"], []]}).encode(), JSON),
        (PREDICT, b'{"documents": []}', JSON),
        (PREDICT, b"", JSON),
        (PREDICT, b"{", JSON),
        (PREDICT, b"[1]", JSON),
        (PREDICT, b"null", JSON),
        (PREDICT, b"NaN", JSON),
        (PREDICT, b"\xff", JSON),
        (PREDICT, b'{"documents": [{"text": 7}], "k": "5", "more": 1}', JSON),
        (PREDICT, b'{"documents": [{"text": "a\\u0000b"}]}', JSON),
        (PREDICT, b'{"documents": [{"text": "a"}], "k": 100000}', JSON),
        (PREDICT, b'{"documents": [{"text": "a"}], "threshold": 0.5, "precision": 0.9}', JSON),
        (PREDICT, b"{}", b"text/plain"),
        (PREDICT, b"{}", None),
        ("/v1/models/nobody/predict", json.dumps(BODY).encode(), JSON),
        (SUGGEST, b"text=word1+word2&limit=2", FORM),
        (SUGGEST, b"limit=2", FORM),
        (SUGGEST, b"text=%ff", FORM),
        (SUGGEST, b"text=a", JSON),
        ("/v1/projects/nobody/suggest", b"text=a", FORM),
    ],
)
def test_answers_are_those_of_the_framework(service: Service, path: str, body: bytes, kind: bytes | None):
    async def both() -> None:
        framework = create_app(service)
        while not hasattr(framework, "router"):
            framework = framework.app
        direct = Direct(no_framework, service)
        assert await asked(direct, path, body, kind) == await asked(framework, path, body, kind)

    asyncio.run(both())


async def no_framework(scope: Scope, receive: Any, send: Any) -> None:
    raise AssertionError(scope["path"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", PREDICT),
        ("POST", "/v1/models/linear/explain"),
        ("POST", "/v1/models//predict"),
        ("POST", "/v2/models/linear/predict"),
        ("POST", PREDICT + "/"),
        ("POST", "/v1/models/a/b/predict"),
        ("POST", "/v1/models/linear/suggest"),
    ],
)
def test_other_requests_are_passed_on(service: Service, method: str, path: str):
    passed: list[str] = []

    async def framework(scope: Scope, receive: Any, send: Any) -> None:
        passed.append(scope["path"])
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-length", b"2"), (b"content-type", JSON)],
            }
        )
        await send({"type": "http.response.body", "body": b"{}"})

    asyncio.run(asked(Direct(framework, service), path, b"{}", JSON, method))
    assert passed == [path]


def test_routes_are_described(served):
    paths = served.get("/openapi.json").json["paths"]
    assert all("post" in paths[route.path] for route in ROUTES.values())
