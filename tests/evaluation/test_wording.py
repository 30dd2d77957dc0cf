from dataclasses import replace

import pytest

from longtail.evaluation.wording import (
    RARE_NOTE,
    calibration_sentence,
    chosen_sentence,
    cost_sentence,
    counts_sentence,
    families,
    other_sentence,
)
from tests.evaluation.cases import zipf_report

COUNTS = {
    "documents": 1234,
    "assignments": 1,
    "labels": 1,
    "cold_labels": 0,
    "training_documents": 2000,
    "documents_without_labels": 0,
    "unscored_pairs": 0,
}


def metric(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 1, "high": value + 1}


def test_metrics_as_rows_and_columns():
    report = replace(zipf_report(), metrics={"P@1": metric(5), "P@10": metric(2), "nDCG@3": metric(4)})
    assert families(report) == ({"P": {1: metric(5), 10: metric(2)}, "nDCG": {3: metric(4)}}, [1, 3, 10])


def test_rows_keep_the_order_of_the_report():
    rows, ranks = families(zipf_report())
    assert list(rows) == ["P", "nDCG", "PSP", "PSnDCG", "R"]
    assert ranks == [1, 3, 5, 10]
    assert list(rows["R"]) == [1, 3, 5, 10]
    assert list(rows["P"]) == [1, 3, 5]


def test_no_metrics():
    assert families(replace(zipf_report(), metrics={})) == ({}, [])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "1,234 documents with 1 label assignment; 1 label, 0 of them cold (without training documents); "
            "trained on 2,000 documents.",
        ),
        (
            {"documents": 1, "assignments": 0, "labels": 5000, "cold_labels": 1000},
            "1 document with 0 label assignments; 5,000 labels, 1,000 of them cold (without training documents); "
            "trained on 2,000 documents.",
        ),
        (
            {"training_documents": 1, "documents_without_labels": 1, "unscored_pairs": 2},
            "1,234 documents with 1 label assignment; 1 label, 0 of them cold (without training documents); "
            "trained on 1 document. "
            "1 document without gold labels count 0. 2 pairs unscored (filtered or revealed).",
        ),
    ],
)
def test_counts_in_words(changes, sentence):
    assert counts_sentence(COUNTS | changes) == sentence


@pytest.mark.parametrize(
    ("other", "calibrated", "sentence"),
    [
        ({}, None, ""),
        ({"coverage@1": 12.345678}, None, "coverage@1 12.35."),
        ({"coverage@1": 1, "micro F1": 2}, None, "coverage@1 1.00, micro F1 2.00."),
    ],
)
def test_other_metrics_in_one_line(other, calibrated, sentence):
    assert other_sentence(replace(zipf_report(), other=other, calibration=calibrated)) == sentence


ERRORS = {"k": 5, "ece": 3.0, "every": {"k": 50, "ece": 1.0}}


@pytest.mark.parametrize(
    ("calibrated", "sentence"),
    [
        (None, ""),
        # Reports of earlier versions.
        ({"k": 5, "ece": 3.0}, "Expected calibration error 3.00."),
        (ERRORS, "Expected calibration error 3.00 (first 5), 1.00 (first 50)."),
        (
            {**ERRORS, "before": {**ERRORS, "ece": 9.0}},
            "Expected calibration error 3.00 (first 5), 1.00 (first 50); before calibration 9.00 (first 5), "
            "1.00 (first 50).",
        ),
        (
            {**ERRORS, "before": None},
            "Expected calibration error 3.00 (first 5), 1.00 (first 50); before calibration scores were no "
            "probabilities.",
        ),
    ],
)
def test_calibration_in_words(calibrated, sentence):
    assert calibration_sentence(replace(zipf_report(), calibration=calibrated)) == sentence


def test_how_labels_were_chosen():
    chosen = {"by": "precision 0.9", "labels_per_document": 1.234}
    sentence = "Precision, recall and F1 are of the labels chosen by precision 0.9: 1.23 per document."
    assert chosen_sentence(replace(zipf_report(), chosen=chosen)) == sentence
    assert chosen_sentence(replace(zipf_report(), chosen={})) == ""


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({}, ""),
        ({"seconds": {"measure": 1.0}}, ""),
        ({"seconds": {"predict": 3.0}}, "Prediction took 1.5 ms per document."),
        ({"model_bytes": 1_250_000_000}, "The model has 1,250.0 MB."),
        (
            {"seconds": {"predict": 3.0}, "model_bytes": 2_000_000},
            "Prediction took 1.5 ms per document, the model has 2.0 MB.",
        ),
    ],
)
def test_the_cost_of_a_prediction(known, sentence):
    report = zipf_report()
    assert cost_sentence(replace(report, meta=known, counts={**report.counts, "documents": 2000})) == sentence


def test_nothing_costs_nothing():
    report = zipf_report()
    counts = {**report.counts, "documents": 0}
    assert cost_sentence(replace(report, meta={"seconds": {"predict": 0.0}}, counts=counts)) == ""


def test_the_note_has_a_rank_to_fill_in():
    assert RARE_NOTE.format(k=5).count("@5") == 3
    assert "{" not in RARE_NOTE.format(k=5)
