"""TF-IDF features: longtail beside scikit-learn on the same texts, each in a process of its own.

    python -m benchmarks.features path/to/train.jsonl.xz --ngrams 1 2 --limit 10000

Prints seconds, CPU seconds and peak memory of both, and how many times faster longtail is. What is compared is
the time of ``fit_transform`` with words of one and more characters in at least two documents.
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

SHORT = "Council Regulation on the common organisation of the market in bananas"


def read_texts(path: Path, limit: int | None) -> list[str]:
    """The titles and texts of a JSON-lines file, which may be compressed with xz."""
    texts = []
    with (
        lzma.open(path, "rt", encoding="utf-8")
        if path.suffix == ".xz"
        else path.open(encoding="utf-8") as lines
    ):
        for line in lines:
            record = json.loads(line)
            texts.append(f"{record.get('title', '')}\n{record.get('text', '')}")
            if len(texts) == limit:
                break
    return texts


def features_of(system: str, order: int) -> Any:
    """An unfitted vectoriser of the system."""
    if system == "longtail":
        from longtail.text.config import TextConfig
        from longtail.text.tfidf import TfidfFeatures

        return TfidfFeatures(TextConfig(ngrams=(1, order), min_df=2))
    vectoriser = import_module("sklearn.feature_extraction.text").TfidfVectorizer
    return vectoriser(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, order), min_df=2, dtype=np.float32)


def measure(system: str, order: int, path: Path, limit: int | None) -> dict[str, float]:
    """Seconds and memory of one system, kernels compiled beforehand."""
    texts = read_texts(path, limit)
    features_of(system, order).fit_transform(texts[:50])
    memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    features = features_of(system, order)
    start, cpu = time.perf_counter(), time.process_time()
    rows = features.fit_transform(texts)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    features.transform([SHORT])
    singles = []
    for _ in range(500):
        start = time.perf_counter()
        features.transform([SHORT])
        singles.append(time.perf_counter() - start)
    return {
        "documents": rows.shape[0],
        "characters": sum(map(len, texts)),
        "columns": rows.shape[1],
        "nonzeros": int(rows.nnz),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "megabytes_for_texts": memory_before / 1024,
        "megabytes_more_at_peak": (memory - memory_before) / 1024,
        "megabytes_of_output": rows.nnz * 8 / 2**20,
        "microseconds_for_one_short_text": sorted(singles)[len(singles) // 2] * 1e6,
    }


def main() -> None:
    """Measure both systems for each order, or one of them when called for itself."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", type=Path, help="a JSON-lines file with 'title' and 'text' (.jsonl, .jsonl.xz)"
    )
    parser.add_argument("--ngrams", type=int, nargs="+", default=[1, 2], help="the longest runs to measure")
    parser.add_argument("--limit", type=int, help="use only the first documents")
    parser.add_argument("--only", choices=["longtail", "sklearn"], help="measure one system in this process")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.ngrams[0], options.data, options.limit)))
        return
    for order in options.ngrams:
        results = {}
        for system in ("longtail", "sklearn"):
            command = [sys.executable, __file__, str(options.data), "--ngrams", str(order), "--only", system]
            command += ["--limit", str(options.limit)] if options.limit else []
            results[system] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            numbers = "  ".join(f"{name} {value:,.1f}" for name, value in results[system].items())
            print(f"1..{order} {system}: {numbers}", flush=True)
        for name in ("seconds", "cpu_seconds", "megabytes_more_at_peak", "microseconds_for_one_short_text"):
            ratio = results["sklearn"][name] / results["longtail"][name]
            print(f"1..{order} {name}: scikit-learn / longtail = {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
