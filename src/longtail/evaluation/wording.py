"""Sentences and arrangements that the terminal and the page share."""

from __future__ import annotations

from longtail.evaluation.report import Figure, Report

RARE_NOTE = (
    "R@{k} is the bin's own recall: hits on its labels / their assignments. "
    "The parts of P@{k} and PSP@{k} add up to the whole figure."
)


def families(report: Report) -> tuple[dict[str, dict[int, Figure]], list[int]]:
    """The figures as a table: a row for P, nDCG, ..., a column for each rank."""
    rows: dict[str, dict[int, Figure]] = {}
    for name, figure in report.figures.items():
        family, _, rank = name.partition("@")
        rows.setdefault(family, {})[int(rank)] = figure
    return rows, sorted({rank for row in rows.values() for rank in row})


def counts_sentence(counts: dict[str, int]) -> str:
    """How much was measured, in words."""
    text = (
        f"{_many(counts['documents'], 'document')} with {_many(counts['assignments'], 'label assignment')}; "
        f"{_many(counts['labels'], 'label')}, {counts['labels_unseen_in_training']:,} of them unseen in "
        f"{_many(counts['training_documents'], 'training document')}."
    )
    if counts["documents_without_labels"]:
        text += f" {_many(counts['documents_without_labels'], 'document')} without gold labels count 0."
    if counts["pairs_left_out"]:
        text += f" {_many(counts['pairs_left_out'], 'pair')} left out of predictions and truth."
    return text


def other_sentence(report: Report) -> str:
    """The figures without an interval, in one line."""
    text = ", ".join(f"{name} {value:.2f}" for name, value in report.other.items())
    if report.calibration is not None:
        text += f", expected calibration error {report.calibration['ece']:.2f}"
    return f"{text}." if text else ""


def cost_sentence(report: Report) -> str:
    """What a prediction costs, where that is known: time a document in one call with many, size of the model."""
    facts = []
    seconds, documents = report.meta.get("seconds", {}).get("predict"), report.counts["documents"]
    if seconds is not None and documents:
        facts.append(f"prediction took {1e3 * seconds / documents:.3g} ms a document")
    if "model_bytes" in report.meta:
        facts.append(f"the model has {report.meta['model_bytes'] / 1e6:,.1f} MB")
    text = ", ".join(facts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
