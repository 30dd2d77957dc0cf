"""Requests that are meant to break something: all are answered with a status of the 400s, and nothing gets out."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from longtail.serving.feedback import FeedbackStore
from longtail.serving.feedback_intake import FeedbackIntake, replayed
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from tests.serving.learning_service import saved_model
from tests.serving.running import Running, running

SECRET = "what only the database says"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("hostile")
    store = FeedbackStore(folder / "feedback.sqlite")
    registry = Registry({"animals": saved_model(folder / "animals")}, prepare=partial(replayed, store))
    service = Service(registry, feedback=FeedbackIntake(registry, store, learn=True))
    with running(service) as server:
        body = {"document": {"text": SECRET}, "accepted": ["owl"]}
        assert server.post("/v1/models/animals/feedback", body).status == 201
        yield server
    store.close()


def still_well(server: Running) -> None:
    answer = server.post("/v1/models/animals/predict", {"documents": [{"text": "the owl"}]})
    assert answer.status == 200
    assert server.get("/health/ready").status == 200


ROUTES = {
    "predict": ("/v1/models/animals/predict", '{"documents": [%s]}'),
    "explain": ("/v1/models/animals/explain", '{"document": %s}'),
    "feedback": ("/v1/models/animals/feedback", '{"document": %s, "accepted": ["owl"]}'),
    "batch": ("/v1/projects/animals/suggest-batch", '{"documents": [%s]}'),
    "learn": ("/v1/projects/animals/learn", "[%s]"),
}
DOCUMENTS = {
    "nul": r'{"text": "a\u0000b", "subjects": [{"uri": "owl"}]}',
    "surrogate": r'{"text": "a\ud800b", "subjects": [{"uri": "owl"}]}',
    "two surrogates in the wrong order": r'{"text": "\udc00\ud800", "subjects": [{"uri": "owl"}]}',
    "number": '{"text": 7}',
    "list": '{"text": ["a"]}',
    "object": '{"text": {"a": "b"}}',
    "null": '{"text": null}',
    "text": '"a text"',
    "nan": '{"text": NaN}',
    "infinity": '{"text": 1e999}',
    "trailing comma": '{"text": "a",}',
    "not closed": '{"text": "a"',
    "comment": '/* */ {"text": "a"}',
    "deep list": f'{{"text": {"[" * 100_000}{"]" * 100_000}}}',
    "deep object": f'{{"text": {chr(123) * 1}{chr(34)}a{chr(34)}: {"[" * 5000}{"]" * 5000}{chr(125)}}}',
    "too long": json.dumps({"text": "x" * 200_001, "subjects": [{"uri": "owl"}]}),
    "raw control character": '{"text": "a\x01b", "subjects": [{"uri": "owl"}]}',
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_bodies(server: Running, route: str, document: str) -> None:
    path, form = ROUTES[route]
    answer = server.post(path, (form % DOCUMENTS[document]).encode("utf-8", "surrogatepass"))
    assert 400 <= answer.status < 500, answer.body
    assert answer.detail
    assert "Traceback" not in answer.detail


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe{\x00}\x00",
        b'{"documents": [{"text": "\xed\xa0\x80"}]}',
        b'{"documents": [{"text": "\xc3("}]}',
        b"\xef\xbb\xbf[]",
        b"[" * 1_000_000,
        b'{"a":' * 500_000,
        b"0" * 100_000,
        b"1e" + b"9" * 10_000,
        b"null",
        b"true",
        b"{}{}",
        b"documents=a",
        b'{"documents": {}, "document": [], "k": -1}',
        b'{"documents": [[]], "document": 1}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_bytes(server: Running, route: str, body: bytes) -> None:
    answer = server.post(ROUTES[route][0], body)
    assert 400 <= answer.status < 500, answer.body
    assert answer.detail


@pytest.mark.parametrize(
    "change",
    [
        {"k": 0},
        {"k": -1},
        {"k": 10**30},
        {"k": 1.5},
        {"k": "5"},
        {"k": True},
        {"k": None},
        {"threshold": "0.5"},
        {"threshold": 10**400},
        {"precision": 2},
        {"precision": -0.1},
        {"max_f1": 1},
        {"threshold": 0.1, "max_f1": True},
        {"revealed": [["no such label"]]},
        {"revealed": [["owl"], ["owl"]]},
        {"revealed": ["owl"]},
        {"documents": [{"text": "a"}] * 1001},
        {"documents": [{"id": "x" * 1001, "text": "a"}]},
        {"documents": [{"id": 5, "text": "a"}]},
        {"explain": "yes"},
        {"unknown": 1},
        {"__proto__": {}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_values_of_predict(server: Running, change: dict[str, object]) -> None:
    answer = server.post("/v1/models/animals/predict", {"documents": [{"text": "a"}], **change})
    assert answer.status in (400, 413, 422), answer.body
    assert answer.detail


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b""),
        (FORM, b"text=%00"),
        (FORM, b"text=%ED%A0%80"),
        (FORM, b"text=\xff"),
        (FORM, b"text=a&limit=0"),
        (FORM, b"text=a&limit=1e9"),
        (FORM, b"text=a&limit=100000000000000000000"),
        (FORM, b"text=a&threshold=nan"),
        (FORM, b"&".join([b"text=a"] * 100)),
        (FORM, b"text=" + b"x" * 200_001),
        ("application/json", b'{"text": "a"}'),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\na\r\n--x--\r\n"),
    ],
)
def test_forms(server: Running, kind: str, body: bytes) -> None:
    answer = server.ask("POST", "/v1/projects/animals/suggest", body, {"Content-Type": kind})
    assert 400 <= answer.status < 500, answer.body
    assert answer.detail


TRICKS = [
    "../feedback.sqlite",
    "../../feedback.sqlite",
    "..%2ffeedback.sqlite",
    "%2e%2e/feedback.sqlite",
    "%2e%2e%2ffeedback.sqlite",
    "..%5cfeedback.sqlite",
    "....//feedback.sqlite",
    "%252e%252e%252ffeedback.sqlite",
    "%c0%ae%c0%ae/feedback.sqlite",
    "feedback.sqlite",
    "feedback.sqlite-wal",
    "animals/config.json",
    "..;/feedback.sqlite",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "..%00/feedback.sqlite",
    "animals%00.json",
    "file:%2f%2f%2fetc%2fpasswd",
]


@pytest.mark.parametrize("trick", TRICKS)
def test_no_path_leads_to_the_database_or_the_model(server: Running, trick: str) -> None:
    absolute = str(server.service.registry.get("animals").path.parent)
    for place in (
        f"/static/{trick}",
        f"/{trick}",
        f"/v1/models/{trick}",
        f"/v1/models/animals/labels/{trick}",
    ):
        answer = raw(server, f"GET {place} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        status = int(answer.split(b" ", 2)[1])
        assert 300 <= status < 500, (place, answer[:200])
        assert SECRET.encode() not in answer
        assert b"SQLite format" not in answer
        assert b"root:" not in answer
        assert absolute.encode() not in answer
    body = {"documents": [{"text": "a"}]}
    assert server.post(f"/v1/models/{quote(trick, safe='')}/predict", body).status in (400, 404, 405)


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/models/animals/predict HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n{}",
        b"POST /v1/models/animals/predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
        b"POST /v1/models/animals/predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        b"POST /v1/models/animals/predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 2\r\n\r\n0\r\n\r\nGET /admin/reload HTTP/1.1\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /v1/models/animals/labels?q=%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/models/animals/labels?limit=-1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/models/animals/labels?q="
        + b"a" * 201
        + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
    ids=lambda request: repr(request[:40]),
)
def test_http_that_is_wrong(server: Running, request_: bytes) -> None:
    answer = raw(server, request_)
    # A connection that is closed without a word is an answer as well.
    assert not answer or 400 <= int(answer.split(b" ", 2)[1]) < 500, answer[:200]
    still_well(server)


def test_a_body_that_is_too_long_is_not_read(server: Running) -> None:
    head = b"POST /v1/models/animals/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    answer = raw(server, head + b"Content-Length: 9000000\r\n\r\n" + b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 413 ")
    # Sent to the end, it may find the connection closed.
    answer = raw(server, head + b"Content-Length: 9000000\r\n\r\n" + b"x" * 9_000_000)
    assert not answer or answer.startswith(b"HTTP/1.1 413 ")
    still_well(server)


def test_many_headers(server: Running) -> None:
    request = (
        b"GET /health/live HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 100_000 + b"Connection: close\r\n\r\n"
    )
    assert int((raw(server, request) or b"HTTP 400").split(b" ", 2)[1]) < 500
    still_well(server)


def test_a_query_is_matched_and_never_run(server: Running) -> None:
    for query in (
        "' OR 1=1 --",
        '"; DROP TABLE longtail_feedback; --',
        "%",
        "_",
        ".*",
        "(" * 100,
        "\\",
        "[a",
    ):
        answer = server.get(f"/v1/models/animals/labels?q={quote(query)}")
        assert answer.status == 200
        body = {"document": {"id": query, "title": query, "text": query}, "accepted": ["owl"], "user": query}
        assert server.post("/v1/models/animals/feedback", body).status == 201
    still_well(server)


def test_there_is_no_admin_route_without_a_token(server: Running) -> None:
    for path in ("/admin/reload", "/admin", "/admin/"):
        assert server.post(path, {}, Authorization="Bearer x").status == 404


def test_another_origin_gets_no_permission(server: Running) -> None:
    answer = server.ask(
        "OPTIONS",
        "/v1/models/animals/predict",
        headers={"Origin": "http://other", "Access-Control-Request-Method": "POST"},
    )
    assert answer.status in (404, 405)
    assert not [name for name in answer.headers if name.startswith("access-control")]


def raw(server: Running, request: bytes) -> bytes:
    """The bytes of an answer to the bytes of a request."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
        received = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                received += part
        return received


def test_the_database_is_untouched(server: Running) -> None:
    intake = server.service.feedback
    assert isinstance(intake, FeedbackIntake)
    assert next(iter(intake.store.entries())).document.text == SECRET
    assert Path(intake.store.name).exists()
