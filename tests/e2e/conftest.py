"""A real server with two small models, and Debian's Chromium with a page of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import longtail
from tests.e2e.subjects import catalogue
from tests.serving.server_process import serving

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Site:
    """Where the page is, and the database of its feedback."""

    url: str
    feedback: Path


def chromium_path() -> str | None:
    """The program of the browser, or None."""
    named = os.environ.get("LONGTAIL_CHROMIUM")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


def trained(folder: Path) -> dict[str, Path]:
    """The models of the service: an ensemble that can do all that the page shows, and a plain one beside it."""
    parts = catalogue()
    books = longtail.create(
        "ensemble",
        members=("linear", "lexical", "knn", "galaxc"),
        settings={"galaxc": {"stages": {"joint": {"epochs": 2}}}},
    )
    models = {"books": books, "linear": longtail.create("linear")}
    for name, model in models.items():
        model.fit(parts.train, valid=parts.valid).save(folder / name)
    return {name: folder / name for name in models}


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return trained(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="package")
def site(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    feedback = tmp_path_factory.mktemp("feedback") / "feedback.sqlite"
    named = [f"{name}={path}" for name, path in models.items()]
    with serving(*named, "--feedback", feedback, "--learn", "--max-characters", 5000) as server:
        yield Site(f"{server.url}/", feedback)


# Not for the session: while playwright runs, no other test of this process could run an event loop of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[playwright_api.Browser]:
    program = chromium_path()
    if program is None:
        pytest.skip(
            "no Chromium is installed: apt-get install chromium, or set LONGTAIL_CHROMIUM to its path"
        )
    with playwright_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(FLAGS), timeout=60_000)
        yield started
        started.close()


@pytest.fixture
def context(browser: playwright_api.Browser) -> Iterator[playwright_api.BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 860}, accept_downloads=True)
    made.set_default_timeout(20_000)
    yield made
    made.close()


@pytest.fixture
def faults() -> list[str]:
    """What the console of the browser said; a test that makes errors on purpose clears it."""
    return []


@pytest.fixture
def page(
    context: playwright_api.BrowserContext, site: Site, faults: list[str]
) -> Iterator[playwright_api.Page]:
    """A page of the service. No script may fail, and no rule of the content security policy may be broken."""
    opened = context.new_page()
    opened.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.goto(site.url)
    opened.wait_for_selector("#text")
    yield opened
    assert faults == []
