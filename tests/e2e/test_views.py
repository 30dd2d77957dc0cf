"""The Labels, Model and Compare views."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site

pytestmark = pytest.mark.e2e


def test_a_label_is_found_and_its_page_leads_to_others(page: Page, site: Site):
    page.goto(f"{site.url}#/labels")
    expect(page.get_by_role("link", name=re.compile("^wind power"))).to_be_visible()
    page.get_by_role("combobox", name="Find a label").press_sequentially("retr")
    page.get_by_role("option", name=re.compile("information retrieval")).click()
    expect(page.locator("h1")).to_have_text("information retrieval")
    expect(page.locator(".facts")).to_contain_text("Training documents")
    neighbours = page.locator("section", has=page.get_by_role("heading", name="Neighbours"))
    expect(neighbours).to_contain_text("machine learning")
    expect(
        page.locator("section", has=page.get_by_role("heading", name="Example documents"))
    ).to_contain_text("book-")
    neighbours.get_by_role("link", name="machine learning").click()
    expect(page.locator("h1")).to_have_text("machine learning")
    assert page.title() == "machine learning · longtail"
    page.go_back()
    expect(page.locator("h1")).to_have_text("information retrieval")


def test_a_label_page_gives_a_known_label(page: Page, site: Site):
    page.fill("#text", "turbine and stork")
    page.goto(f"{site.url}#/labels/wind-power")
    page.get_by_role("button", name="Known label of my text").click()
    expect(page.get_by_role("list", name="Known labels")).to_have_text("wind power")
    expect(page.locator(".row-name").first).to_have_text("bird migration")


def test_the_model_view_has_metrics_plots_and_the_card(page: Page, site: Site):
    page.goto(f"{site.url}#/model")
    expect(page.locator(".tile", has_text="Labels")).to_contain_text("25")
    expect(page.locator(".tile", has_text="System")).to_contain_text("of linear, lexical, knn, galaxc")
    expect(page.locator(".tile", has_text=re.compile("^P@1"))).to_contain_text(re.compile(r"\d+\.\d"))
    expect(page.get_by_role("heading", name="Model card")).to_be_visible()
    expect(page.locator(".prose table").first).to_contain_text("P@1")
    # Plots of the card are files beside it; the page has its own.
    expect(page.locator(".prose")).not_to_contain_text("plots/")
    plot = page.get_by_role("img", name=re.compile("^Recall at 5"))
    expect(plot).to_be_visible()
    assert plot.locator("rect").count() >= 2
    page.locator(".plot", has=plot).get_by_text("As a table").click()
    bars = page.locator(".plot", has=plot).locator("tbody tr")
    assert bars.count() >= 2


def test_two_models_are_compared_on_one_text(page: Page, site: Site):
    page.fill("#text", "Offshore turbine and rotor; survey of the autumn flyway")
    page.goto(f"{site.url}#/compare")
    columns = page.locator(".compare > section")
    expect(columns).to_have_count(2)
    expect(columns.nth(0).locator("h2")).to_have_text("books")
    expect(columns.nth(1).locator("h2")).to_have_text("linear")
    expect(columns.nth(1)).to_contain_text("wind power")
    common = page.locator(".page-head .note")
    expect(common).to_have_text(re.compile(r"^\d of 5 labels in common$"))
    page.get_by_label("First model").select_option("linear")
    expect(columns.nth(0).locator("h2")).to_have_text("linear")
    expect(common).to_have_text("5 of 5 labels in common")
    plot = page.get_by_role("img", name=re.compile("^Recall"))
    expect(plot).to_be_visible()


def test_another_model_can_be_chosen_and_is_remembered(page: Page):
    page.fill("#text", "turbine and stork")
    page.get_by_label("Model", exact=True).select_option("linear")
    expect(page.get_by_text("Known labels: this model does not use them.")).to_be_visible()
    expect(page.locator(".row")).to_have_count(5)
    expect(page.locator(".row-action.accept:visible")).to_have_count(5)
    expect(page.locator(".row-action.known:visible")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Model", exact=True)).to_have_value("linear")
