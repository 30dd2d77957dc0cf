"""Changes of numbers, arrays and JSON values that a seeded generator chooses."""

from random import Random
from typing import Any

import numpy as np

EDGES = (0, 1, -1, 2, 127, 255, 2**15, 2**16, 2**31 - 1, -(2**31), 2**31, 2**62, 2**63 - 1, -(2**63))
"""Integers at which a type, a difference or a sum overflows."""

FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e30, -1e30, 3e38, float("inf"), float("-inf"), float("nan"))
TEXTS = ("", "a", "\0", "ä" * 50, "../x", "9" * 400, "\ud7ff", "none", "linear")


def changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    """The array with other values, another length, shape, order or type."""
    choices = [
        _some_values,
        _some_values,
        _nudged,
        _nudged,
        _nudged,
        _wrapped,
        _moved,
        _shuffled,
        _shorter,
        _longer,
        _other_shape,
    ]
    choices += [_other_type, _falling, _emptied, _one_more]
    return np.ascontiguousarray(random.choice(choices)(array, random))


def changed_json(value: Any, random: Random) -> Any:
    """The value with one leaf or one entry changed."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        return _changed_object(value, random)
    if isinstance(value, list) and value and random.random() < 0.9:
        return _changed_list(value, random)
    return _other_leaf(value, random)


def _changed_object(value: dict[str, Any], random: Random) -> dict[str, Any]:
    key = random.choice(list(value))
    kind = random.random()
    if kind < 0.08:
        return {name: item for name, item in value.items() if name != key}
    if kind < 0.12:
        return {**value, random.choice(TEXTS): _other_leaf(None, random)}
    if kind < 0.2:
        return {**value, key: value[random.choice(list(value))]}
    return {**value, key: changed_json(value[key], random)}


def _changed_list(value: list[Any], random: Random) -> list[Any]:
    at = random.randrange(len(value))
    kind = random.random()
    if kind < 0.15:
        return value[:at] + value[at + 1 :]
    if kind < 0.3:
        return [*value, value[at]]
    if kind < 0.4:
        return random.sample(value, len(value))
    return [*value[:at], changed_json(value[at], random), *value[at + 1 :]]


def _other_leaf(value: Any, random: Random) -> Any:
    near: list[Any] = []
    if isinstance(value, bool):
        near = [not value] * 6
    elif isinstance(value, int):
        near = [value + 1, value - 1, value * 2, value * 1000, -value, 10**9, 2**31 - 1, 2**40, 2**63 - 1]
    elif isinstance(value, float):
        near = [value * 2, -value, 0.0, 1e-30, 1e30, 1e308]
    elif isinstance(value, str):
        near = [value[:-1], value + value, value.upper(), value[::-1], "x" + value]
    return random.choice([*near, *near, None, True, 0, -1, 0.5, [], {}, "", random.choice(TEXTS)])


def _edge(array: np.ndarray, random: Random) -> Any:
    if array.dtype.kind == "f":
        return random.choice(FLOATS)
    number = random.choice([*EDGES, len(array), len(array) - 1, len(array) + 1, array.size])
    if array.dtype.kind == "b":
        return bool(number)
    bounds = np.iinfo(array.dtype)
    return min(max(number, int(bounds.min)), int(bounds.max))


def _some_values(array: np.ndarray, random: Random) -> np.ndarray:
    out = array.copy()
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        if out.size:
            at = random.randrange(out.size)
            flat = out.reshape(-1)
            near = [flat[random.randrange(out.size)], flat[at]]
            flat[at] = random.choice([_edge(array, random), *near])
            if out.dtype.kind in "iu" and random.random() < 0.3:
                with np.errstate(all="ignore"):
                    flat[at] += np.array(random.choice((1, 2))).astype(out.dtype)
    return out


def _nudged(array: np.ndarray, random: Random) -> np.ndarray:
    """One value a little larger or smaller: pointers that still rise, indices that still exist."""
    if array.dtype.kind not in "iu" or not array.size:
        return _some_values(array, random)
    out = array.copy()
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(out.size)
        with np.errstate(all="ignore"):
            out.reshape(-1)[at] += np.array(random.choice((1, -1, 1, -1, 2, -2, 5))).astype(out.dtype)
    return out


def _wrapped(array: np.ndarray, random: Random) -> np.ndarray:
    """Integers whose differences overflow, first and last value as they were."""
    if array.dtype.kind not in "iu" or array.ndim != 1 or len(array) < 4:
        return _some_values(array, random)
    out, bounds = array.copy(), np.iinfo(array.dtype)
    at = random.randrange(1, len(out) - 2)
    out[at], out[at + 1] = random.choice(
        [(bounds.max, bounds.min), (bounds.min, bounds.max), (bounds.max - 1, bounds.min + 1)]
    )
    return out


def _moved(array: np.ndarray, random: Random) -> np.ndarray:
    with np.errstate(all="ignore"):
        return (array + np.array(random.choice((1, -1, 2))).astype(array.dtype)).astype(array.dtype)


def _shuffled(array: np.ndarray, random: Random) -> np.ndarray:
    return (
        array[np.random.default_rng(random.randrange(2**32)).permutation(len(array))] if array.ndim else array
    )


def _shorter(array: np.ndarray, random: Random) -> np.ndarray:
    return array[: random.randrange(len(array) + 1)] if array.ndim else array.reshape(1)


def _longer(array: np.ndarray, random: Random) -> np.ndarray:
    return np.concatenate([array, array[-random.randrange(1, 4) :]]) if array.ndim else array.reshape(1, 1)


def _one_more(array: np.ndarray, random: Random) -> np.ndarray:
    return np.concatenate([array, array[-1:]]) if array.ndim else array.reshape(1)


def _other_shape(array: np.ndarray, random: Random) -> np.ndarray:
    shapes: list[tuple[int, ...]] = [(-1,), (1, -1), (-1, 1), array.shape[::-1], (*array.shape, 1)]
    return array.reshape(random.choice(shapes))


def _other_type(array: np.ndarray, random: Random) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(
            random.choice(("int8", "uint8", "int32", "int64", "uint64", "float16", "float64", "bool"))
        )


def _falling(array: np.ndarray, random: Random) -> np.ndarray:
    return array[::-1]


def _emptied(array: np.ndarray, random: Random) -> np.ndarray:
    return array[:0] if array.ndim else array
