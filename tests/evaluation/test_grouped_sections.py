import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from longtail.evaluation import Insight
from longtail.evaluation.comparison import Comparison
from longtail.evaluation.grouped_sections import insight_section, precision_section
from tests.evaluation.cases import zipf_report

EVIL = '"><script>alert(1)</script>&'


@pytest.fixture(scope="module")
def report():
    return zipf_report()


def cells(section: ET.Element) -> list[list[str | None]]:
    return [[cell.text for cell in row] for row in section.iter("tr")]


def test_precision_by_bin_has_a_plot_a_rank_and_adds_up(report):
    section = ET.fromstring(precision_section(report))
    headings = [heading.text for heading in section.iter("h3")]
    assert headings == [f"P@{k}: {report.metrics[f'P@{k}']['value']:.2f}" for k in (1, 3, 5)]
    assert len(list(section.iter("svg"))) == 3
    head, *rows = cells(section)
    assert head == ["Training documents", "P@1", "P@3", "P@5"]
    assert [row[0] for row in rows] == [row["name"] for row in report.equal_bins]
    for column, metric in enumerate(head[1:], start=1):
        drawn = [f"{value:.2f}" for value in report.precision_parts[metric]]
        assert [row[column] for row in rows] == drawn
        chart = list(section.iter("svg"))[column - 1]
        assert [text.text for text in chart.iter("text") if text.get("class") == "value"] == drawn
    assert section.find("ul") is None, "one model needs no legend"


def test_another_model_stands_beside_with_the_gain(report):
    other = Comparison("older", {"P@3": [1.0, 2, 3, 4, 5]})
    section = ET.fromstring(precision_section(report, other))
    whole = report.metrics["P@3"]["value"]
    assert [h.text for h in section.iter("h3")] == [f"P@3: {whole:.2f} against 15.00 ({whole - 15:+.2f})"]
    assert ["".join(item.itertext()) for item in section.iter("li")] == [
        "This model: <b>linear</b> & co",
        "Against: older",
    ]
    head, *rows = cells(section)
    assert head == ["Training documents", "P@3", "P@3 of the other", "Gain"]
    for row, mine, theirs in zip(rows, report.precision_parts["P@3"], range(1, 6), strict=True):
        assert row[1:] == [f"{mine:.2f}", f"{theirs:.2f}", f"{mine - theirs:+.2f}"]
    bars = [rect for rect in section.iter("rect") if rect.get("class") == "series-1"]
    assert len(bars) == 5


def test_a_report_without_parts_has_no_section(report):
    assert precision_section(replace(report, precision_parts={})) == ""


def test_an_insight_has_legend_plot_and_table():
    insight = Insight(
        "Attention", "Weight of each hop.", ["rare", "frequent"], {"hop 0": [0.25, 0.5], "hop 1": [0, 1]}
    )
    section = ET.fromstring(insight_section(insight))
    assert section.findtext("h2") == "Attention"
    assert section.findtext("p") == "Weight of each hop."
    assert ["".join(item.itertext()) for item in section.iter("li")] == ["hop 0", "hop 1"]
    assert cells(section) == [
        [None, "hop 0", "hop 1"],
        ["rare", "0.25", "0.00"],
        ["frequent", "0.50", "1.00"],
    ]
    assert section.find("svg").get("aria-label") == "Attention"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0, 0.0], ["0.00", "0.00"]),
        ([-1.5, 2], ["-1.50", "2.00"]),
        ([0.1234, 0.01], ["0.123", "0.010"]),
        ([0.000123, 0], ["0.000123", "0"]),
        ([1e300, -1e300], ["1e+300", "-1e+300"]),
    ],
)
def test_values_are_written_with_digits_that_say_something(values, texts):
    section = ET.fromstring(insight_section(Insight("t", "c", ["a", "b"], {"s": values})))
    assert [row[1] for row in cells(section)[1:]] == texts


@pytest.mark.parametrize("insight", [Insight("t", "c", [], {"s": []}), Insight("t", "c", ["a"], {})])
def test_an_empty_insight_is_its_caption(insight):
    section = ET.fromstring(insight_section(insight))
    assert section.findtext("p") == "c"
    assert section.find("svg") is None


def test_every_text_is_escaped(report):
    evil = replace(
        report, meta={"model": EVIL}, equal_bins=[{**row, "name": EVIL} for row in report.equal_bins]
    )
    against = Comparison(EVIL, evil.precision_parts)
    insight = Insight(EVIL, EVIL, [EVIL], {EVIL: [1]})
    for text in (precision_section(evil, against), insight_section(insight)):
        assert "<script" not in text
        assert EVIL in "".join(ET.fromstring(text).itertext())
