"""Saved weights come back as they were, and each one that does not fit is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.system import Gnnxml
from longtail.systems.gnnxml.weights import Weights, layers_of, network_shapes
from tests.systems.damage import fit_manifest, refused

Change = Callable[[np.ndarray], np.ndarray]


def load(path: Path, model: Gnnxml) -> Weights:
    return Weights.load(path, model.config.network, width=model.documents_.width, n_labels=len(model.labels_))


@pytest.mark.parametrize("which", ["learnt", "plain"])
def test_weights_come_back(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model: Gnnxml = request.getfixturevalue(which)
    weights = model.folded_.weights
    write_arrays(tmp_path / "weights", weights.arrays())
    again = load(tmp_path / "weights", model).arrays()
    assert again.keys() == weights.arrays().keys()
    for name, array in weights.arrays().items():
        assert again[name].dtype == array.dtype, name
        assert np.array_equal(again[name], array), name


def test_whose_each_layer_is() -> None:
    assert layers_of(NetworkConfig(layers=2)) == [("shared", 0), ("0", 1), ("1", 1)]
    assert layers_of(NetworkConfig(layers=2, branches=1)) == [("0", 0), ("0", 1)]
    assert layers_of(NetworkConfig(layers=0)) == []
    assert network_shapes(NetworkConfig(layers=0, branches=1), 4, 3) == {
        "0/classifier": (3, 4),
        "0/bias": (3,),
    }


def shorter(array: np.ndarray) -> np.ndarray:
    return array[:-1].copy()


def deeper(array: np.ndarray) -> np.ndarray:
    return array[None].copy()


def doubled(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def wild(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max
    return out


def negative(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = -1
    return out


def repeated(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[1] = out[0]
    return out


@pytest.mark.parametrize("change", [shorter, deeper, doubled, wild], ids=lambda change: change.__name__)
def test_every_array_that_does_not_fit_is_refused(
    saved: Path, learnt: Gnnxml, tmp_path: Path, change: Change
) -> None:
    arrays = read_arrays(saved / "weights.safetensors")
    for name in arrays:
        write_arrays(tmp_path / "weights", {**arrays, name: change(arrays[name])})
        with pytest.raises(ModelIntegrityError, match=str(tmp_path / "weights")):
            load(tmp_path / "weights", learnt)


@pytest.mark.parametrize(
    ("name", "change"),
    [("bounds", negative), ("order", negative), ("order", repeated), ("group", negative)],
)
def test_labels_and_clusters_that_cannot_be_are_refused(
    saved: Path, learnt: Gnnxml, tmp_path: Path, name: str, change: Change
) -> None:
    arrays = read_arrays(saved / "weights.safetensors")
    write_arrays(tmp_path / "weights", {**arrays, name: change(arrays[name])})
    with pytest.raises(ModelIntegrityError, match=str(tmp_path / "weights")):
        load(tmp_path / "weights", learnt)


def test_missing_and_strange_arrays_are_refused(saved: Path, learnt: Gnnxml, tmp_path: Path) -> None:
    arrays = read_arrays(saved / "weights.safetensors")
    for changed in [{k: v for k, v in arrays.items() if k != name} for name in arrays]:
        write_arrays(tmp_path / "weights", changed)
        with pytest.raises(ModelIntegrityError):
            load(tmp_path / "weights", learnt)
    write_arrays(tmp_path / "weights", {**arrays, "more": arrays["group"]})
    with pytest.raises(ModelIntegrityError, match="not the arrays of a GNN-XML model"):
        load(tmp_path / "weights", learnt)


def test_parts_of_a_folder_that_are_missing_or_exchanged_are_refused(saved: Path, tmp_path: Path) -> None:
    for number, (one, other) in enumerate(
        [("weights", "rankers"), ("rankers", "label-texts"), ("label-texts", "weights")]
    ):
        model = Path(shutil.copytree(saved, tmp_path / str(number)))
        shutil.copyfile(saved / f"{one}.safetensors", model / f"{other}.safetensors")
        fit_manifest(model)
        refused(model, ModelIntegrityError)
    model = Path(shutil.copytree(saved, tmp_path / "without"))
    shutil.rmtree(model / "features")
    fit_manifest(model)
    assert "missing" in refused(model, ModelIntegrityError)
