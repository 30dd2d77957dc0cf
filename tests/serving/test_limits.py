"""Limits: what they refuse, and with which status."""

from __future__ import annotations

import pytest

from longtail.errors import UsageError
from longtail.serving.limits import Limits
from longtail.serving.problem import Problem
from longtail.serving.schemas import DocumentIn
from longtail.serving.service import Service
from tests.serving.running import running


def test_limits_must_be_possible():
    with pytest.raises(UsageError, match="'k' must be above 0"):
        Limits(k=0)
    with pytest.raises(UsageError, match="raise the limit 'queue'"):
        Limits(queue=10, documents=11)


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ([DocumentIn(text="a")] * 4, "4 documents, but a request may have 3"),
        (
            [DocumentIn(text="a"), DocumentIn(title="abc", text="def")],
            "document 1 has 6 characters, but a document may have 5",
        ),
    ],
)
def test_too_much_text_is_refused(documents, sentence):
    with pytest.raises(Problem, match=sentence) as caught:
        Limits(documents=3, characters=5).check_documents(documents)
    assert caught.value.status == 413


def test_what_is_within_the_limits_passes():
    limits = Limits(documents=3, characters=5, k=7)
    limits.check_documents([DocumentIn(title="ab", text="cde")] * 3)
    limits.check_k(7)
    with pytest.raises(Problem, match="k is 8") as caught:
        limits.check_k(8)
    assert caught.value.status == 422


def test_low_limits_do_not_fail_what_asks_for_nothing_special(registry):
    with running(Service(registry, Limits(k=3, characters=5), jobs=1)) as server:
        assert len(server.get("/v1/models/linear/labels/label-1").json["nearest"]) == 3
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        found = server.post("/v1/projects/near/suggest", b"text=ba", **form)
        assert (found.status, len(found.json["results"]) <= 3) == (200, True)


def test_limits_hold_over_http(served):
    path = "/v1/models/linear/predict"
    many = served.post(path, {"documents": [{"text": "a"}] * 21})
    long = served.post(path, {"documents": [{"text": "a" * 5001}]})
    wide = served.post(path, {"documents": [{"text": "a"}], "k": 41})
    assert [many.status, long.status, wide.status] == [413, 413, 422]
    assert "20" in many.detail
    assert "5,000" in long.detail
    assert "40" in wide.detail
    explained = served.post(path, {"documents": [{"text": "a"}] * 5, "explain": True})
    assert (explained.status, "4 explained" in explained.detail) == (413, True)
    whys = served.post("/v1/models/linear/explain", {"document": {"text": "a"}, "labels": ["label-1"] * 41})
    assert whys.status == 422
