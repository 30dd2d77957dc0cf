"""napkinXC: a probabilistic label tree (PLT) over hierarchical k-means, liblinear logistic node classifiers."""

from importlib import import_module
from pathlib import Path
from typing import Any

from scipy import sparse

from benchmarks.contestant import Contestant
from benchmarks.measure import main
from benchmarks.ranked import ranked_pairs


class NapkinXC(Contestant):
    """PLT with the library's defaults: balanced 2-means, leaves of 100, exact search."""

    packages = ("napkinxc", "numpy", "scipy")

    def prepare(self, X: Any, Y: Any) -> None:
        """Old sparse matrix classes, which is what the library checks for."""
        self.plt = import_module("napkinxc.models").PLT
        self.X, self.Y = sparse.csr_matrix(X), sparse.csr_matrix(Y)

    def _model(self) -> Any:
        where = str(self.folder / "model")
        return self.plt(where, seed=self.job.seed, threads=self.job.threads, **self.job.settings)

    def train(self) -> None:
        """Tree and node classifiers; the library writes the model as part of this."""
        self.model = self._model()
        self.model.fit(self.X, self.Y)

    def save(self, folder: Path) -> None:
        """Training has written it already."""

    def load(self, folder: Path) -> None:
        """Into memory, from the folder it was trained into."""
        self.model = self._model()
        self.model.load()

    def rows(self, X: Any) -> Any:
        """Old sparse matrix classes again."""
        return sparse.csr_matrix(X)

    def predict(self, rows: Any, k: int) -> Any:
        """All rows in one call."""
        return self.model.predict_proba(rows, top_k=k)

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From lists of (label, probability)."""
        return ranked_pairs(predicted, k)


if __name__ == "__main__":
    main(NapkinXC)
