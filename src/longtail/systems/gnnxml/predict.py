"""Prediction of GNN-XML: numpy and numba on exported arrays, no torch.

The score of a label is the paper's product (Eq. 2): the probability of its cluster (to a power, which is 1 in the
paper) times the probability of the label in that cluster. Labels of the ``beam`` most probable clusters are ranked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from longtail.shortlist.candidate_features import FLOOR, LOG_FLOOR, EncodedDocuments
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.dense import Dense
from longtail.shortlist.scoring import sigmoid
from longtail.storage import VerifiedFolder, write_arrays
from longtail.storage.schema import Array, load_arrays
from longtail.systems.gnnxml.clusters import Clusters
from longtail.systems.gnnxml.config import GnnxmlConfig, NetworkConfig
from longtail.systems.gnnxml.packing import Packed
from longtail.systems.gnnxml.rankers import Rankers, RankerSearch, ranker_features

FEATURES = ("product", "cluster", "ranker")
"""The feature columns of a candidate: the logarithm of the paper's score, that of the probability of its cluster,
and the raw score of its ranker."""

NOT_RANKED = -12.0
"""The ranker's score of a candidate whose cluster is not among the ranked ones, or that is in no cluster."""

_FLOAT = np.dtype(np.float32)


class NetworkPredictor:
    """The graph matching model as exported arrays: the normalisation of layers is part of their weights.

    Args:
        arrays: by name, as ``network_schema`` declares them.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], config: NetworkConfig) -> None:
        self.concatenate = config.concatenate
        self.shared = [_Layer.of(arrays, f"shared/{k}") for k in range(config.n_shared)]
        self.branches = [
            [_Layer.of(arrays, f"{b}/{k}") for k in range(config.n_shared, config.layers)]
            for b in range(config.branches)
        ]
        self.heads = [_Head.of(arrays, str(b)) for b in range(config.branches)]

    def __call__(self, packed: Packed) -> tuple[np.ndarray, np.ndarray]:
        """Scores of clusters before the sigma, at alpha = 0.5, float32 [n, K], and the readouts of all branches,
        normalised, side by side, float32 [n, branches * D]."""
        shared = [packed.vectors]
        for layer in self.shared:
            shared.append(layer(shared[-1], packed))
        scores, readouts = [], []
        for layers, head in zip(self.branches, self.heads, strict=True):
            orders = list(shared)
            for layer in layers:
                orders.append(layer(orders[-1], packed))
            sums = [packed.membership @ h for h in (orders if self.concatenate else orders[-1:])]
            readouts.append(np.concatenate(sums, axis=1) * head.scale + head.shift)
            scores.append(head.classifier(readouts[-1]))
        mean = np.asarray(sum(scores) / np.float32(len(scores)), np.float32)
        return mean, np.concatenate(readouts, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Head:
    """What a branch makes of its readout: the normalisation, and the classifier of clusters."""

    scale: np.ndarray
    shift: np.ndarray
    classifier: Dense

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> _Head:
        classifier = Dense.of(arrays[f"{prefix}/classifier"], arrays[f"{prefix}/bias"], relu=False)
        return cls(arrays[f"{prefix}/scale"], arrays[f"{prefix}/shift"], classifier)


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """An exported GIN layer."""

    factor: np.ndarray
    inner: Dense
    outer: Dense

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> _Layer:
        inner, outer = (
            Dense.of(arrays[f"{prefix}/{name}"], arrays[f"{prefix}/{name}_bias"], relu=True)
            for name in ("inner", "outer")
        )
        return cls(arrays[f"{prefix}/factor"], inner, outer)

    def __call__(self, h: np.ndarray, packed: Packed) -> np.ndarray:
        return self.outer(self.inner(self.factor * h + packed.edges @ h))


def network_schema(config: NetworkConfig, width: int, n_clusters: int) -> dict[str, Array]:
    """The arrays of the exported network: ``shared/LAYER/NAME``, ``BRANCH/LAYER/NAME`` and ``BRANCH/NAME``.

    Args:
        width: d, the dimension of a vertex.
    """
    widths = [width] + [config.width] * config.layers
    size = config.n_readout(width)
    shapes: dict[str, tuple[int, ...]] = {}
    layers = [(f"shared/{k}", k) for k in range(config.n_shared)]
    for b in range(config.branches):
        shapes |= {f"{b}/classifier": (n_clusters, size), f"{b}/bias": (n_clusters,)}
        shapes |= {f"{b}/scale": (size,), f"{b}/shift": (size,)}
        layers += [(f"{b}/{k}", k) for k in range(config.n_shared, config.layers)]
    for prefix, k in layers:
        before, after = widths[k], widths[k + 1]
        shapes |= {
            f"{prefix}/factor": (1,),
            f"{prefix}/inner": (after, before),
            f"{prefix}/inner_bias": (after,),
            f"{prefix}/outer": (after, after),
            f"{prefix}/outer_bias": (after,),
        }
    return {name: Array(_FLOAT, shape) for name, shape in shapes.items()}


class Predictor:
    """The arrays of a trained model, ready to predict.

    Args:
        network: exported arrays of the graph matching model.
        n_labels: L.
        n_words: columns of TF-IDF rows.
        width: d, the dimension of a vertex.
    """

    def __init__(
        self,
        clusters: Clusters,
        network: Mapping[str, np.ndarray],
        rankers: Rankers,
        config: GnnxmlConfig,
        *,
        n_labels: int,
        n_words: int,
        width: int,
    ) -> None:
        self.clusters, self.arrays, self.rankers, self.config = clusters, network, rankers, config
        self.cluster_of = clusters.cluster_of(n_labels)
        self.network = NetworkPredictor(network, config.network)
        self._rank = RankerSearch(rankers, clusters, n_words + config.n_vector(width))

    def rank(
        self, X: csr_array, readouts: np.ndarray, embeddings: np.ndarray, chosen: Candidates
    ) -> Candidates:
        """The labels of the chosen clusters with the raw scores of their rankers."""
        return self._rank(ranker_features(X, readouts, embeddings, self.config.ranker), chosen)

    def save(self, folder: Path) -> None:
        """Write one file each for clusters, network and rankers."""
        self.clusters.save(folder / "clusters.safetensors")
        write_arrays(folder / "network.safetensors", self.arrays)
        self.rankers.save(folder / "rankers.safetensors")

    @classmethod
    def load(
        cls, folder: VerifiedFolder, config: GnnxmlConfig, *, n_labels: int, n_words: int, width: int
    ) -> Self:
        """Read and check what ``save`` wrote."""
        clusters = Clusters.load(folder.path("clusters.safetensors"), labels=n_labels)
        schema = network_schema(config.network, width, len(clusters))
        network = load_arrays(folder.path("network.safetensors"), schema)
        rankers = Rankers.load_for(
            folder.path("rankers.safetensors"),
            clusters,
            n_features=n_words + config.n_vector(width),
        )
        return cls(clusters, network, rankers, config, n_labels=n_labels, n_words=n_words, width=width)


class EncodedGraphs(EncodedDocuments):
    """A batch of documents: the probabilities of all clusters, and the rankers' scores in the most probable ones.

    Args:
        X: TF-IDF rows [n, words].
        packed: keyword graphs.
    """

    def __init__(self, predictor: Predictor, X: csr_array, packed: Packed) -> None:
        embeddings = packed.embeddings()
        self.readable = (np.diff(X.indptr) > 0) | embeddings.any(axis=1)
        self.predictor = predictor
        scores, readouts = predictor.network(packed)
        self.log_clusters = np.log(np.maximum(sigmoid(scores), FLOOR))
        """float32 [n, K]."""
        chosen = Candidates.from_dense(scores, min(predictor.config.ranker.beam, scores.shape[1]))
        self.ranked = predictor.rank(X, readouts, embeddings, chosen)
        """The labels of the chosen clusters with the raw scores of their rankers."""

    def shortlist(self, size: int) -> Candidates:
        """The best labels of the chosen clusters by the paper's product."""
        config = self.predictor.config.ranker
        log_label = log_probability(self.ranked.scores, config.solver.loss)
        log_cluster = np.float32(config.cluster_weight) * self._log_cluster(self.ranked)
        return self.ranked.with_scores(np.exp(log_cluster + log_label)).best(size)

    def features(self, candidates: Candidates) -> np.ndarray:
        """The columns of ``FEATURES``; neither factor of the product is below ``FLOOR``."""
        config = self.predictor.config.ranker
        cluster = self._log_cluster(candidates)
        ranker = candidates.scores_in(self.ranked, fill=NOT_RANKED)
        log_label = np.maximum(log_probability(ranker, config.solver.loss), np.float32(LOG_FLOOR))
        return np.stack([np.float32(config.cluster_weight) * cluster + log_label, cluster, ranker], axis=1)

    def _log_cluster(self, candidates: Candidates) -> np.ndarray:
        """The logarithm of the probability of each candidate's cluster, the floor for labels in no cluster."""
        clusters = self.predictor.cluster_of[candidates.ids]
        found = self.log_clusters[candidates.rows, np.maximum(clusters, 0)]
        return np.where(clusters >= 0, found, np.float32(LOG_FLOOR))


def log_probability(raw: np.ndarray, loss: str) -> np.ndarray:
    """The logarithm of the probability of a label given its cluster, from its ranker's raw score."""
    if loss == "logistic":
        return np.asarray(-np.logaddexp(0, -raw.astype(np.float64)), np.float32)
    return np.asarray(-(np.maximum(0, 1 - raw) ** 3), np.float32)
