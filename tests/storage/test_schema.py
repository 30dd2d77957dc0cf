"""Declared arrays: saved and loaded as they were, and refused where they do not fit their declaration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays, write_arrays
from longtail.storage.deltas import decode, encode
from longtail.storage.schema import Array, ArraySet, array, load_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Weights(ArraySet):
    row_ptr: np.ndarray = array("int64", "rows + 1", pointer_into="entries", stored="deltas")
    children: np.ndarray = array("int32", "entries", index_below="nodes", stored="deltas")
    values: np.ndarray = array("float32", "entries", stored="float16", low=0, high=10)
    group: np.ndarray = array("int64", "rows", index_below="groups", low=-1, stored="int32")
    table: np.ndarray = array("float32", "rows", 2)

    def check_relations(self) -> None:
        if self.table.sum() < 0:
            raise ModelIntegrityError("the table is negative")


SIZES = {"nodes": 9, "groups": 3}


def weights(**changed: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "row_ptr": np.array([0, 2, 2, 3], np.int64),
        "children": np.array([4, 8, 0], np.int32),
        "values": np.array([0.5, 2, 0.25], np.float32),
        "group": np.array([0, -1, 2], np.int64),
        "table": np.arange(6, dtype=np.float32).reshape(3, 2),
        **changed,
    }


def written(folder: Path, arrays: dict[str, np.ndarray]) -> Path:
    write_arrays(folder / "weights.safetensors", arrays)
    return folder / "weights.safetensors"


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    Weights(**weights()).save(path)
    again = Weights.load(path, **SIZES)
    for name, expected in weights().items():
        found = getattr(again, name)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
        assert found.flags.writeable
    types = {name: str(values.dtype) for name, values in read_arrays(path).items()}
    assert types == {
        "row_ptr": "uint8",
        "children": "uint8",
        "values": "float16",
        "group": "int32",
        "table": "float32",
    }


def test_arrays_may_be_stored_as_they_are_in_memory(tmp_path: Path) -> None:
    again = Weights.load(written(tmp_path, weights()), **SIZES)
    assert again.children.tolist() == [4, 8, 0]


def test_values_are_rounded_once_and_what_was_stored_in_full_never(tmp_path: Path) -> None:
    third = np.full(3, 1 / 3, np.float32)
    made = Weights(**weights(values=third))
    half = third.astype(np.float16).astype(np.float32)
    assert (made.values == half).all()
    loaded = Weights.load(written(tmp_path, weights(values=third)), **SIZES)
    assert (loaded.values == third).all()
    # It is saved in full as well, so that its scores stay.
    loaded.save(tmp_path / "again")
    assert (Weights.load(tmp_path / "again", **SIZES).values == third).all()


def test_too_large_for_half_precision_is_the_largest_of_it() -> None:
    made = Weights(**weights(values=np.array([1e6, -1e6, 0], np.float32)))
    assert made.values.tolist() == [65504, -65504, 0]


def test_numbers_that_a_smaller_type_cannot_hold_are_stored_in_full(tmp_path: Path) -> None:
    path = tmp_path / "w"
    large = np.array([2**40, 0, 0], np.int64)
    Weights(**weights(group=large)).save(path)
    assert Weights.load(path, nodes=9, groups=2**41).group.tolist() == large.tolist()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"children": np.array([4, 9, 0], np.int32)}, "children must be from 0 to 8"),
        ({"children": np.array([4, -1, 0], np.int32)}, "children must be from 0 to 8"),
        ({"children": np.array([4, 0], np.int32)}, r"is \(3,\), but must be \(2,\)"),
        ({"children": np.array([4, 8, 0], np.float32)}, "children must be of type int32, not float32"),
        ({"children": np.array([[4, 8, 0]], np.int32)}, "children must have 1 dimensions, not 2"),
        ({"children": np.array([128], np.uint8)}, "children: it ends in the middle"),
        ({"children": np.array([[1, 2, 3]], np.uint8)}, "children must be of type int32, not uint8"),
        ({"row_ptr": np.array([0, 2, 1, 3], np.int64)}, "row_ptr must begin at 0, never fall and end at 3"),
        ({"row_ptr": np.array([1, 2, 2, 3], np.int64)}, "row_ptr must begin at 0"),
        ({"row_ptr": np.array([0, 2, 3], np.int64)}, r"row_ptr is \(3,\), but must be \(4,\)"),
        ({"values": np.array([0, np.nan, 1], np.float32)}, "values must be finite"),
        ({"values": np.array([0, -1, 1], np.float32)}, "values must be at least 0"),
        ({"values": np.array([0, 11, 1], np.float16)}, "values must be at most 10"),
        ({"group": np.array([0, -2, 1])}, "group must be from -1 to 2"),
        ({"table": np.zeros((3, 3), np.float32)}, r"table is \(3, 3\), but must be \(3, 2\)"),
        ({"table": np.full((3, 2), -1, np.float32)}, "the table is negative"),
        ({"more": np.zeros(1)}, "there is an array 'more' that this model does not have"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    path = written(tmp_path, weights(**changed))
    with pytest.raises(ModelIntegrityError, match=says) as caught:
        Weights.load(path, **SIZES)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", Weights.schema())
def test_a_missing_array_is_named(tmp_path: Path, name: str) -> None:
    arrays = weights()
    del arrays[name]
    with pytest.raises(ModelIntegrityError, match=f"the array '{name}' is missing"):
        Weights.load(written(tmp_path, arrays), **SIZES)


def test_arrays_whose_names_depend_on_settings(tmp_path: Path) -> None:
    schema = {"a": Array(np.dtype("float32"), ("n",)), "b": Array(np.dtype("int64"), ("n",), low=0)}
    good = {"a": np.ones(2, np.float32), "b": np.arange(2)}
    assert set(load_arrays(written(tmp_path, good), schema)) == {"a", "b"}
    with pytest.raises(ModelIntegrityError, match="b must be at least 0"):
        load_arrays(written(tmp_path, {**good, "b": np.array([0, -1])}), schema)


# --- symbols --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Sizes(ArraySet):
    edges: np.ndarray = array("int64", "points - 1")
    points: np.ndarray = array("float32", "points")
    tail_ptr: np.ndarray = array("int64", "points + 1", pointer_into="rest", pointer_from=2)


def sized(n_edges: int = 2, n_points: int = 3, tail: tuple[int, ...] = (2, 2, 4, 7)) -> dict[str, np.ndarray]:
    return {
        "edges": np.zeros(n_edges, np.int64),
        "points": np.zeros(n_points, np.float32),
        "tail_ptr": np.array(tail, np.int64),
    }


def test_a_symbol_is_bound_by_the_caller_or_by_any_array() -> None:
    path = Path("file")
    assert len(Sizes.from_arrays(sized(), path, rest=7).points) == 3
    assert len(Sizes.from_arrays(sized(), path, rest=7, points=3).points) == 3
    with pytest.raises(ModelIntegrityError, match=r"^file: edges is \(2,\), but must be \(3,\)$"):
        Sizes.from_arrays(sized(), path, rest=7, points=4)
    with pytest.raises(ModelIntegrityError, match=r"edges is \(1,\), but must be \(2,\)"):
        Sizes.from_arrays(sized(n_edges=1), path, rest=7)


@pytest.mark.parametrize("tail", [(0, 2, 4, 7), (2, 2, 4, 6), (2, 4, 2, 7), (3, 3, 4, 7)])
def test_pointers_begin_where_the_declaration_says(tail: tuple[int, ...]) -> None:
    with pytest.raises(ModelIntegrityError, match="tail_ptr must begin at 2, never fall and end at 7"):
        Sizes.from_arrays(sized(tail=tail), Path("file"), rest=7)


def test_loaded_arrays_are_what_kernels_are_compiled_for() -> None:
    found = sized()
    wide = np.zeros((3, 2), np.float32)
    found["points"] = wide[:, 0]
    found["edges"].flags.writeable = False
    loaded = Sizes.from_arrays(found, Path("file"), rest=7)
    for values in loaded.arrays().values():
        assert values.flags.writeable
        assert values.flags.c_contiguous


def test_other_fields_of_the_dataclass_are_no_arrays() -> None:
    @dataclass(frozen=True, slots=True, eq=False)
    class Named(ArraySet):
        values: np.ndarray = array("float32", "n")
        name: str = "none"

    assert list(Named.schema()) == ["values"]
    assert list(Named(np.zeros(2, np.float32)).arrays()) == ["values"]


# --- anything that a file can hold ----------------------------------------------------------------------------

DTYPES = (np.int8, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64, np.bool_)
other_arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays_of.arrays(
        dtype, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    )
)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, np.ndarray]:
    """The stored arrays of a model, with some of them changed in a value, a type, a shape, or altogether."""
    found = {
        **weights(),
        "row_ptr": encode(weights()["row_ptr"]),
        "children": encode(weights()["children"]),
        "values": weights()["values"].astype(np.float16),
    }
    for name in draw(st.lists(st.sampled_from(sorted(found)), max_size=2, unique=True)):
        values = found[name].copy()
        match draw(st.sampled_from(["value", "type", "rows", "other", "gone", "name"])):
            case "value":
                flat, place = values.reshape(-1), draw(st.integers(0, values.size - 1))
                flat[place] = draw(arrays_of.from_dtype(values.dtype))
                found[name] = values
            case "type":
                found[name] = values.astype(draw(st.sampled_from(DTYPES)))
            case "rows":
                found[name] = draw(st.sampled_from([values[:-1], np.concatenate([values, values])]))
            case "other":
                found[name] = draw(other_arrays)
            case "gone":
                del found[name]
            case "name":
                found[name + "s"] = found.pop(name)
    return found


@given(mutated())
def test_mutated_arrays_are_refused_or_loaded_as_they_are(stored: dict[str, np.ndarray]) -> None:
    try:
        with np.errstate(all="ignore"):
            loaded = Weights.from_arrays(stored, Path("file"), **SIZES)
    except ModelIntegrityError:
        return
    assert set(stored) == set(Weights.schema())
    for name, declared in Weights.schema().items():
        found, expected = getattr(loaded, name), stored[name]
        if declared.stored == "deltas" and expected.dtype == np.uint8:
            expected = decode(expected, declared.dtype)
        assert found.dtype == declared.dtype
        assert np.array_equal(found, expected)
    # All that a kernel relies on.
    assert loaded.row_ptr[0] == 0
    assert loaded.row_ptr[-1] == len(loaded.children) == len(loaded.values)
    assert (np.diff(loaded.row_ptr) >= 0).all()
    assert len(loaded.row_ptr) == len(loaded.group) + 1 == len(loaded.table) + 1
    assert ((loaded.children >= 0) & (loaded.children < SIZES["nodes"])).all()
    assert ((loaded.group >= -1) & (loaded.group < SIZES["groups"])).all()
    assert ((loaded.values >= 0) & (loaded.values <= 10)).all()
    assert np.isfinite(loaded.table).all()


@given(
    arrays_of.arrays(np.float32, st.integers(0, 6), elements=st.floats(0, 10, width=32)),
    st.lists(st.integers(0, 6), max_size=4),
)
def test_any_arrays_that_fit_survive_saving(
    tmp_path_factory: pytest.TempPathFactory, values: np.ndarray, cuts: list[int]
) -> None:
    n = len(values)
    row_ptr = np.array([0, *sorted(min(cut, n) for cut in cuts), n], np.int64)
    made = Weights(
        row_ptr=row_ptr,
        children=np.arange(n, dtype=np.int32),
        values=values,
        group=np.full(len(row_ptr) - 1, -1, np.int64),
        table=np.zeros((len(row_ptr) - 1, 2), np.float32),
    )
    path = tmp_path_factory.mktemp("arrays") / "weights"
    made.save(path)
    again = Weights.load(path, **SIZES).arrays()
    assert all(np.array_equal(found, again[name]) for name, found in made.arrays().items())
