"""The page beside services that really fail or refuse: keys, a full one, one that dies and comes back, a reload."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from longtail.serving.api_keys import add_key
from tests.serving.running import ask
from tests.serving.server_process import ServerProcess, serving

pytestmark = pytest.mark.e2e

TOKEN = "a token of this test"


@contextmanager
def page_of(browser: Browser, server: ServerProcess) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    yield page
    context.close()


def tagged(page: Page, text: str = "coral reef") -> None:
    page.fill("#text", text)
    expect(page.locator(".row-name").first).to_have_text("coral reefs")


def test_keys(browser: Browser, models: dict[str, Path], tmp_path: Path):
    key = add_key(tmp_path / "keys", "anna")
    place = tmp_path / "feedback.sqlite"
    with (
        serving(models["linear"], "--api-keys", tmp_path / "keys", "--feedback", place) as server,
        page_of(browser, server) as page,
    ):
        page.get_by_label("Key", exact=True).fill("lt_a-wrong-key")
        page.get_by_role("button", name="Use this key").click()
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
        page.get_by_label("Key", exact=True).fill(key)
        page.get_by_role("button", name="Use this key").click()
        tagged(page)
        assert ask(server.url, "GET", "/v1/models").status == 401


def test_a_full_service_is_asked_again_until_it_has_room(browser: Browser, models: dict[str, Path]):
    with (
        serving(models["linear"], "--max-requests", 1, "--no-feedback") as server,
        page_of(browser, server) as page,
    ):
        tagged(page)
        place = urlsplit(server.url)
        with socket.create_connection((place.hostname, place.port)) as other:
            # A request that does not end takes the only place.
            other.sendall(b"POST /v1/models/linear/predict HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            while ask(server.url, "GET", "/v1/models").status != 429:
                pass
            page.fill("#text", "another coral reef")
            expect(page.get_by_text("The service is busy; trying again in 1 s.")).to_be_visible()
        expect(page.get_by_text("The service is busy")).to_have_count(0, timeout=20_000)
        tagged(page)


def test_a_killed_service_is_named_and_used_again_when_it_is_back(browser: Browser, models: dict[str, Path]):
    with serving(models["linear"], "--no-feedback") as server, page_of(browser, server) as page:
        tagged(page)
        port = urlsplit(server.url).port
        server.kill()
        page.fill("#text", "the coral reef")
        expect(page.get_by_role("alert")).to_contain_text("check that “longtail serve” is running")
        with serving(models["linear"], "--no-feedback", "--port", port):
            page.get_by_role("button", name="Try again").click()
            expect(page.get_by_role("alert")).to_have_count(0)
            tagged(page)


def test_a_page_goes_on_with_a_reloaded_model(
    browser: Browser, models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = Path(shutil.copytree(models["linear"], tmp_path / "model"))
    monkeypatch.setenv("LONGTAIL_ADMIN_TOKEN", TOKEN)
    with (
        serving(f"m={folder}", "--no-feedback", "--workers", 2) as server,
        page_of(browser, server) as page,
    ):
        tagged(page)
        before = ask(server.url, "GET", "/v1/models/m").json["version"]
        shutil.rmtree(folder)
        shutil.copytree(models["books"], folder)
        answer = ask(server.url, "POST", "/admin/reload", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.json["models"]["m"] != before
        tagged(page, "a coral reef again")


def test_a_service_without_feedback_offers_none(browser: Browser, models: dict[str, Path]):
    with serving(f"linear={models['linear']}", "--no-feedback") as server, page_of(browser, server) as page:
        tagged(page)
        expect(page.get_by_text("This service takes no feedback.")).to_be_visible()
        expect(page.locator(".row-action:visible")).to_have_count(0)
        expect(page.get_by_role("combobox", name="Add a label")).to_have_count(0)
        page.locator(".row-name").first.press("a")
        expect(page.locator(".row.accepted")).to_have_count(0)
        page.goto(f"{server.url}/#/model")
        expect(page.get_by_text("learns from feedback at once: no")).to_be_visible()
