"""Near-duplicates among many texts: are all planted pairs found, and what does it cost?"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from longtail import threads
from longtail.data.near_duplicates import near_duplicate_groups

VOCABULARY = 50_000
WORDS = 30


def texts_with_pairs(count: int, pairs: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Random texts; those of ``pairs`` [n, 2] differ in their last word alone."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{number}" for number in range(VOCABULARY)])
    texts = [" ".join(words) for words in vocabulary[rng.integers(0, VOCABULARY, (count, WORDS))]]
    chosen = rng.permutation(count)[: 2 * pairs].reshape(-1, 2)
    for one, other in chosen.tolist():
        texts[other] = texts[one].rpartition(" ")[0] + " changed"
    return texts, chosen


def measure(work: Path, *, texts: int = 1_000_000, pairs: int = 5000, seed: int = 0) -> dict[str, Any]:
    """One thread, after the kernels are compiled."""
    near_duplicate_groups(["a b", "c d"])
    given, planted = texts_with_pairs(texts, pairs, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, processor = time.perf_counter(), time.process_time()
    with threads.limit(1):
        groups = near_duplicate_groups(given)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    found = int((groups[planted[:, 0]] == groups[planted[:, 1]]).sum())
    joined = len(given) - len(np.unique(groups))
    return {
        "texts": texts,
        "words_per_text": WORDS,
        "planted_pairs": pairs,
        "found_pairs": found,
        "other_joined": joined - found,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "texts_mb": before // 1024,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
