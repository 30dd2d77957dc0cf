"""Omikuji: Parabel (its defaults: three balanced 2-means trees) and Bonsai (wide, shallow, unbalanced trees)."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant
from benchmarks.measure import main
from benchmarks.ranked import ranked_pairs

PRESETS: dict[str, dict[str, Any]] = {
    "omikuji-parabel": {},
    "omikuji-bonsai": {"cluster_k": 100, "cluster_balanced": False, "max_depth": 3},
}


class Omikuji(Contestant):
    """A forest of label trees; the library can't be seeded."""

    packages = ("omikuji", "numpy", "scipy")

    def settings(self) -> dict[str, Any]:
        """What differs from the library's defaults."""
        return PRESETS[self.job.contestant] | self.job.settings

    def prepare(self, X: Any, Y: Any) -> None:
        """The library learns from a text file only: writing and parsing it are left out of the training time.

        It aborts on a document without any feature, so those are left out.
        """
        self.omikuji = import_module("omikuji")
        described = np.flatnonzero(np.diff(X.indptr))
        X, Y = X[described], Y[described]
        file = self.folder / "train.txt"
        write_repository_file(file, X, Y)
        lib, ffi = self.omikuji.lib, self.omikuji.ffi
        self.pool = self.omikuji._ThreadPoolHandle(self.job.threads)
        self.dataset = ffi.gc(
            lib.load_omikuji_data_set(ffi.new("char[]", str(file).encode()), self.pool.ptr),
            lib.free_omikuji_data_set,
        )
        file.unlink()

    def train(self) -> None:
        """All trees."""
        parameters = self.omikuji.Model.default_hyper_param()
        for name, value in self.settings().items():
            setattr(parameters, name, value)
        trained = self.omikuji.lib.train_omikuji_model(self.dataset, parameters, self.pool.ptr)
        self.model = self.omikuji.Model(trained)

    def save(self, folder: Path) -> None:
        """A file a tree."""
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        """As the library does, with sparse weights."""
        del self.model, self.dataset
        self.model = self.omikuji.Model.load(str(folder))
        self.model.init_prediction_thread_pool(self.job.threads)

    def rows(self, X: Any) -> Any:
        """Lists of (feature, value)."""
        features, values = X.indices.tolist(), X.data.tolist()
        bounds = X.indptr.tolist()
        return [list(zip(features[a:b], values[a:b], strict=True)) for a, b in itertools.pairwise(bounds)]

    def predict(self, rows: Any, k: int) -> Any:
        """A call a document: the Python interface knows no batches, so several are asked from threads."""
        if len(rows) == 1:
            return [self.model.predict(rows[0], top_k=k)]
        with ThreadPoolExecutor(self.job.threads) as pool:
            return list(pool.map(lambda row: self.model.predict(row, top_k=k), rows))

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From lists of (label, score)."""
        return ranked_pairs(predicted, k)


def write_repository_file(file: Path, X: Any, Y: Any) -> None:
    """Writes the Extreme Classification Repository format: a head line, then `labels feature:value ...`."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row in range(X.shape[0]):
            labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
            span = slice(X.indptr[row], X.indptr[row + 1])
            features = zip(X.indices[span].tolist(), X.data[span].astype(np.float32).tolist(), strict=True)
            stream.write(labels + " " + " ".join(f"{f}:{v:.8g}" for f, v in features) + "\n")


if __name__ == "__main__":
    main(Omikuji)
