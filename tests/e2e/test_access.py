"""The page for everybody: axe-core, the keyboard alone, dark mode, a narrow screen, less motion, own files only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import longtail.serving
from tests.e2e.conftest import Site

pytestmark = pytest.mark.e2e

STATIC = Path(longtail.serving.__file__).parent / "static"
TEXT = "Offshore turbine and rotor; survey of the autumn flyway and stork ringing"
VIEWS = {
    "": ".row",
    "batch": ".preview",
    "labels": ".label-grid",
    "labels/wind-power": ".related",
    "model": ".prose",
    "compare": ".compare .row",
}


def prepared(page: Page, site: Site) -> None:
    """Every view has something to show."""
    page.goto(f"{site.url}#/batch")
    page.set_input_files(
        "#batch-file",
        files=[{"name": "t.csv", "mimeType": "text/csv", "buffer": b"id,text\n1,bee and pollen\n"}],
    )
    page.get_by_role("button", name="Tag 1 text").click()
    page.wait_for_selector("text=All 1 tagged")
    page.goto(f"{site.url}#/")
    page.fill("#text", TEXT)
    page.wait_for_selector(".row")


def serious(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}\n"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, site: Site, scheme: str):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    prepared(page, site)
    page.locator(".row-name").first.click()
    page.get_by_role("button", name=re.compile("^Accept")).first.click()
    page.get_by_role("button", name=re.compile("^Reject")).nth(1).click()
    page.wait_for_selector(".why")
    page.fill("input[name=add]", "trade")
    page.wait_for_selector(".choice")
    assert serious(page) == []
    for view, there in VIEWS.items():
        page.goto(f"{site.url}#/{view}")
        page.wait_for_selector(there)
        assert serious(page) == [], view
    page.locator("#help").click()
    page.wait_for_selector("dialog")
    assert serious(page) == []


def test_everything_works_with_the_keyboard_alone(page: Page):
    keyboard = page.keyboard
    keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.evaluate("document.activeElement.blur()")
    keyboard.press("t")
    assert page.evaluate("document.activeElement.id") == "text"
    # The model learns what is saved below, so the text is like no other of these tests.
    keyboard.type("Abbey and monk; notes of the cloister")
    keyboard.press("Control+Enter")
    page.wait_for_selector(".row")
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    keyboard.press("Escape")
    for _ in range(60):
        keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "row-name":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    first = page.locator(".row").first
    keyboard.press("a")
    expect(first).to_have_class(re.compile("accepted"))
    keyboard.press("ArrowDown")
    keyboard.press("r")
    expect(page.locator(".row").nth(1)).to_have_class(re.compile("rejected"))
    keyboard.press("Enter")
    expect(page.locator(".row").nth(1).locator(".why")).to_be_visible()
    keyboard.press("/")
    keyboard.type("crypto")
    page.wait_for_selector(".choice")
    keyboard.press("Enter")
    expect(page.get_by_role("list", name="Added labels")).to_have_text("cryptography")
    keyboard.press("Escape")
    keyboard.press("s")
    expect(page.locator(".toast")).to_contain_text("Feedback saved")
    keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("accept")
    keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for number, title in enumerate(["Tag", "Batch", "Labels", "Model", "Compare"], start=1):
        keyboard.press(str(number))
        expect(page.locator("#tabs a[aria-current=page]")).to_have_text(title)


def test_single_keys_can_be_turned_off(page: Page):
    page.locator("#help").click()
    page.get_by_label("Shortcuts of a single key are on").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("2")
    page.wait_for_timeout(100)
    expect(page.locator("#tabs a[aria-current=page]")).to_have_text("Tag")


def test_dark_mode_follows_the_system_and_the_choice(page: Page):
    shade = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(shade) > 200
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(shade) < 60
    page.get_by_role("button", name="Theme: as the system").click()
    assert page.evaluate(shade) > 200
    page.reload()
    page.wait_for_selector("#text")
    assert page.evaluate(shade) > 200
    page.get_by_role("button", name="Theme: light").click()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(shade) < 60


def test_nothing_is_cut_off_on_a_narrow_screen(page: Page, site: Site):
    page.set_viewport_size({"width": 360, "height": 740})
    prepared(page, site)
    page.locator(".row-name").first.click()
    page.wait_for_selector(".why")
    for view, there in VIEWS.items():
        page.goto(f"{site.url}#/{view}")
        page.wait_for_selector(there)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, view
        tabs = page.locator("#tabs a").evaluate_all(
            "links => links.map(link => link.getBoundingClientRect().right)"
        )
        assert max(tabs) <= 360


def test_less_motion_means_none(page: Page):
    page.emulate_media(reduced_motion="reduce")
    page.fill("#text", TEXT)
    page.wait_for_selector(".row")
    moving = "document.getAnimations().filter(a => a.effect.getComputedTiming().duration > 0).length"
    assert page.evaluate(moving) == 0


def test_nothing_comes_from_elsewhere_and_scripts_are_files(browser: Browser, site: Site):
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answer = page.goto(site.url)
    page.wait_for_selector("#text")
    context.close()
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert len(asked) > 10
    assert all(url.startswith(site.url) for url in asked)


def test_no_script_writes_html():
    written = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function"
    )
    assert [
        path.name for path in STATIC.rglob("*.js") if written.search(path.read_text(encoding="utf-8"))
    ] == []
    markup = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)|https?://", markup) == []
