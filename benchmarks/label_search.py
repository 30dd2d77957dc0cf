"""Type-ahead among many labels: python -m benchmarks.label_search --labels 1000000.

Labels of one to six words from a vocabulary with Zipf's frequencies, some of them with accents. Queries are what
people type: the first letters of a name, of a later word, of two words. Times are of ``LabelSearch.find`` alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

from longtail.serving.label_search import LabelSearch
from longtail.types import LabelSet

SYLLABLES = np.array([f"{c}{v}" for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "é")])
VOCABULARY = 200_000
EXPONENT = 0.9


def label_texts(n: int, random: np.random.Generator) -> list[str]:
    """The texts of n labels."""
    lengths = random.integers(1, 6, VOCABULARY)
    syllables = SYLLABLES[random.integers(0, len(SYLLABLES), (VOCABULARY, 5))]
    words = np.array(["".join(row[:length]) for row, length in zip(syllables, lengths, strict=True)], object)
    weights = 1 / np.arange(1, VOCABULARY + 1) ** EXPONENT
    sizes = random.integers(1, 7, n)
    drawn = words[random.choice(VOCABULARY, int(sizes.sum()), p=weights / weights.sum())]
    ends = np.cumsum(sizes)
    return [" ".join(drawn[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def queries(texts: list[str], n: int, random: np.random.Generator) -> dict[str, list[str]]:
    """n queries of each kind."""
    some = [texts[i].split() for i in random.integers(0, len(texts), n)]
    return {
        "one letter": [words[0][:1] for words in some],
        "three letters": [words[0][:3] for words in some],
        "the start of a later word": [words[-1][:4] for words in some],
        "the starts of two words": [f"{words[-1][:1]} {words[0][:1]}" for words in some],
        "a whole name": [" ".join(words) for words in some],
        "nothing": [words[0] + "qx" for words in some],
    }


def measure(n_labels: int, n_queries: int, seed: int = 0) -> dict[str, Any]:
    """Seconds to build, megabytes, and milliseconds per query."""
    random = np.random.default_rng(seed)
    texts = label_texts(n_labels, random)
    labels = LabelSet([f"L{i}" for i in range(n_labels)], texts)
    counts = random.zipf(1.5, n_labels).astype(np.int64)
    before = _resident()
    start = time.perf_counter()
    search = LabelSearch(labels, counts)
    seconds = time.perf_counter() - start
    found: dict[str, Any] = {
        "labels": n_labels,
        "build_seconds": round(seconds, 2),
        "index_mb": round(search.nbytes / 1e6, 1),
        "grown_mb": round((_resident() - before) / 1e6, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1),
        "ms": {},
        "cpu_ms": {},
    }
    for kind, asked in queries(texts, n_queries, random).items():
        times = np.array([_milliseconds(search, query) for query in asked])
        for row, name in enumerate(("ms", "cpu_ms")):
            p50, p99, most = np.quantile(times[:, row], [0.5, 0.99, 1.0])
            found[name][kind] = {"p50": round(p50, 2), "p99": round(p99, 2), "max": round(most, 2)}
    return found


def _milliseconds(search: LabelSearch, query: str) -> tuple[float, float]:
    """Of a query, by the clock and on the processor: they differ on a machine with other work."""
    start, used = time.perf_counter(), time.thread_time()
    search.find(query, 20)
    return 1000 * (time.perf_counter() - start), 1000 * (time.thread_time() - used)


def _resident() -> int:
    """Bytes of memory that the process has now."""
    with open("/proc/self/statm", encoding="ascii") as handle:
        return int(handle.read().split()[1]) * resource.getpagesize()


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.label_search", description=__doc__)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    print(json.dumps(measure(options.labels, options.queries), indent=2))


if __name__ == "__main__":
    main()
