"""Small planted data: every label has words of its own, so a right system finds it."""

from pathlib import Path

import numpy as np
import orjson
from scipy import sparse

LABELS = 12


def write_matrices(folder: Path, *, filtered: bool = False) -> Path:
    """X and Y of train and test as npz files; with ``filtered`` each test document's first label is left out."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    for split, n in (("trn", 90), ("tst", 30)):
        tags = np.stack(
            [np.arange(n) % LABELS, (np.arange(n) + random.integers(1, LABELS, n)) % LABELS], axis=1
        )
        Y = sparse.csr_matrix(
            (np.ones(2 * n, np.float32), (np.repeat(np.arange(n), 2), tags.ravel())), shape=(n, LABELS)
        )
        X = sparse.hstack([Y, 0.5 * Y], format="csr").astype(np.float32)
        sparse.save_npz(folder / f"X.{split}.npz", X)
        sparse.save_npz(folder / f"Y.{split}.npz", Y)
        if filtered and split == "tst":
            pairs = (np.ones(n, np.float32), (np.arange(n), tags[:, 0]))
            sparse.save_npz(folder / "F.tst.npz", sparse.csr_matrix(pairs, shape=(n, LABELS)))
    return folder


def write_texts(folder: Path) -> Path:
    """The same kind of data as JSONL files with texts."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, n in (("train", 60), ("test", 24)):
        rows = [
            {
                "id": f"{part}{i}",
                "title": f"word{i % LABELS} common",
                "text": "and more",
                "labels": [f"l{i % LABELS}"],
            }
            for i in range(n)
        ]
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows) + b"\n")
    return folder


def contestant(name: str, value: float = 50.0, seconds: float = 2.0) -> dict[str, object]:
    """A contestant's result with all keys of the format."""
    names = [f"{metric}@{k}" for metric in ("P", "R", "nDCG", "PSP") for k in (1, 3, 5)]
    costs = ("train_seconds", "train_cpu_seconds", "batch_ms", "single_ms_median", "peak_mb", "model_mb")
    return {
        "name": name,
        "metrics": dict.fromkeys([*names, "R@10", "coverage@5"], value),
        "bins@5": [],
        "settings": {},
        "versions": {"python": "3.11"},
    } | dict.fromkeys(costs, seconds)


def result(*contestants: dict[str, object]) -> dict[str, object]:
    """A run's result with all keys of the format."""
    data = {
        "name": "toy",
        "train_documents": 1234,
        "test_documents": 56,
        "labels": 7890,
        "feature_columns": 100,
        "splits": 1,
    }
    return {
        "format": 1,
        "date": "2026-01-02T03:04:05+00:00",
        "command": [],
        "seed": 0,
        "threads": 2,
        "machine": {"processor": "a processor", "cores": 2},
        "code": {},
        "data": data,
        "contestants": list(contestants),
    }
