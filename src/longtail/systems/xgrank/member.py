"""One trained model, folded: an encoder that makes vectors of texts, and matrices that these are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from longtail.blocks.pooled_cls import PooledCls
from longtail.blocks.sparse_product import multiply
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.cluster_members import best_members, scores_of_clusters
from longtail.shortlist.meta_shortlist import MetaShortlist
from longtail.shortlist.scoring import score
from longtail.systems.xgrank.label_vectors import bags_of
from longtail.systems.xgrank.network import Network
from longtail.text.subwords import Subwords
from longtail.training.surroundings import torch_threads

AT_ONCE = 64
"""Documents that the encoder reads together."""
STAY = 500
"""Labels of a document that are looked at further where all of them were ranked."""


FAR = np.float32(-20)
"""How far a cluster that was not retrieved is below the best one."""


class Read(NamedTuple):
    """What the encoder makes of documents.

    Shapes:
        pooled [n, layers * D + 1], the last column ones; document [n, width of a label's vector]
    """

    pooled: np.ndarray
    document: np.ndarray


class Reader:
    """Texts to vectors.

    Args:
        network: encoder and projection.
        subwords: the encoder's tokenizer.
        idf: weights of tokens in bags; None: all alike.
        tokens: embeddings of tokens that join the document's vector [vocabulary, d]; None: they do not.
    """

    def __init__(
        self, network: Network, subwords: Subwords, idf: np.ndarray | None, tokens: np.ndarray | None
    ) -> None:
        self.network, self.subwords, self.idf, self.tokens = network, subwords, idf, tokens
        self.pooled = PooledCls(network.encoder, network.layers)

    def __call__(self, texts: list[str]) -> Read:
        """The vectors of texts."""
        network = self.network
        was_training = network.training
        if was_training:
            network.eval()
        rows = self.subwords(texts)
        pooled = np.empty((len(texts), network.project.in_features + 1), np.float32)
        document = np.empty((len(texts), network.project.out_features), np.float32)
        order = np.argsort(rows.lengths, kind="stable")
        with torch.inference_mode(), torch_threads():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                found = self.pooled(rows.take(some))
                pooled[some, :-1] = found.numpy()
                document[some] = network.project(found.to(network.project.weight.device)).cpu().numpy()
        if was_training:
            network.train()
        pooled[:, -1] = 1
        if self.tokens is not None:
            bags = bags_of(self.subwords(texts, special=False), self.subwords.size, self.idf)
            document[:, : self.tokens.shape[1]] += multiply(bags, self.tokens)
        return Read(pooled, document)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Matrices of labels and clusters.

    Shapes:
        labels [L, width], clusters [K, layers * D + 1] (0 rows: there are none), codes int64 [L]
    """

    labels: np.ndarray
    clusters: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, network: Network, labels: np.ndarray, codes: np.ndarray) -> Vectors:
        """From a trained network; the retriever's bias is one more column."""
        clusters = np.zeros((0, network.project.in_features + 1), np.float32)
        if network.retrieve is not None:
            weight, bias = (
                p.detach().cpu().numpy() for p in (network.retrieve.weight, network.retrieve.bias)
            )
            clusters = np.concatenate([weight, bias[:, None]], axis=1)
        return cls(labels, clusters, codes)


class Member:
    """A model that retrieves and ranks."""

    def __init__(self, reader: Reader, vectors: Vectors) -> None:
        self.reader, self.vectors = reader, vectors
        self.retriever: MetaShortlist | None = None
        if len(vectors.clusters):
            order = np.argsort(vectors.codes, kind="stable")
            counts = np.bincount(vectors.codes, minlength=len(vectors.clusters))
            ptr = np.concatenate([[0], np.cumsum(counts)])
            self.retriever = MetaShortlist(vectors.clusters, ptr, order.astype(np.int32))

    def clusters(self, read: Read, beam: int) -> Candidates | None:
        """The best clusters with their scores; None where there are none, so that all labels are ranked."""
        return None if self.retriever is None else self.retriever.top_clusters(read.pooled, beam)

    def best(self, read: Read, clusters: Candidates | None, size: int | None) -> Candidates:
        """The ``size`` labels of these clusters that rank highest, as ``rank`` scores them; None: all of them.

        Where there are no clusters, it is the best of all labels, ``STAY`` at most.
        """
        labels = self.vectors.labels
        if self.retriever is not None and clusters is not None:
            return best_members(read.document, clusters, self.retriever, labels, size)
        parts = [
            Candidates.from_dense(read.document[a : a + AT_ONCE] @ labels.T, min(size or STAY, STAY))
            for a in range(0, len(read.document), AT_ONCE)
        ]
        return self.rank(read, Candidates.stack(parts))

    def below_best(self, candidates: Candidates, clusters: Candidates | None, best: Candidates) -> np.ndarray:
        """How far each candidate's cluster is below the best one of its document [entries], ``FAR`` at most.

        Where there are no clusters, a label that is among the best is as near as can be.
        """
        if clusters is None:
            return candidates.scores_in(best.with_scores(np.zeros(len(best.ids), np.float32)), float(FAR))
        highest = np.zeros(len(clusters), np.float32)
        there = np.flatnonzero(clusters.counts)
        if len(there):
            highest[there] = np.maximum.reduceat(clusters.scores, clusters.indptr[:-1][there])
        found = scores_of_clusters(candidates, self.vectors.codes, clusters, -np.inf)
        return np.asarray(np.maximum(found - np.repeat(highest, candidates.counts), FAR), np.float32)

    def rank(self, read: Read, candidates: Candidates) -> Candidates:
        """The candidates with the product of document and label as score."""
        return score(read.document, candidates, self.vectors.labels)
