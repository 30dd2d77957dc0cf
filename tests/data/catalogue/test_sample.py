from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from longtail.data import catalogue
from longtail.types import Dataset


@pytest.fixture(scope="module")
def parts() -> dict[str, Dataset]:
    return catalogue.build("sample")


def test_it_is_small() -> None:
    assert (files("longtail.data.catalogue") / "sample.jsonl.xz").stat().st_size < 1_000_000


def test_its_parts(parts: dict[str, Dataset]) -> None:
    assert {name: len(part) for name, part in parts.items()} == {"train": 9000, "valid": 1000, "test": 2000}
    ids = [id_ for part in parts.values() for id_ in part.documents.ids]
    assert len(set(ids)) == len(ids), "no document is in two parts"
    labels = parts["train"].labels
    assert all(part.labels is labels for part in parts.values())
    assert np.mean([bool(text) for text in labels.texts]) > 0.95
    assert all(
        title.startswith(id_) for id_, title in zip(ids[:9000], parts["train"].documents.titles, strict=True)
    )


def test_every_document_has_labels_and_every_label_documents(parts: dict[str, Dataset]) -> None:
    counts = np.zeros(len(parts["train"].labels), np.int64)
    for part in parts.values():
        assert np.diff(part.Y.indptr).min() >= 2
        counts += part.label_counts
    assert counts.min() >= 1


def test_a_long_tail(parts: dict[str, Dataset]) -> None:
    counts = parts["train"].label_counts
    assert counts.max() > 500
    assert np.mean(counts < 5) > 0.8


def test_a_package_as_its_own_label_is_not_scored(parts: dict[str, Dataset]) -> None:
    test = parts["test"]
    assert test.filtered is not None
    for row in np.flatnonzero(np.diff(test.filtered.indptr)):
        (column,) = test.filtered[[row]].indices
        assert test.labels.ids[column] == test.documents.ids[row]
        assert column not in test.Y[[row]].indices


def test_known_relations(parts: dict[str, Dataset]) -> None:
    train = parts["train"]
    users = [row for row, id_ in enumerate(train.documents.ids) if id_.startswith("r-cran-")]
    assert len(users) > 50
    assert train.Y[users][:, [train.labels.index["r-base-core"]]].mean() > 0.8
