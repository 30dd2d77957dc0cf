"""Every number of every JSON file of a model, set to one absurd value after another.

Random changes seldom find the one setting that takes all memory or time. Of many numbers side by side, such as the
words of a tokenizer, the first, the middle and the last stand for all.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from longtail.storage.manifest import MANIFEST, write_manifest

INTEGERS = (0, -1, 2, 1000, 10**6, 10**9, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e-300, 1e9, 1e30, 1e308)
MANY = 40
"""More numbers than these in one object or list are many."""

Keys = tuple[str | int, ...]


@cache
def cases(folder: Path) -> tuple[tuple[str, Keys, int | float], ...]:
    """File, place and value of each case."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        if path.name == MANIFEST:
            continue
        for keys, number in numbers(orjson.loads(path.read_bytes())):
            values: tuple[int | float, ...] = (
                INTEGERS if isinstance(number, int) else (*FLOATS, 0, -1, 10**9, 2**63 - 1)
            )
            found += [(str(path.relative_to(folder)), keys, value) for value in values if value != number]
    return tuple(found)


def numbers(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, int | float]]:
    """The numbers in a JSON value, and where they are."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield keys, value
    inner = list(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    if len(inner) > MANY:
        inner = [inner[0], inner[len(inner) // 2], inner[-1]]
    for key, item in inner:
        yield from numbers(item, (*keys, key))


def put(folder: Path, file: str, keys: Keys, value: int | float) -> None:
    """Change one number of a model, and its manifest with it."""
    content = orjson.loads((folder / file).read_bytes())
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    (folder / file).write_bytes(orjson.dumps(content))
    (folder / MANIFEST).unlink(missing_ok=True)
    write_manifest(folder)
