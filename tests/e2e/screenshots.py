"""The pictures of docs/images: ``python -m tests.e2e.screenshots``. They are nicest with Debian's fonts-inter."""

from __future__ import annotations

import argparse
import csv
import io
import re
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.conftest import FLAGS, chromium_path, trained
from tests.e2e.subjects import catalogue
from tests.serving.server_process import serving

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TEXT = (
    "Rotor noise of an offshore windfarm and the autumn flyway of storks: a survey with ringing stations, "
    "and what a new substation of the transmission grid changes for flocks along the coast."
)
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 360, "height": 780}


def main() -> None:
    """Train, serve, look, save."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    folder: Path = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    program = chromium_path()
    if program is None:
        raise SystemExit("no Chromium is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        models = [f"{name}={path}" for name, path in trained(Path(place)).items()]
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        with serving(*models, "--feedback", Path(place) / "feedback.sqlite") as server:
            wide(browser, server.url, "light", folder)
            wide(browser, server.url, "dark", folder)
            narrow(browser, server.url, folder)
        browser.close()
    for image in sorted(folder.glob("page-*.png")):
        print(f"{image.name}: {image.stat().st_size / 1000:.0f} kB")


def opened(browser: Browser, url: str, scheme: str, size: dict[str, int], scale: float = 1) -> Page:
    context = browser.new_context(
        viewport=size, color_scheme=scheme, device_scale_factor=scale, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    return page


def tag(page: Page) -> None:
    """A text with its labels; one is explained, one accepted, one rejected."""
    page.fill("#text", TEXT)
    page.wait_for_selector(".row")
    page.get_by_role("button", name=re.compile("^Accept")).nth(1).click()
    page.get_by_role("button", name=re.compile("^Reject")).nth(3).click()
    page.locator(".row-name").first.click()
    page.wait_for_selector(".why")
    # No picture has the mouse on something.
    page.mouse.move(0, 0)


def wide(browser: Browser, url: str, scheme: str, folder: Path) -> None:
    page = opened(browser, url, scheme, WIDE)
    tag(page)
    page.screenshot(path=folder / f"page-tag-{scheme}.png", full_page=True)
    if scheme == "dark":
        page.goto(f"{url}/#/compare")
        page.wait_for_selector(".compare .row")
        page.screenshot(path=folder / "page-compare.png")
        page.context.close()
        return
    page.goto(f"{url}/#/labels/wind-power")
    page.wait_for_selector(".related")
    page.screenshot(path=folder / "page-label.png")
    page.goto(f"{url}/#/model")
    page.wait_for_selector(".plot")
    page.set_viewport_size({**WIDE, "height": 1140})
    page.screenshot(path=folder / "page-model.png")
    page.set_viewport_size(WIDE)
    page.goto(f"{url}/#/batch")
    page.set_input_files(
        "#batch-file", files=[{"name": "catalogue.csv", "mimeType": "text/csv", "buffer": table().encode()}]
    )
    page.get_by_role("button", name=re.compile(r"^Tag \d+ texts")).click()
    expect(page.get_by_text(re.compile("^All 180 tagged"))).to_be_visible(timeout=60_000)
    page.screenshot(path=folder / "page-batch.png", full_page=True)
    page.context.close()


def narrow(browser: Browser, url: str, folder: Path) -> None:
    page = opened(browser, url, "light", NARROW, scale=2)
    tag(page)
    page.locator("#labels-title").evaluate("title => title.scrollIntoView()")
    page.screenshot(path=folder / "page-narrow.png")
    page.context.close()


def table() -> str:
    """The test part of the catalogue as CSV."""
    documents = catalogue().test.documents
    file = io.StringIO()
    csv.writer(file).writerows([["id", "title"], *zip(documents.ids, documents.titles, strict=True)])
    return file.getvalue()


if __name__ == "__main__":
    main()
