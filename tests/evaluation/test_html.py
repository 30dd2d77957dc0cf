from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from longtail.evaluation import Insight, Report
from longtail.evaluation.comparison import Comparison
from longtail.evaluation.html import render_html
from tests.evaluation.cases import zipf_report

VOID = {"meta", "link", "br", "img"}
CLOSED = {"rect", "line", "circle", "polygon", "polyline"}


class Checker(HTMLParser):
    """Fails on a tag that is not closed in order; keeps the text and the attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs
        assert tag in CLOSED

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_page_is_well_formed_and_holds_the_numbers():
    report = zipf_report()
    text = " ".join(checked(render_html(report)).words)
    for metric in report.metrics.values():
        assert f"{metric['value']:.2f}" in text
        assert f"{metric['low']:.1f}–{metric['high']:.1f}" in text
    for row in (*report.bins, *report.equal_bins):
        assert row["name"] in text
        for key in ("R", "P", "PSP"):
            assert f"{row[key]:.2f}" in text
    assert f"{report.calibration['ece']:.2f}" in text
    assert "tree / leaf size" in text
    assert report.meta["data_fingerprint"] in text


def test_page_fetches_and_runs_nothing():
    page = render_html(zipf_report())
    names = {name for name, _ in checked(page).attributes}
    assert not names & {"src", "href", "onclick", "onload"}
    for forbidden in ("<script", "http:", "https:", "@import", "url("):
        assert forbidden not in page


def test_everything_is_escaped():
    evil = '"><script>alert(1)</script>'
    report = zipf_report()
    bins = [{**row, "name": evil} for row in report.bins]
    report = replace(report, bins=bins, meta={evil: {evil: evil}})
    page = render_html(report, title=evil)
    assert "<script" not in page
    checker = checked(page)
    assert evil in unescape(" ".join(checker.words))


def test_every_plot_has_a_name_and_a_table():
    page = render_html(zipf_report())
    assert page.count("<svg") == page.count('role="img" aria-label=') == 11
    assert page.count("<summary>As a table</summary>") == 5


def test_another_model_and_insights_have_their_place():
    evil = '"><script>alert(1)</script>'
    insight = Insight(f"Hops {evil}", "What labels look at.", ["rare", evil], {"hop 0": [0.75, 0.123]})
    report = replace(zipf_report(), insights=[insight, insight])
    page = render_html(report, against=Comparison(f"older {evil}", {"P@1": [11.11, 2, 3, 4, 5]}))
    assert "<script" not in page
    text = unescape(" ".join(checked(page).words))
    assert "Precision by label frequency" in text
    assert f"Against: older {evil}" in text
    for value in ("11.11", "0.750", "0.123", "What labels look at."):
        assert value in text
    assert page.count("<svg") == page.count('role="img" aria-label=') == 8 + 1 + 2
    assert page.count("<summary>As a table</summary>") == 7
    classes = {f"series-{i}" for i in range(6)}
    assert all(f".{name} {{" in page for name in classes), "every colour of a series is in the styles"


@pytest.mark.parametrize(
    "change", [{"calibration": None}, {"frequency_curve": []}, {"other": {}}, {"precision_parts": {}}]
)
def test_missing_parts_are_left_out(change):
    checked(render_html(replace(zipf_report(), **change)))


def test_an_empty_report_still_renders():
    report = zipf_report()
    zero = dict.fromkeys(report.counts, 0)
    empty = Report({}, {}, [], [], 5, None, [], zero, {})
    checked(render_html(empty))
