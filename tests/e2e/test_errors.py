"""What goes wrong is shown as one clear sentence, and the page goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import Site

pytestmark = pytest.mark.e2e


def test_a_refused_request_is_one_sentence(page: Page, faults: list[str]):
    page.fill("#text", "reef " * 1200)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("has 6,000 characters, but a document may have 5,000")
    page.fill("#text", "coral reef")
    expect(page.locator(".row-name").first).to_have_text("coral reefs")
    expect(alert).to_have_count(0)
    assert all("413" in fault for fault in faults)
    faults.clear()


def test_a_service_that_is_gone_is_named(page: Page, faults: list[str]):
    page.route(re.compile("/predict$"), lambda route: route.abort())
    page.fill("#text", "coral reef")
    expect(page.get_by_role("alert")).to_contain_text(
        "does not answer; check that “longtail serve” is running"
    )
    page.unroute(re.compile("/predict$"))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".row-name").first).to_have_text("coral reefs")
    faults.clear()


def test_a_busy_service_is_asked_again(page: Page, faults: list[str]):
    refused: list[Route] = []

    def answer(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route)
        body = '{"type": "about:blank", "title": "Too Many Requests", "status": 429, "detail": "the queue is full"}'
        headers = {"Retry-After": "1", "Content-Type": "application/problem+json"}
        route.fulfill(status=429, headers=headers, body=body)

    page.route(re.compile("/predict$"), answer)
    page.fill("#text", "coral reef")
    expect(page.get_by_text("The service is busy; trying again in 1 s.")).to_be_visible()
    expect(page.locator(".row-name").first).to_have_text("coral reefs")
    faults.clear()


def test_a_label_that_is_not_there_is_named(page: Page, site: Site, faults: list[str]):
    page.goto(f"{site.url}#/labels/nowhere")
    expect(page.get_by_role("alert")).to_contain_text("has no label 'nowhere'")
    faults.clear()


def test_a_file_that_is_no_text_is_named(page: Page, site: Site):
    page.goto(f"{site.url}#/batch")
    page.set_input_files(
        "#batch-file", files=[{"name": "x.csv", "mimeType": "text/csv", "buffer": b"a,b\n\xff\xfe\xfa,1\n"}]
    )
    expect(page.get_by_role("alert")).to_contain_text("x.csv is no text in UTF-8")
    page.set_input_files(
        "#batch-file",
        files=[{"name": "y.jsonl", "mimeType": "text/plain", "buffer": b'{"text": "a"}\nnonsense\n'}],
    )
    expect(page.get_by_role("alert")).to_contain_text("Line 2 of y.jsonl is no JSON")


def test_a_service_with_keys_asks_for_one(page: Page, site: Site, faults: list[str]):
    keys: list[str | None] = []

    def answer(route: Route) -> None:
        keys.append(route.request.headers.get("authorization"))
        if keys[-1] == "Bearer right":
            route.continue_()
        else:
            route.fulfill(status=401, headers={"WWW-Authenticate": "Bearer"}, body="{}")

    page.route(re.compile("/v1/"), answer)
    page.reload()
    page.get_by_label("Key", exact=True).fill("right")
    page.get_by_role("button", name="Use this key").click()
    page.fill("#text", "coral reef")
    expect(page.locator(".row-name").first).to_have_text("coral reefs")
    assert keys[0] is None
    faults.clear()
