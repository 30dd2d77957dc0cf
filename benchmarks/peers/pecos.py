"""PECOS XR-Linear: hierarchical k-means over PIFA label embeddings, teacher-forcing negatives, beam search."""

from importlib import import_module
from pathlib import Path
from typing import Any

from scipy import sparse

from benchmarks.contestant import Contestant
from benchmarks.measure import main
from benchmarks.ranked import ranked_rows

DEFAULTS: dict[str, Any] = {
    "nr_splits": 16,
    "max_leaf_size": 100,
    "negative_sampling_scheme": "tfn",
    "Cp": 1.0,
    "Cn": 1.0,
    "threshold": 0.1,
    "beam_size": 10,
    "post_processor": "l3-hinge",
}


class Pecos(Contestant):
    """XLinearModel with the defaults of its command line."""

    packages = ("libpecos", "numpy", "scipy")

    def settings(self) -> dict[str, Any]:
        """Defaults of the library, with the run's own settings over them."""
        return DEFAULTS | self.job.settings

    def prepare(self, X: Any, Y: Any) -> None:
        """Old sparse matrix classes, which is what the library checks for."""
        self.xmc = import_module("pecos.xmc")
        self.model_class = import_module("pecos.xmc.xlinear.model").XLinearModel
        self.X, self.Y = sparse.csr_matrix(X), sparse.csc_matrix(Y)

    def train(self) -> None:
        """Label embeddings, cluster chain and one-versus-all classifiers a level."""
        settings, threads = self.settings(), self.job.threads
        embeddings = self.xmc.LabelEmbeddingFactory.create(self.Y, self.X, method="pifa", threads=threads)
        chain = self.xmc.Indexer.gen(
            embeddings,
            indexer_type="hierarchicalkmeans",
            nr_splits=settings["nr_splits"],
            max_leaf_size=settings["max_leaf_size"],
            seed=self.job.seed,
            threads=threads,
        )
        self.model = self.model_class.train(
            self.X,
            self.Y,
            C=chain,
            threads=threads,
            **{name: value for name, value in settings.items() if name != "max_leaf_size"},
        )

    def save(self, folder: Path) -> None:
        """One folder of sparse matrices a level."""
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        """The library's fast form, for prediction only."""
        self.model = self.model_class.load(str(folder), is_predict_only=True)

    def rows(self, X: Any) -> Any:
        """Old sparse matrix classes again."""
        return sparse.csr_matrix(X)

    def predict(self, rows: Any, k: int) -> Any:
        """Beam search, all rows in one call."""
        settings = self.settings()
        return self.model.predict(
            rows,
            only_topk=k,
            beam_size=settings["beam_size"],
            post_processor=settings["post_processor"],
            threads=self.job.threads,
        )

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From a sparse matrix of scores."""
        return ranked_rows(predicted.indptr, predicted.indices, predicted.data, k)


if __name__ == "__main__":
    main(Pecos)
