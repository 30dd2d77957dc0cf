"""Changes of a saved model that keep its manifest right, and what must be true of loading and using it then."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import orjson

from longtail import storage
from longtail.errors import LongtailError
from longtail.storage.deltas import decode, encode
from longtail.storage.manifest import MANIFEST, write_manifest
from longtail.systems import load
from tests.fuzz.values import changed_array, changed_json

ANSWERED, REFUSED = "answered", "refused"
BYTES = "bytes"


def mutate(folder: Path, seed: int, only: str = "*") -> str:
    """Change one or two parts of a model folder, and its manifest with them; says what was changed.

    ``only`` is a pattern of the names of files that may be changed.
    """
    random = Random(seed)
    files = [path for path in sorted(folder.rglob(only)) if path.is_file() and path.name != MANIFEST]
    files = [path for path in files if path.suffix in (".json", ".jsonl", ".safetensors")]
    done: list[str] = []
    for _ in range(random.choice((1, 1, 1, 2))):
        path = random.choice([path for path in files for _ in range(_weight(path))])
        done.append(f"{path.relative_to(folder)}: {_change(path, random)}")
        if done[-1].endswith(BYTES):
            break  # the file can no longer be read as what it was
    (folder / MANIFEST).unlink(missing_ok=True)
    write_manifest(folder)
    return "; ".join(done)


def outcome(folder: Path, texts: Sequence[str]) -> str:
    """Load and predict: a valid answer or an error of longtail; everything else is raised."""
    try:
        model = load(folder)
        n_labels = len(model.labels_)
        for k, some in ((5, texts), (3 * n_labels, texts[:1]), (1, ["", "\0 ä 12 " + texts[-1]])):
            answer = model.predict(list(some), k=k)
            labels, scores = np.asarray(answer.indices), np.asarray(answer.scores)
            assert labels.shape == scores.shape == (len(some), labels.shape[1])
            assert ((labels >= -1) & (labels < n_labels)).all(), "a label that does not exist"
            assert not np.isnan(scores).any(), "a score that is not a number"
    except LongtailError as error:
        if "\n" in str(error):
            raise AssertionError("an error of more than one line") from error
        return REFUSED
    return ANSWERED


def _weight(path: Path) -> int:
    return 6 if path.suffix == ".safetensors" else 2


def _change(path: Path, random: Random) -> str:
    if random.random() < 0.04:
        return _bytes(path, random)
    if path.suffix == ".safetensors":
        return _arrays(path, random)
    if path.suffix == ".jsonl":
        records = changed_json(list(storage.read_jsonl(path)), random)
        records = records if isinstance(records, list) else [records]
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
        return "a record"
    value = orjson.loads(path.read_bytes())
    changed = changed_json(value, random)
    path.write_bytes(orjson.dumps(changed))
    return "a value"


def _bytes(path: Path, random: Random) -> str:
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 1, 3))):
        content[random.randrange(len(content))] = random.randrange(256)
    path.write_bytes(content)
    return BYTES


def _arrays(path: Path, random: Random) -> str:
    arrays = storage.read_arrays(path)
    names = sorted(arrays)
    if not names:
        return "nothing"
    name = random.choice(names)
    kind = random.random()
    if kind < 0.03:
        del arrays[name]
    elif kind < 0.06:
        arrays[name] = arrays[random.choice(names)]
    elif kind < 0.12:
        _cut_alike(arrays, name, random)
    else:
        arrays[name] = _changed(arrays[name], random)
    storage.write_arrays(path, arrays)
    return name


def _cut_alike(arrays: dict[str, np.ndarray], name: str, random: Random) -> None:
    """All arrays of the same length lose the same rows: a shape that is consistent, but another one."""
    size = len(arrays[name]) if arrays[name].ndim else 0
    keep = random.randrange(size + 1)
    for other, array in arrays.items():
        if array.ndim and len(array) == size:
            arrays[other] = array[:keep]


def _changed(array: np.ndarray, random: Random) -> np.ndarray:
    # One row of bytes is most often an array of integers as deltas: its numbers are what kernels follow.
    if array.dtype == np.uint8 and array.ndim == 1 and len(array) and random.random() < 0.9:
        try:
            numbers = decode(array, np.dtype(np.int64))
        except LongtailError:
            return changed_array(array, random)
        changed = changed_array(numbers, random)
        if changed.ndim == 1 and changed.dtype == np.int64:
            return encode(changed)
    return changed_array(array, random)
