"""Saved weights come back as they were, and each one that does not fit is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.systems.eclare.system import Eclare
from longtail.systems.eclare.weights import Weights
from tests.systems.eclare.worlds import member_of


def size_of(model: Eclare) -> dict[str, int]:
    return {"n_tokens": model.features_.n_columns, "n_labels": len(model.labels_)}


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_weights_come_back(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model: Eclare = request.getfixturevalue(which)
    weights = member_of(model).weights
    write_arrays(tmp_path / "weights", weights.arrays())
    again = Weights.load(tmp_path / "weights", **size_of(model))
    for name, array in weights.arrays().items():
        other = getattr(again, name)
        assert other.dtype == array.dtype, name
        assert np.array_equal(other, array), name
    assert (again.graph != weights.graph).nnz == 0
    assert (again.cluster_graph != weights.cluster_graph).nnz == 0


Change = Callable[[np.ndarray], np.ndarray]


def shorter(array: np.ndarray) -> np.ndarray:
    return array[:-1]


def narrower(array: np.ndarray) -> np.ndarray:
    return array[..., :-1].copy()


def flat(array: np.ndarray) -> np.ndarray:
    return array.ravel()[: len(array)].copy()


def above(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = 120
    return out


def below(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = -1
    return out


def falling(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[1] = out[-1] + 1
    return out


def infinite(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = np.inf
    return out


def as_floats(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


def as_numbers(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int32)


def twice(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[0] = out[1]
    return out


MATRICES = (
    "tokens",
    "residual",
    "classifiers",
    "cluster_tokens",
    "cluster_residual",
    "cluster_classifiers",
    "fusion_weights",
    "blocks",
    "attention_transform",
    "attention_weigh",
    "parts",
)
POINTERS = ("member_ptr", "graph_indptr", "cluster_graph_indptr")
NUMBERS = ("members", "graph_indices", "cluster_graph_indices", "group")
VALUES = ("graph_data", "cluster_graph_data", "fusion_start")

FAULTS: list[tuple[str, Change]] = [
    *((name, change) for name in MATRICES for change in (shorter, narrower, flat, infinite, as_numbers)),
    *((name, change) for name in POINTERS for change in (shorter, falling, below, as_floats)),
    *((name, change) for name in NUMBERS for change in (shorter, above, below, as_floats)),
    *((name, change) for name in VALUES for change in (shorter, infinite, as_numbers)),
    ("members", twice),
]


@pytest.mark.parametrize(("name", "change"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_an_array_that_does_not_fit_is_refused(
    saved: Path, clustered: Eclare, tmp_path: Path, name: str, change: Change
) -> None:
    arrays = {key: np.array(value) for key, value in read_arrays(saved / "member-0.safetensors").items()}
    arrays[name] = change(arrays[name])
    write_arrays(tmp_path / "weights", arrays)
    with pytest.raises(ModelIntegrityError, match="weights does not fit this model: "):
        Weights.load(tmp_path / "weights", **size_of(clustered))


def test_missing_and_strange_arrays_are_refused(saved: Path, clustered: Eclare, tmp_path: Path) -> None:
    arrays = read_arrays(saved / "member-0.safetensors")
    for changed in ({k: v for k, v in arrays.items() if k != "group"}, {**arrays, "more": arrays["group"]}):
        write_arrays(tmp_path / "weights", changed)
        with pytest.raises(ModelIntegrityError, match="has not the arrays of an ECLARE model"):
            Weights.load(tmp_path / "weights", **size_of(clustered))


def test_weights_of_another_model_are_refused(saved: Path, clustered: Eclare) -> None:
    size = size_of(clustered)
    for other in ({**size, "n_labels": 39}, {**size, "n_tokens": size["n_tokens"] + 1}):
        with pytest.raises(ModelIntegrityError, match="does not fit this model"):
            Weights.load(saved / "member-0.safetensors", **other)
