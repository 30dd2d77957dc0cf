"""One trained model, exported: an encoder, and matrices that document vectors are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.sparse_product import multiply
from longtail.blocks.transformer import Pooling, Transformer
from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members, scores_of_clusters
from longtail.shortlist.meta_shortlist import ClusterSearch, MetaShortlist
from longtail.shortlist.scoring import score, score_missing
from longtail.storage import VerifiedFolder, checks, read_arrays, write_arrays
from longtail.storage.schema import ArraySet, array
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import bags_of_tokens
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.training.runtime import torch_threads

AT_ONCE = 64
"""Documents per batch of the encoder."""
NOT_RETRIEVED = np.float32(-20)
"""The least score of a cluster below the best one: that of clusters outside the beam."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranker(ArraySet):
    """Document vectors are projected and multiplied with label vectors.

    Symbols: labels L, width of a label vector, pooled = layers * D of the encoder.
    """

    project: np.ndarray = array("float32", "width", "pooled")
    bias: np.ndarray = array("float32", "width")
    labels: np.ndarray = array("float32", "labels", "width", stored="float16")


@dataclass(frozen=True, slots=True, eq=False)
class Retriever(ArraySet):
    """Classifiers of the clusters, their bias as the last column, and the cluster of each label."""

    classifiers: np.ndarray = array("float32", "clusters", "pooled + 1")
    cluster_of: np.ndarray = array("int64", "labels", index_below="clusters", stored="int32")


@dataclass(frozen=True, slots=True, eq=False)
class TokenEmbeddings(ArraySet):
    """Embeddings that the tokens of documents share with label texts, and the idf of tokens."""

    table: np.ndarray = array("float32", "vocabulary", "text_width", stored="float16")
    idf: np.ndarray = array("float32", "vocabulary", low=0)


class DocumentVectors(NamedTuple):
    """Documents as one model reads them.

    Shapes:
        pooled [n, layers * D + 1], the last column ones; ranked [n, width of a label vector]; readable bool [n]
    """

    pooled: np.ndarray
    ranked: np.ndarray
    readable: np.ndarray


