"""Requests made from the OpenAPI description, right and wrong ones: no answer has a status of 500 or above.

The slow test sends 10,000 of them. Answers must also be as described: status, media type, schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks

from longtail.serving.app import create_app
from longtail.serving.feedback import FeedbackStore
from longtail.serving.service import Service
from tests.serving.learning_service import WORDS, saved_model, started

TOKEN = "a token of the tests"
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
KNOWN = {"name": "animals", "label": "owl"}
"""Path parameters that lead somewhere."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    store = FeedbackStore(folder / "feedback.sqlite")
    service, _ = started(saved_model(folder / "animals"), store)
    yield service
    service.close()
    store.close()


def send_cases(service: Service, examples: int) -> Counter[str]:
    """Have every operation answer so many valid and so many invalid requests; the statuses by operation."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(service, admin_token=TOKEN))
    seen: Counter[str] = Counter()
    for operation in (found.ok() for found in schema.get_all_operations()):
        known = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in operation.path}
        modes = list(GenerationMode) if operation.body or operation.query else [GenerationMode.POSITIVE]
        for mode in modes:
            _send(operation, mode, known or None, examples, seen)
        if known:
            # Any name, which leads nowhere.
            _send(operation, GenerationMode.POSITIVE, None, examples // 4, seen)
    return seen


def _send(operation: Any, mode: GenerationMode, parameters: Any, examples: int, seen: Counter[str]) -> None:
    strategy = operation.as_strategy(generation_mode=mode, path_parameters=parameters)

    @seed(0)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=strategy, labels=st.lists(st.sampled_from(WORDS), max_size=3), known=st.booleans())
    def send(case: Any, labels: list[str], known: bool) -> None:
        if known and mode is GenerationMode.POSITIVE:
            _use_labels(case.body, labels)
        # A busy machine may need longer than the ten seconds that are usual.
        response = case.call(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=120)
        seen[f"{operation.label} {response.status_code}"] += 1
        case.validate_response(response, checks=CHECKS)

    send()


def _use_labels(body: Any, labels: list[str]) -> None:
    """Labels that the model has, in place of random ones."""
    if isinstance(body, dict):
        for key in ("accepted", "added", "labels"):
            if key in body:
                body[key] = labels
        if "revealed" in body and isinstance(body.get("documents"), list):
            body["revealed"] = [labels for _ in body["documents"]]
    elif isinstance(body, list):
        for document in body:
            if isinstance(document, dict) and "subjects" in document:
                document["subjects"] = [{"uri": label} for label in labels]


def test_no_request_makes_the_service_fail(service: Service) -> None:
    seen = send_cases(service, 10)
    assert any(case.endswith(" 200") for case in seen)
    assert sum(seen.values()) > 150


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_requests(service: Service) -> None:
    seen = send_cases(service, 520)
    for case, count in sorted(seen.items()):
        print(f"{count:6d}  {case}")
    print(f"{sum(seen.values()):6d}  requests")
    assert sum(seen.values()) >= 10_000
    for operation in ("predict", "feedback", "suggest", "suggest-batch", "learn", "labels"):
        assert any(operation in case and case[-3] == "2" for case in seen), operation
