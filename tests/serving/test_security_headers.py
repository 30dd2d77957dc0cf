"""Headers of every answer, errors included."""

import pytest

from longtail.serving.security_headers import HEADERS, POLICY


@pytest.mark.parametrize(
    ("path", "cache"),
    [
        ("/", "no-cache"),
        ("/static/docs.css", "no-cache"),
        ("/docs", "no-store"),
        ("/v1/models", "no-store"),
        ("/nothing", "no-store"),
        ("/health/live", "no-store"),
    ],
)
def test_every_answer_has_them(served, path, cache):
    answer = served.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name.lower()] == value
    assert answer.headers["cache-control"] == cache
    assert "server" not in answer.headers


def test_the_policy_allows_nothing_inline_and_no_other_host():
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "script-src 'self'" in POLICY


def test_other_origins_may_not_read(served):
    asked = {"Origin": "http://other.example", "Access-Control-Request-Method": "POST"}
    for answer in (
        served.ask("OPTIONS", "/v1/models/linear/predict", headers=asked),
        served.get("/v1/models", Origin="http://other.example"),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]
