from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from longtail.errors import UnsupportedError, UsageError
from longtail.systems.training_data import check
from longtail.types import Dataset
from tests.systems.noting import MATRIX, TRAIN, Noting, NotingMatrices


def test_what_can_be_trained_on() -> None:
    check(Noting(), TRAIN)
    check(NotingMatrices(), MATRIX)


def test_what_cannot() -> None:
    for data, message in (
        (TRAIN.take(np.array([], int)), "there is no document to train on"),
        (replace(TRAIN, Y=-TRAIN.Y), "negative or not finite"),
        (Dataset.from_texts(["", ""], [["a"], ["b"]]), "no document has any text"),
    ):
        with pytest.raises(UsageError, match=message):
            check(Noting(), data)
    with pytest.raises(UnsupportedError, match="learns from text"):
        check(Noting(), MATRIX)