class RankingModel:
    """A model that encodes documents, retrieves clusters and ranks labels.

    Args:
        pooled: the encoder.
        subwords: its tokenizer.
        retriever: None: there are no clusters, all labels are ranked.
        tokens: None: the tokens of a document are not added to its vector.
        config: its settings ``labels.weights`` and ``encoder`` apply.
    """

    def __init__(
        self,
        pooled: PooledStates,
        subwords: Subwords,
        ranker: Ranker,
        retriever: Retriever | None,
        tokens: TokenEmbeddings | None,
        config: XgrankConfig,
    ) -> None:
        self.pooled, self.subwords, self.config = pooled, subwords, config
        self.ranker, self.retriever, self.tokens = ranker, retriever, tokens
        self.n_special = len(subwords([""]).ids)
        self.clusters: MetaShortlist | None = None
        if retriever is not None:
            order = np.argsort(retriever.cluster_of, kind="stable")
            counts = np.bincount(retriever.cluster_of, minlength=len(retriever.classifiers))
            ptr = np.concatenate([[0], np.cumsum(counts)])
            self.clusters = MetaShortlist(retriever.classifiers, ptr, order.astype(np.int32))

    # --- documents ----------------------------------------------------------------------------------------

    def encode(self, store: FeatureStore, pooled: np.ndarray | None = None) -> DocumentVectors:
        """The vectors of the documents of a store; a document is readable if it has a token.

        Args:
            pooled: what ``pool`` gives for them, if it is known already.
        """
        fields = self.config.fields
        readable = store.tokens(self.subwords, fields).lengths > self.n_special
        pooled = self.pool(store) if pooled is None else pooled
        project, bias = torch.from_numpy(self.ranker.project), torch.from_numpy(self.ranker.bias)
        with torch.inference_mode(), torch_threads():
            ranked = torch.nn.functional.linear(torch.from_numpy(pooled)[:, :-1], project, bias).numpy()
        if self.tokens is not None:
            idf = self.tokens.idf if self.config.labels.weights == "tfidf" else None
            plain = store.tokens(self.subwords, fields, special=False)
            bags = bags_of_tokens(plain, self.subwords.size, idf)
            ranked[:, : self.tokens.table.shape[1]] += multiply(bags, self.tokens.table)
        return DocumentVectors(pooled, ranked, readable)

    def pool(self, store: FeatureStore) -> np.ndarray:
        """The pooled states of the documents by the encoder, and a column of ones [n, W + 1]."""
        rows = store.tokens(self.subwords, self.config.fields)
        pooled = np.ones((len(rows), self.pooled.width + 1), np.float32)
        encoder = self.pooled.encoder
        was_training = encoder.training
        encoder.eval()
        order = np.argsort(rows.lengths, kind="stable")
        with torch.inference_mode(), torch_threads():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                pooled[some, :-1] = self.pooled(rows.take(some)).numpy()
        encoder.train(was_training)
        return pooled

    # --- labels -------------------------------------------------------------------------------------------

    def retrieve(self, vectors: DocumentVectors, beam: int) -> Candidates:
        """The ``beam`` best clusters with their scores."""
        assert self.clusters is not None
        return self.clusters.top_clusters(vectors.pooled, beam)

    def labels_of(self, vectors: DocumentVectors, clusters: Candidates) -> Candidates:
        """All labels of these clusters with their ranking scores."""
        assert self.clusters is not None
        return best_members(vectors.ranked, clusters, self.clusters, self.ranker.labels, None)

    def nearest(self, vectors: DocumentVectors, size: int) -> Candidates:
        """The ``size`` labels of highest ranking score among all."""
        return self._every_label.top(vectors.ranked, size)

    @cached_property
    def _every_label(self) -> ClusterSearch:
        return ClusterSearch(self.ranker.labels)

    def all_labels(self, ranked: np.ndarray) -> Candidates:
        """All labels with their ranking scores, for a few documents [n, width]."""
        n, n_labels = len(ranked), len(self.ranker.labels)
        with torch.inference_mode(), torch_threads():
            scores = (torch.from_numpy(ranked) @ torch.from_numpy(self.ranker.labels).T).numpy()
        ids = np.tile(np.arange(n_labels, dtype=np.int32), n)
        return Candidates.from_counts(np.full(n, n_labels), ids, scores.ravel())

    def rank(
        self, vectors: DocumentVectors, candidates: Candidates, scored: Candidates | None = None
    ) -> Candidates:
        """Any candidates with their ranking scores.

        Args:
            scored: scores that are known already.
        """
        labels = self.ranker.labels
        if scored is None:
            return score(vectors.ranked, candidates, labels)
        return candidates.with_scores(score_missing(vectors.ranked, candidates, scored, labels, 0.0))

    def below_best_cluster(self, candidates: Candidates, clusters: Candidates) -> np.ndarray:
        """The score of each candidate's cluster less that of the document's best cluster [entries].

        Args:
            clusters: those in the beam; ``NOT_RETRIEVED`` stands for all others.
        """
        assert self.retriever is not None
        best = np.zeros(len(clusters), np.float32)
        there = np.flatnonzero(clusters.counts)
        if len(there):
            best[there] = np.maximum.reduceat(clusters.scores, clusters.indptr[:-1][there])
        found = scores_of_clusters(candidates, self.retriever.cluster_of, clusters, -np.inf)
        return np.asarray(np.maximum(found - np.repeat(best, candidates.counts), NOT_RETRIEVED), np.float32)

    # --- model folders ------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Into ``folder``, which is made, with the weights that the encoder has now."""
        folder.mkdir()
        encoder = self.pooled.encoder
        if self.config.encoder.by_reference(encoder.layers):
            encoder.folder.save(folder / "encoder", "reference")
        else:
            encoder.folder.save(folder / "encoder", weights=False)
            write_arrays(folder / "encoder.safetensors", encoder.stored_arrays())
        self.pooled.save_graph(folder)
        self.ranker.save(folder / "ranker.safetensors")
        if self.retriever is not None:
            self.retriever.save(folder / "retriever.safetensors")
        if self.tokens is not None:
            self.tokens.save(folder / "tokens.safetensors")

    @classmethod
    def load(
        cls, folder: VerifiedFolder | None, config: XgrankConfig, n_labels: int, pooling: Pooling
    ) -> Self:
        """Read what ``save`` wrote."""
        if folder is None:
            raise ModelIntegrityError("a model of the system is missing")
        files = EncoderFolder.load(folder.sub("encoder"))
        subwords = Subwords(files, config.encoder.tokens)
        pooled = PooledStates(_load_encoder(folder, files, subwords), config.encoder.layers, pooling)
        pooled.load_graph(folder)
        sizes = {"labels": n_labels, "pooled": pooled.width}
        ranker = Ranker.load(folder.path("ranker.safetensors"), **sizes)
        retriever, tokens = None, None
        if "retriever.safetensors" in folder:
            retriever = Retriever.load(folder.path("retriever.safetensors"), **sizes)
        if "tokens.safetensors" in folder:
            path = folder.path("tokens.safetensors")
            tokens = TokenEmbeddings.load(path, vocabulary=subwords.size, text_width=config.labels.width)
            if len(ranker.project) < config.labels.width:
                raise ModelIntegrityError(f"{path}: label vectors are narrower than token embeddings")
        return cls(pooled, subwords, ranker, retriever, tokens, config)


def _load_encoder(folder: VerifiedFolder, files: EncoderFolder, subwords: Subwords) -> Transformer:
    if "encoder.safetensors" not in folder:
        return Transformer.of(files).eval()
    path = folder.path("encoder.safetensors")
    arrays = read_arrays(path)
    with checks.of_file(path):
        for name, found in arrays.items():
            if found.dtype.kind == "f":
                checks.finite(found, name)
        encoder = Transformer.from_arrays(files, arrays)
        if len(encoder.words) < subwords.size:
            raise ModelIntegrityError(f"{len(encoder.words)} word embeddings, but {subwords.size} tokens")
    return encoder
