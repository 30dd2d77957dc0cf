"""The Tag view: predict, explain, reveal, accept, reject, add, choose how many, several texts, hostile names."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from longtail.serving.feedback import FeedbackStore
from tests.e2e.conftest import Site
from tests.e2e.subjects import HOSTILE

pytestmark = pytest.mark.e2e

STORKS = "Offshore turbine and rotor; survey of the autumn flyway and stork ringing"


def tag(page: Page, text: str) -> None:
    """Type a text and wait for its labels."""
    with page.expect_response(re.compile("/predict$")):
        page.fill("#text", text)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def names(page: Page) -> list[str]:
    return page.locator(".row-name").all_inner_texts()


def test_predict_shows_ranked_labels_as_bars(page: Page):
    tag(page, STORKS)
    assert set(names(page)[:2]) == {"wind power", "bird migration"}
    scores = [
        float(text.rpartition("\n")[2].strip(" %")) for text in page.locator(".row-score").all_inner_texts()
    ]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    page.wait_for_timeout(500)  # bars move to their length
    widths = page.locator(".bar-fill").evaluate_all(
        "bars => bars.map(bar => 100 * bar.offsetWidth / bar.parentElement.offsetWidth)"
    )
    assert abs(widths[0] - scores[0]) < 2
    expect(page.locator("#status")).to_have_text("5 labels found")


def test_why_shows_words_and_members(page: Page):
    tag(page, STORKS)
    row = page.locator(".row", has_text="bird migration")
    row.locator(".row-name").click()
    expect(row.locator("mark.raised", has_text="flyway")).to_be_visible()
    strongest = row.locator(".word-bars .word").first.inner_text()
    assert strongest in {"autumn", "flyway", "stork", "ringing"}
    expect(row.locator(".why")).to_contain_text("linear")
    expect(row.locator(".why")).to_contain_text("Nearest training documents")
    assert row.locator(".row-name").get_attribute("aria-expanded") == "true"
    row.locator(".row-name").click()
    expect(row.locator(".why")).to_be_hidden()


def test_marked_words_are_whole_behind_characters_of_two_code_units(page: Page):
    tag(page, "🦆🦆🦆 flyway of the stork")
    page.locator(".row-name", has_text="bird migration").click()
    page.wait_for_selector("mark.raised:not(.sample)")
    marked = page.locator(".highlighted mark").all_inner_texts()
    assert "flyway" in marked
    assert "stork" in marked


def test_known_labels_leave_the_ranking_and_change_the_rest(page: Page):
    tag(page, STORKS)
    before = page.locator(".row-score").all_inner_texts()
    with page.expect_request(re.compile("/predict$")) as asked:
        page.locator(".row", has_text="bird migration").get_by_role(
            "button", name=re.compile("^Known")
        ).click()
    assert asked.value.post_data_json["revealed"] == [[], ["bird-migration"]]
    expect(page.get_by_role("list", name="Known labels")).to_contain_text("bird migration")
    expect(page.locator(".ranking")).not_to_contain_text("bird migration")
    expect(page.locator(".moved").first).to_be_visible()
    assert page.locator(".row-score").all_inner_texts() != before
    page.get_by_role("button", name="Remove bird migration").click()
    expect(page.locator(".ranking")).to_contain_text("bird migration")
    expect(page.locator(".moved")).to_have_count(0)


def test_feedback_is_stored_with_accepted_rejected_and_added_labels(page: Page, site: Site):
    text = "Harpoon and blubber: a report of turbine and ship"
    tag(page, text)
    page.get_by_role("button", name="Accept whaling").click()
    page.get_by_role("button", name="Reject wind power").click()
    page.fill("input[name=add]", "crypto")
    page.get_by_role("option", name=re.compile("cryptography")).click()
    page.fill("#user", "Ada")
    page.get_by_role("button", name="Save feedback").click()
    expect(page.locator(".toast")).to_have_text("Feedback saved; the model uses it already.")
    expect(page.locator(".feedback")).to_contain_text("saved")
    store = FeedbackStore(str(site.feedback))
    try:
        [entry] = [entry for entry in store.entries() if entry.user == "Ada"]
    finally:
        store.close()
    assert entry.document.text == text
    assert (entry.accepted, entry.rejected, entry.added) == (("whaling",), ("wind-power",), ("cryptography",))


def test_type_ahead_finds_inner_words_and_is_a_combobox(page: Page):
    tag(page, STORKS)
    field = page.get_by_role("combobox", name="Add a label")
    field.press_sequentially("trade")
    expect(page.locator(".choice")).to_have_count(2)
    assert field.get_attribute("aria-expanded") == "true"
    field.press("ArrowDown")
    chosen = page.locator(f"#{field.get_attribute('aria-activedescendant')} .choice-name").inner_text()
    field.press("Enter")
    expect(page.get_by_role("list", name="Added labels")).to_have_text(chosen)
    field.press_sequentially("nothing like it")
    expect(page.locator(".choices-hint:visible")).to_have_text("No label matches “nothing like it”.")


@pytest.mark.parametrize(
    ("way", "field", "value"),
    [("Threshold", "threshold", 0.5), ("Precision", "precision", 0.9), ("Max F1", "max_f1", True)],
)
def test_the_number_of_labels_can_be_chosen(page: Page, way: str, field: str, value: object):
    tag(page, STORKS)
    with page.expect_request(re.compile("/predict$")) as asked:
        page.get_by_text(way, exact=True).click()
    assert asked.value.post_data_json[field] == value
    assert asked.value.post_data_json["k"] == 5
    expect(page.locator(".row")).not_to_have_count(5)
    assert set(names(page)) <= {"wind power", "bird migration"}
    assert names(page)


def test_k_is_the_upper_limit(page: Page):
    tag(page, STORKS)
    page.get_by_label("k, at most").fill("3")
    expect(page.locator(".row")).to_have_count(3)


def test_lines_and_files_become_texts(page: Page):
    page.fill("#text", "pepper and nutmeg\ncipher and key")
    page.get_by_role("button", name="2 lines as texts").click()
    expect(page.locator(".row-name").first).to_have_text("spice trade")
    page.get_by_role("button", name="cipher and key", exact=True).click()
    expect(page.locator(".row-name").first).to_have_text("cryptography")
    files = [
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"bee and blossom"},
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"coral and lagoon"},
    ]
    page.set_input_files("#text-files", files=files)
    expect(page.locator(".row-name").first).to_have_text("pollination")
    expect(page.locator(".text-tab")).to_have_count(4)


def test_a_label_name_is_never_markup(page: Page, site: Site):
    tag(page, "Markup and bracket: a study of browser and attribute")
    assert HOSTILE in names(page)
    page.locator(".row", has_text="onerror").locator(".row-name").click()
    page.wait_for_selector(".why")
    page.locator(".row", has_text="onerror").get_by_role("button", name=re.compile("^Known")).click()
    expect(page.get_by_role("list", name="Known labels")).to_have_text(HOSTILE)
    page.fill("input[name=add]", "img src")
    page.wait_for_selector(".choice")
    page.get_by_role("list", name="Known labels").get_by_role("link").click()
    expect(page.locator("h1")).to_have_text(HOSTILE)
    page.goto(f"{site.url}#/compare")
    expect(page.locator(".compare")).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "hacked"
