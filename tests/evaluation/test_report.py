import json
from dataclasses import replace
from pathlib import Path

import pytest

from longtail.errors import DataError
from longtail.evaluation import Insight, Report
from tests.evaluation.cases import zipf_report


def test_round_trip_through_json():
    report = zipf_report()
    again = Report.from_json(report.to_json())
    assert again == report
    assert Report.from_dict(report.to_dict()) == report


def test_insights_come_back_as_they_were():
    report = replace(zipf_report(), insights=[Insight("t", "c", ["a"], {"s": [0.5]})])
    data = json.loads(report.to_json())
    assert data["insights"] == [{"title": "t", "caption": "c", "x": ["a"], "series": {"s": [0.5]}}]
    assert Report.from_dict(data) == report


def test_reports_of_older_versions_are_read():
    report = zipf_report()
    old = {k: v for k, v in report.to_dict().items() if k not in ("precision_parts", "insights")}
    again = Report.from_dict(old)
    assert again == replace(report, precision_parts={}, insights=[])
    names = {"metrics": "figures"}
    counts = {"cold_labels": "labels_unseen_in_training", "unscored_pairs": "pairs_left_out"}
    first = {names.get(key, key): value for key, value in report.to_dict().items()}
    first |= {
        "format": "longtail-report/1",
        "counts": {counts.get(key, key): value for key, value in report.counts.items()},
    }
    assert Report.from_dict(first) == report


def test_the_benchmark_results_of_earlier_versions_are_read():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "galaxc-paper-debian.json"
    report = Report.from_json(path.read_text(encoding="utf-8"))
    assert 50 < report.metrics["P@1"]["value"] < 100
    assert report.counts["unscored_pairs"] >= 0


def test_json_is_plain():
    data = json.loads(zipf_report().to_json())
    assert data["format"] == "longtail-report/2"
    assert set(data["metrics"]["P@1"]) == {"value", "low", "high"}


def test_headline_is_what_people_quote():
    assert list(zipf_report().headline()) == [
        *("P@1", "P@3", "P@5"),
        *("nDCG@1", "nDCG@3", "nDCG@5"),
        *("PSP@1", "PSP@3", "PSP@5"),
        "R@10",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"format": "other"}', "'other'"),
        ('{"format": "longtail-report/1", "metrics": {}}', "lacks other, bins"),
    ],
)
def test_what_is_no_report_is_refused(text, message):
    with pytest.raises(DataError, match=message):
        Report.from_json(text)


def test_it_prints_in_one_line_and_as_a_table():
    report = zipf_report()
    value = report.metrics["P@1"]["value"]
    assert repr(report).startswith(f"Report({report.counts['documents']:,} documents: P@1={value:.2f}, ")
    assert len(repr(report)) < 120
    assert f"<td>P@1</td><td>{value:.2f}</td>" in report._repr_html_()
