"""Saved weights come back as they were, and each one that does not fit is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.systems.galaxc.predict import Weights
from longtail.systems.galaxc.system import Galaxc
from tests.systems.damage import fit_manifest, refused

Change = Callable[[np.ndarray], np.ndarray]


def size_of(model: Galaxc) -> dict[str, int]:
    graph = model.config.graph
    return {
        "labels": len(model.labels_),
        "documents": len(model.predictor_.nodes.ids),
        "hops": len(graph.fanouts),
        "resolutions": graph.resolutions,
    }


@pytest.mark.parametrize("which", ["trained", "plain"])
def test_weights_come_back(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model: Galaxc = request.getfixturevalue(which)
    weights = model.predictor_.weights
    weights.save(tmp_path / "weights")
    again = Weights.load(tmp_path / "weights", **size_of(model))
    for name, array in weights.arrays().items():
        other = getattr(again, name)
        assert other.dtype == array.dtype, name
        assert np.array_equal(other, array), name
    assert (again.labels_of != weights.labels_of).nnz == 0
    for name in ("node_of_document", "node_of_label", "indptr", "indices"):
        assert np.array_equal(getattr(again.graph, name), getattr(model.predictor_.nodes.graph, name))
    assert read_arrays(tmp_path / "weights")["classifiers"].dtype == np.float16


def shorter(array: np.ndarray) -> np.ndarray:
    return array[:-1].copy()


def longer(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, array[:1]])


def narrower(array: np.ndarray) -> np.ndarray:
    return array[..., :-1].copy()


def flat(array: np.ndarray) -> np.ndarray:
    return array.ravel()[: len(array)].copy()


def deeper(array: np.ndarray) -> np.ndarray:
    return array[None].copy()


def single(array: np.ndarray) -> np.ndarray:
    return np.array(array.ravel()[0])


def infinite(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = np.inf
    return out


def not_a_number(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = np.nan
    return out


def above(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[-1] = np.iinfo(array.dtype).max
    return out


def below(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out.ravel()[0] = -1
    return out


def falling(array: np.ndarray) -> np.ndarray:
    out = array.copy()
    out[1] = out[-1] + 1
    return out


def as_floats(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


def as_doubles(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def as_numbers(array: np.ndarray) -> np.ndarray:
    return array.astype(np.int16)


MATRICES = ("transform", "shift", "classifiers", "attention")
VALUES = ("eps", "bias")
POINTERS = ("graph_indptr", "known_indptr")
NUMBERS = ("node_of_document", "node_of_label", "graph_indices", "known_indices")
REAL = (shorter, longer, deeper, single, infinite, not_a_number, as_doubles, as_numbers)

FAULTS: list[tuple[str, Change]] = [
    *((name, change) for name in MATRICES for change in (*REAL, narrower, flat)),
    *((name, change) for name in VALUES for change in REAL),
    *((name, change) for name in POINTERS for change in (shorter, longer, single, falling, below, as_floats)),
    *((name, change) for name in NUMBERS for change in (shorter, longer, deeper, single, above, below)),
    *((name, change) for name in NUMBERS for change in (as_floats, as_numbers)),
]


def test_every_array_is_damaged_below() -> None:
    assert {name for name, _ in FAULTS} == set(Weights.schema())


@pytest.mark.parametrize(("name", "change"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_an_array_that_does_not_fit_is_refused(
    saved: Path, trained: Galaxc, tmp_path: Path, name: str, change: Change
) -> None:
    arrays = {key: np.array(value) for key, value in read_arrays(saved / "weights.safetensors").items()}
    arrays[name] = change(arrays[name])
    write_arrays(tmp_path / "weights", arrays)
    with pytest.raises(ModelIntegrityError, match=str(tmp_path / "weights")):
        Weights.load(tmp_path / "weights", **size_of(trained))


def test_missing_and_strange_arrays_are_refused(saved: Path, trained: Galaxc, tmp_path: Path) -> None:
    arrays = read_arrays(saved / "weights.safetensors")
    missing = {name: values for name, values in arrays.items() if name != "eps"}
    for changed, message in (
        (missing, "'eps' is missing"),
        ({**arrays, "more": arrays["eps"]}, "there is an array 'more'"),
    ):
        write_arrays(tmp_path / "weights", changed)
        with pytest.raises(ModelIntegrityError, match=message):
            Weights.load(tmp_path / "weights", **size_of(trained))


def test_weights_of_another_model_are_refused(saved: Path, trained: Galaxc) -> None:
    size = size_of(trained)
    for name in size:
        with pytest.raises(ModelIntegrityError, match=r"weights\.safetensors"):
            Weights.load(saved / "weights.safetensors", **{**size, name: size[name] + 1})


# --- the whole folder ---------------------------------------------------------------------------------------------


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


@pytest.fixture
def plain_folder(plain: Galaxc, tmp_path: Path) -> Path:
    """A model whose labels are found by their embeddings."""
    plain.save(tmp_path / "plain")
    return tmp_path / "plain"


def test_classifiers_need_no_index_of_their_own(copy: Path, plain_folder: Path) -> None:
    assert not (copy / "labels.safetensors").exists()
    assert (plain_folder / "labels.safetensors").exists()


def test_exchanged_indices_are_refused(plain_folder: Path) -> None:
    copy = plain_folder
    nodes, labels = copy / "nodes.safetensors", copy / "labels.safetensors"
    kept = nodes.read_bytes()
    nodes.write_bytes(labels.read_bytes())
    labels.write_bytes(kept)
    fit_manifest(copy)
    assert "nodes.safetensors" in refused(copy, ModelIntegrityError)


@pytest.mark.parametrize("name", ["nodes", "labels"])
def test_an_index_of_another_width_or_size_is_refused(plain_folder: Path, name: str) -> None:
    copy = plain_folder
    path = copy / f"{name}.safetensors"
    arrays = {key: np.array(value) for key, value in read_arrays(path).items()}
    for changed in ({"vectors": narrower(arrays["vectors"])}, {"node": shorter(arrays["node"])}):
        write_arrays(path, {**arrays, **changed})
        fit_manifest(copy)
        assert path.name in refused(copy, ModelIntegrityError)


def test_token_embeddings_of_another_width_are_refused(copy: Path) -> None:
    path = copy / "initial" / "tokens.safetensors"
    write_arrays(path, {"tokens": narrower(np.array(read_arrays(path)["tokens"]))})
    fit_manifest(copy)
    message = refused(copy, ModelIntegrityError)
    assert "tokens.safetensors" in message
    assert "15" in message


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"[]",
        b'{"documents": [1], "features": null, "columns": 3}',
        b'{"documents": [], "features": null}',
        b'{"documents": [], "columns": 3}',
        b'{"documents": [], "features": null, "columns": true}',
    ],
)
def test_a_graph_without_documents_and_rows_is_refused(copy: Path, content: bytes) -> None:
    (copy / "graph.json").write_bytes(content)
    fit_manifest(copy)
    assert "graph.json" in refused(copy, ModelIntegrityError)
