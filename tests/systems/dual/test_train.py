"""Training: each part is worth something, labels without text and data without documents are no obstacle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.systems.dual.system import Dual
from longtail.types import Dataset, LabelSet
from tests.planted import Parts
from tests.systems.dual.worlds import settings


def overall(model: Dual, data: Dataset) -> float:
    metrics = model.evaluate(data).metrics
    return float(metrics["P@1"]["value"] + metrics["P@5"]["value"])


def test_a_trained_encoder_is_better_than_the_encoder_as_it_is(
    trained: Dual, encoder: Path, tiny: Parts
) -> None:
    plain = Dual(**settings(encoder, encoder={"name": str(encoder), "tokens": 24, "tune": False}))
    assert overall(trained, tiny.test) > overall(plain.fit(tiny.train, valid=tiny.valid), tiny.test) + 10


@pytest.mark.parametrize(
    ("more", "absent"),
    [({"labels": {"learned": False}}, "label"), ({"votes": {"neighbours": 0}}, "votes")],
)
def test_parts_can_be_left_out(encoder: Path, tiny: Parts, more: dict[str, Any], absent: str) -> None:
    chosen = settings(encoder, **more)
    chosen["encoder"]["train"]["epochs"] = 1
    model = Dual(**chosen).fit(tiny.train, valid=tiny.valid)
    assert getattr(model.predictor_.weights, absent) == 0
    assert (model.predictor_.voters is None) == (absent == "votes")
    if absent == "label":
        assert (model.predictor_.labels.learned == model.predictor_.labels.text).all()


def test_labels_without_text_have_a_learned_vector_alone(encoder: Path, tiny: Parts) -> None:
    texts = ["" if i % 2 else text for i, text in enumerate(tiny.train.labels.texts)]
    labels = LabelSet(tiny.train.labels.ids, texts)
    train = replace(tiny.train, labels=labels)
    model = Dual(**settings(encoder)).fit(train, valid=tiny.valid)
    found = model.predictor_.labels
    assert not found.text[1::2].any()
    assert found.text[::2].any(axis=1).all()
    frequent = np.flatnonzero(train.label_counts > 5)
    assert found.learned[frequent].any(axis=1).all()


def test_label_texts_alone_are_enough(encoder: Path) -> None:
    model = Dual(**settings(encoder)).fit(Dataset.from_labels({"x": "bababade", "y": "bababafi"}))
    assert model.predict(["bababafi"], k=1).labels == [["y"]]


def test_without_any_label_text_it_says_so(encoder: Path) -> None:
    with pytest.raises(UsageError, match="no label has a text: the system 'dual'"):
        Dual(**settings(encoder)).fit(Dataset.from_texts(["bababade"], [["x"]]))
