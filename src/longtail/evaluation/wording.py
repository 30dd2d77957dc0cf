"""Sentences and arrangements that the terminal and the page share."""

from __future__ import annotations

from typing import Any

from longtail.evaluation.report import Metric, Report

RARE_NOTE = (
    "R@{k} is the recall within the bin: hits on its labels / their assignments. "
    "The parts of P@{k} and PSP@{k} add up to the metric of all labels."
)


def families(report: Report) -> tuple[dict[str, dict[int, Metric]], list[int]]:
    """The metrics as a table: a row for P, nDCG, ..., a column for each rank."""
    rows: dict[str, dict[int, Metric]] = {}
    for name, metric in report.metrics.items():
        family, _, rank = name.partition("@")
        rows.setdefault(family, {})[int(rank)] = metric
    return rows, sorted({rank for row in rows.values() for rank in row})


def counts_sentence(counts: dict[str, int]) -> str:
    """How much was measured, in words."""
    text = (
        f"{_many(counts['documents'], 'document')} with {_many(counts['assignments'], 'label assignment')}; "
        f"{_many(counts['labels'], 'label')}, {counts['cold_labels']:,} of them cold "
        f"(without training documents); trained on {_many(counts['training_documents'], 'document')}."
    )
    if counts["documents_without_labels"]:
        text += f" {_many(counts['documents_without_labels'], 'document')} without gold labels count 0."
    if counts["unscored_pairs"]:
        text += f" {_many(counts['unscored_pairs'], 'pair')} unscored (filtered or revealed)."
    return text


def other_sentence(report: Report) -> str:
    """The metrics without an interval, in one line."""
    text = ", ".join(f"{name} {value:.2f}" for name, value in report.other.items())
    return f"{text}." if text else ""


def chosen_sentence(report: Report) -> str:
    """Which labels precision, recall and F1 are about; '' if none were chosen."""
    if not report.chosen:
        return ""
    number = report.chosen["labels_per_document"]
    return f"Precision, recall and F1 are of the labels chosen by {report.chosen['by']}: {number:.2f} per document."


def calibration_sentence(report: Report) -> str:
    """The expected calibration error, before calibration too if there is one; '' without probabilities."""
    found = report.calibration
    if found is None:
        return ""
    text = f"Expected calibration error {_errors(found)}"
    if "before" in found:
        own = found["before"]
        text += "; before calibration " + ("scores were no probabilities" if own is None else _errors(own))
    return f"{text}."


def _errors(found: dict[str, Any]) -> str:
    text = f"{found['ece']:.2f}"
    if "every" in found:
        text += f" (first {found['k']}), {found['every']['ece']:.2f} (first {found['every']['k']})"
    return text


def cost_sentence(report: Report) -> str:
    """The cost of prediction, where it is known: milliseconds per document in a batch, size of the model."""
    facts = []
    seconds, documents = report.meta.get("seconds", {}).get("predict"), report.counts["documents"]
    if seconds is not None and documents:
        facts.append(f"prediction took {1e3 * seconds / documents:.3g} ms per document")
    if "model_bytes" in report.meta:
        facts.append(f"the model has {report.meta['model_bytes'] / 1e6:,.1f} MB")
    text = ", ".join(facts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
