"""Title and text together are no worse than titles alone, whether texts are noise or tell the label as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longtail.config import merge
from longtail.systems import create
from longtail.types import Dataset, Documents, LabelSet, label_matrix

LABELS, TRAIN, TEST = 30, 600, 400
WORDS = {"text": {"kind": "word"}}
SYSTEMS: dict[str, dict[str, Any]] = {"linear": {}, "knn": WORDS, "lexical": WORDS}


def planted(texts: str) -> tuple[Dataset, Dataset]:
    """Titles: three words of the label, two at random; texts: 60 words at random, and four that tell."""
    rng = np.random.default_rng(1)
    words = np.array([[f"{chr(97 + i % 26)}{i}w{j}" for j in range(6)] for i in range(LABELS)])
    of = rng.integers(LABELS, size=TRAIN + TEST)
    titles, bodies = [], []
    for label in of:
        mine = rng.choice(words[label], 3, replace=False)
        titles.append(" ".join([*mine, *rng.choice(words.ravel(), 2)]))
        noise = rng.choice(words.ravel(), 60)
        bodies.append(" ".join([*noise, *(rng.choice(words[label], 4) if texts == "telling" else [])]))
    ids = [str(i) for i in range(len(of))]
    labels = LabelSet([f"l{i}" for i in range(LABELS)], [" ".join(row[:3]) for row in words])
    Y = label_matrix([[f"l{label}"] for label in of], labels)
    data = Dataset(Documents(ids, titles, bodies), labels, Y)
    return data.take(range(TRAIN)), data.take(range(TRAIN, TRAIN + TEST))


def precision(system: str, parts: tuple[Dataset, Dataset], **settings: Any) -> float:
    model = create(system, merge({"calibrate": "none", **SYSTEMS[system]}, settings)).fit(parts[0])
    found = model.predict(parts[1], k=1).indices[:, 0]
    return float(np.asarray(parts[1].Y[np.arange(TEST), found]).mean())


@pytest.mark.parametrize("system", SYSTEMS)
def test_texts_that_are_noise_do_no_harm(system: str) -> None:
    parts = planted("noise")
    alone = precision(system, parts, fields=["title"])
    assert precision(system, parts) >= alone - 0.02
    # As one text, the titles drown: the data would show it.
    assert precision(system, parts, text={"title_share": "none"}) < alone - 0.2


@pytest.mark.parametrize("system", SYSTEMS)
def test_where_both_fields_tell_both_are_no_worse_than_one(system: str) -> None:
    parts = planted("telling")
    both = precision(system, parts)
    assert both >= precision(system, parts, fields=["title"])
    assert both >= precision(system, parts, fields=["text"])
