"""JSON is read strictly and scores are written as short as they are."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from longtail.serving.json_body import JsonRequest, JsonResponse


def read(body: bytes):
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    return asyncio.run(JsonRequest({"type": "http", "method": "POST", "headers": []}, receive).json())


def test_a_body_is_read():
    assert read('{"a": ["é", 1.5, null]}'.encode()) == {"a": ["é", 1.5, None]}


@pytest.mark.parametrize("body", [b"", b"NaN", b'"\\ud800"', b"\xff", b"[" * 100_000, b"{} {}"])
def test_what_is_no_json_is_an_error_of_the_standard_library(body):
    with pytest.raises(json.JSONDecodeError):
        read(body)


def test_scores_are_written_as_they_are():
    body = JsonResponse({"score": np.float32(0.1), "text": "é"}).body
    assert body == '{"score":0.1,"text":"é"}'.encode()
    assert np.float32(json.loads(body)["score"]) == np.float32(0.1)


def test_a_content_type_may_have_parameters(served):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert served.post("/v1/models/linear/predict", b'{"documents": []}', **headers).status == 200
