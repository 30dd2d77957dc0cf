"""Reading JSON lines: longtail beside the least that any reader must do, orjson on each line.

    python -m benchmarks.reading --documents 100000

Writes a file of short records (as a dictionary's entries) and one of long records (as articles) into a temporary
folder and prints MB/s of ``longtail.data.read`` (columns, labels as a sparse matrix), of ``longtail.data.stream``
and of the plain loop, which only makes the records; each is the best of several turns taken one after the other,
by the processor's time, so that a busy machine disturbs all of them alike.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longtail import data

WORDS = {"short": 12, "long": 250}
"""Words of a document's text in each file."""

LABELS_A_DOCUMENT = 3


def write_file(path: Path, documents: int, words: int, seed: int = 0) -> None:
    """Write random documents of about so many words, with labels of which few are frequent and most are rare."""
    random = np.random.default_rng(seed)
    vocabulary = np.array([f"word{number:x}" for number in range(20_000)])
    labels = (random.pareto(0.5, (documents, LABELS_A_DOCUMENT)) * 10).astype(np.int64) % max(documents, 1)
    with open(path, "wb") as handle:
        for row in range(documents):
            text = " ".join(vocabulary[random.integers(len(vocabulary), size=words)])
            tags = [f"n{label:08d}" for label in dict.fromkeys(labels[row].tolist())]
            record = {"id": f"d{row:08d}", "title": f"title {row}", "text": text, "labels": tags}
            handle.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def plain_loop(path: Path) -> list[Any]:
    """The records of the file and nothing else."""
    with open(path, "rb") as lines:
        return [orjson.loads(line) for line in lines]


def read(path: Path) -> Any:
    """The data set of the file."""
    return data.read(path)


def stream(path: Path) -> int:
    """The number of documents, read in batches."""
    return sum(len(documents) for documents, _ in data.stream(path))


def measure(path: Path, turns: int) -> dict[str, float]:
    """MB/s of each way to read the file."""
    ways: tuple[Callable[[Path], Any], ...] = (plain_loop, read, stream)
    seconds: dict[str, list[float]] = {way.__name__: [] for way in ways}
    for _ in range(turns):
        for way in ways:
            start = time.process_time()
            found = way(path)
            seconds[way.__name__].append(time.process_time() - start)
            del found
    size = path.stat().st_size / 1e6
    return {name: size / max(min(each), 1e-9) for name, each in seconds.items()}


def main(arguments: list[str] | None = None) -> None:
    """Measure both kinds of files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000, help="documents of a file")
    parser.add_argument("--turns", type=int, default=3, help="how many times each is measured")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for kind, words in WORDS.items():
            path = Path(folder) / f"{kind}.jsonl"
            write_file(path, options.documents, words)
            size = path.stat().st_size / max(options.documents, 1)
            print(f"{kind} records: {options.documents:,} of {size:.0f} bytes", flush=True)
            speeds = measure(path, options.turns)
            path.unlink()
            for name, speed in speeds.items():
                ratio = speed / speeds["plain_loop"]
                print(f"  {name:10}  {speed:6.1f} MB/s  {ratio:.2f} of the plain loop", flush=True)


if __name__ == "__main__":
    main()
