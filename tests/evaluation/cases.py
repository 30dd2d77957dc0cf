"""A small evaluation for the tests: Zipf-like labels, rankings that are right more often for frequent ones."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from longtail.evaluation import Report, evaluate
from longtail.types import Dataset, Documents, LabelSet, TopK


def dataset(rows: list[list[int]], n_labels: int, filtered: list[list[int]] | None = None) -> Dataset:
    ids = [str(i) for i in range(len(rows))]
    labels = LabelSet([f"label {i}" for i in range(n_labels)], [""] * n_labels)
    documents = Documents(ids, [""] * len(rows), [f"text {i}" for i in ids])
    return Dataset(
        documents, labels, pairs(rows, n_labels), None if filtered is None else pairs(filtered, n_labels)
    )


def pairs(rows: list[list[int]], n_labels: int) -> csr_array:
    dense = np.zeros((len(rows), n_labels), np.float32)
    for i, row in enumerate(rows):
        dense[i, row] = 1
    return csr_array(dense)


def ranking(rows: list[list[int]], k: int) -> TopK:
    labels, scores = np.full((len(rows), k), -1, np.int32), np.zeros((len(rows), k), np.float32)
    for i, row in enumerate(rows):
        labels[i, : len(row)] = row
        scores[i, : len(row)] = np.linspace(0.95, 0.05, len(row))
    return TopK(labels, scores)


def zipf_case(
    seed: int = 0, n: int = 200, n_labels: int = 80, k: int = 10
) -> tuple[TopK, Dataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, n_labels + 1)
    chance /= chance.sum()
    counts = rng.poisson(chance * 900)
    truth, predicted = [], []
    for _ in range(n):
        gold = rng.choice(n_labels, size=rng.integers(0, 6), replace=False, p=chance).tolist()
        guesses = [x for x in gold if rng.random() < 0.6] + rng.choice(n_labels, size=k, p=chance).tolist()
        truth.append(gold)
        predicted.append(list(dict.fromkeys(guesses))[:k])
    return ranking(predicted, k), dataset(truth, n_labels), counts


def zipf_report() -> Report:
    predictions, data, counts = zipf_case()
    extra = {"system": "<b>linear</b> & co", "config": {"tree": {"leaf_size": 50}}, "seconds": {"train": 1.5}}
    return evaluate(predictions, data, train_counts=counts, n_train=900, extra=extra)
