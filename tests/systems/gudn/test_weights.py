"""What is read fits together, or is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import write_arrays
from longtail.systems.common.fusion import BINS, Fusion
from longtail.systems.gudn.weights import EVIDENCE, Weights

L, FEATURES = 5, 6


def weights(**more: Any) -> Weights:
    parts = {
        "labels": np.ones((L, 5), np.float32),
        "project": np.ones((4, FEATURES + 1), np.float32),
        "clusters": np.ones((2, FEATURES + 1), np.float32),
        "codes": np.array([0, 1, 0, 1, 1]),
        "fusion_weights": np.zeros((0, len(EVIDENCE)), np.float32),
        "fusion_start": np.zeros(0, np.float32),
        "group": np.arange(L, dtype=np.int8),
    }
    return Weights(**{**parts, **more})


def loaded(made: Weights, folder: Path) -> Weights:
    write_arrays(folder / "w.safetensors", made.arrays())
    return Weights.load(folder / "w.safetensors", n_labels=L, n_features=FEATURES)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    made = weights()
    again = loaded(made, tmp_path)
    assert all((array == again.arrays()[name]).all() for name, array in made.arrays().items())
    assert again.fusion is None
    groups = len(BINS) + 1
    fusion = Fusion(np.ones((groups, len(EVIDENCE)), np.float32), np.zeros(groups, np.float32), made.group)
    taught = loaded(made.with_fusion(fusion), tmp_path).fusion
    assert taught is not None
    assert (taught.weights == fusion.weights).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"labels": np.ones((L, 4), np.float32)}, r"labels is \(5, 4\), not \(5, 5\)"),
        ({"labels": np.ones((L, 5))}, "labels has values of the type float64"),
        ({"labels": np.full((L, 5), np.nan, np.float32)}, "labels has values that are not finite"),
        ({"project": np.ones((4, 3), np.float32)}, "project is"),
        ({"project": np.ones((0, FEATURES + 1), np.float32)}, r"labels is \(5, 5\), not \(5, 7\)"),
        ({"clusters": np.ones((2, 3), np.float32)}, "clusters is"),
        ({"codes": np.array([0, 1, 2, 0, 0])}, "not every label is in one of its clusters"),
        ({"codes": np.array([0, 1, -1, 0, 0])}, "not every label is in one of its clusters"),
        ({"group": np.array([0, 1, 2, 3, 9], np.int8)}, "groups of labels do not fit"),
        ({"fusion_start": np.zeros(2, np.float32)}, "fusion_weights is"),
        (
            {"fusion_start": np.zeros(2, np.float32), "fusion_weights": np.ones((2, 5), np.float32)},
            "has 2 groups",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, more: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ModelIntegrityError, match=message):
        loaded(weights(**more), tmp_path)


def test_other_arrays_are_none_of_a_model(tmp_path: Path) -> None:
    write_arrays(tmp_path / "w.safetensors", {"labels": np.ones((L, 5), np.float32)})
    with pytest.raises(ModelIntegrityError, match="has not the arrays of a GUDN model"):
        Weights.load(tmp_path / "w.safetensors", n_labels=L, n_features=FEATURES)
