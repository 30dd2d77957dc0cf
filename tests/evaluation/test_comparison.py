import json
from dataclasses import replace

import pytest

from longtail.errors import DataError, UsageError
from longtail.evaluation.comparison import Comparison, compare, model_name, read_report
from tests.evaluation.cases import zipf_report


@pytest.fixture(scope="module")
def report():
    return zipf_report()


def written(tmp_path, report, **changes):
    place = tmp_path / "report.json"
    place.write_text(json.dumps({**report.to_dict(), **changes}), encoding="utf-8")
    return place


def test_a_report_of_the_same_data_can_be_compared(tmp_path, report):
    other = read_report(written(tmp_path, report))
    assert other == report
    assert compare(report, other) == Comparison("<b>linear</b> & co", report.precision_parts)


def test_only_ranks_that_both_have_are_compared(report):
    few = replace(report, precision_parts={"P@1": [1.0] * 5, "P@9": [2.0] * 5})
    assert compare(report, few).precision_parts == {"P@1": [1.0] * 5}
    with pytest.raises(UsageError, match=r"P@9, but this one has P@1, P@3, P@5: .* same -k"):
        compare(report, replace(report, precision_parts={"P@9": [2.0] * 5}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": {"documents": 1234, "labels": 80}}, "f.json is a report of 1,234 documents, .* 200 here"),
        ({"counts": {"documents": 200, "labels": 79}}, "79 labels, but there are 80"),
        ({"meta": {"data_fingerprint": "0" * 64}}, "other documents or labels .*fingerprints differ"),
        (
            {"equal_bins": [{"name": str(i), "labels": 1, "assignments": 1} for i in range(5)]},
            "trained on other data",
        ),
    ],
)
def test_reports_of_other_data_are_refused(tmp_path, report, changes, message):
    other = read_report(written(tmp_path, report, **changes))
    with pytest.raises(UsageError, match=message):
        compare(report, other, "f.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'{"format": "other"}', "'other'"),
        (b'{"format": "longtail-report/1"}', "lacks metrics"),
    ],
)
def test_what_is_no_report_is_refused_with_its_name(tmp_path, content, message):
    place = tmp_path / "bad.json"
    place.write_bytes(content)
    with pytest.raises(DataError, match=rf"bad\.json.*{message}"):
        read_report(place)


def test_no_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="missing"):
        read_report(tmp_path / "none.json")
    with pytest.raises(DataError, match="not a regular file"):
        read_report(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": []},
        {"counts": {"documents": "200", "labels": 80}},
        {"meta": None},
        {"meta": {}},
        {"equal_bins": {}},
        {"equal_bins": [1, 2, 3, 4, 5]},
        {"precision_parts": []},
        {"precision_parts": {"P@1": [1.0]}},
        {"precision_parts": {"P@1": 5}},
        {"precision_parts": {"P@1": ["1", "2", "3", "4", "5"]}},
        {"precision_parts": {"P@1": [True] * 5}},
        {"insights": 3},
        {"insights": [{}]},
    ],
)
def test_damaged_reports_are_refused(tmp_path, report, changes):
    with pytest.raises(DataError, match=r"report\.json: .*report"):
        read_report(written(tmp_path, report, **changes))


def test_reports_of_older_versions_say_what_to_do(tmp_path, report):
    old = {k: v for k, v in report.to_dict().items() if k not in ("precision_parts", "insights")}
    place = tmp_path / "old.json"
    place.write_text(json.dumps(old), encoding="utf-8")
    with pytest.raises(DataError, match="evaluate that model again"):
        read_report(place)


@pytest.mark.parametrize(
    ("meta", "name"),
    [
        ({"model": "runs/first", "system": "eclare"}, "first (eclare)"),
        ({"model": "runs/first/"}, "first"),
        ({"system": "eclare"}, "eclare"),
        ({}, "not named"),
    ],
)
def test_a_model_is_called_by_folder_and_system(report, meta, name):
    assert model_name(replace(report, meta=meta)) == name
