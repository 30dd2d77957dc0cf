"""GalaXC's network and its loss (Saini et al., WWW 2021, Sec. 4; Fig. 1 and 2).

v_n are the frozen initial embeddings of nodes, N_k(n) the neighbours of node n that are sampled for hop k:

    convolution       a_n^0 = v_n,  a_n^k = (1 + eps_k) a_n^(k-1) + sum of a_m^(k-1) over m in N_k(n)
    transformation    x_n^k = a_n^k + dropout(relu(R_k a_n^k))
    attention         alpha_lk = exp(e_lk) / sum over k' of exp(e_lk')
    score             s_l = K <w_l, sum over k of alpha_lk x^k> + b

A *resolution* is the embedding of a node after a number of hops; there are K of them (with the initial embedding,
hop 0, if ``graph.include_initial``). A classifier w_l has a free part f_l and, if ``classifier.node``, the
resolutions z_l^k of the label's node, transformed by T_k:

    classifier        w_l = n_l / (n_l + shrinkage) f_l + 1/K sum over k of g_k T_k(z_l^k)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import nn

from longtail.blocks.dropout import part_of
from longtail.blocks.hop_attention import hop_scores
from longtail.blocks.hop_convolution import HopConvolution
from longtail.blocks.hop_transform import HopTransform
from longtail.blocks.layered_encoder import LayeredEncoder
from longtail.graph.hop_sums import hop_terms
from longtail.graph.layers import Layers, layers_of
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods, first_visible
from longtail.systems.galaxc.node_index import NodeIndex
from longtail.training.label_loss import LabelLoss, log_odds
from longtail.training.rows import RowTable
from longtail.training.sampled_negatives import BatchSampler
from longtail.training.task import Batch, Task

NODE_WEIGHT = 3.0
"""Initial weight g_k of the label's node in its classifier."""

RARE = 50
"""Labels of at most so many documents are trained without the document itself as their neighbour."""

KEPT_BYTES = 3 * 2**30
"""The neighbour sums of all labels are kept for an epoch if they are no larger than this."""


class Network(nn.Module):
    """The small weights; the free parts of classifiers and the logits of the attention are tables beside them."""

    def __init__(self, width: int, config: GalaxcConfig) -> None:
        super().__init__()
        graph, transform, classifier = config.graph, config.transform, config.classifier
        self.include_initial, self.unit = graph.include_initial, transform.unit
        self.attends = classifier.attention
        self.attention_rate = classifier.attention_rate
        hops, resolutions = len(graph.fanouts), graph.resolutions
        self.convolution = HopConvolution(hops) if graph.encoder == "galaxc" else None
        self.layered = (
            None
            if graph.encoder == "galaxc"
            else LayeredEncoder(graph.encoder, width, hops, transform.dropout)
        )
        self.documents = HopTransform(width, resolutions, transform.dropout, norm=transform.batch_norm)
        self.labels: HopTransform | None = None
        if classifier.node:
            self.labels = HopTransform(width, resolutions, transform.dropout, norm=transform.batch_norm)
            self.gate = nn.Parameter(torch.full((resolutions, 1), NODE_WEIGHT))
        # One number for all labels. Ranking losses do not depend on it: it stays 0 unless a task trains it.
        self.bias = nn.Parameter(torch.zeros(()), requires_grad=False)

    def convolved(self, terms: torch.Tensor) -> torch.Tensor:
        """Products of sampled sums [n, 2^hops, D] -> resolutions [n, K, D]."""
        assert self.convolution is not None
        return self._resolutions(self.convolution(terms), terms[:, :1])

    def encoded(self, layers: Layers, start: torch.Tensor, n: int) -> torch.Tensor:
        """The same for GIN and GraphSAGE: initial embeddings of all nodes that are reached, the n roots first."""
        assert self.layered is not None
        return self._resolutions(self.layered(layers, start), start[:n, None])

    def _resolutions(self, hops: torch.Tensor, initial: torch.Tensor) -> torch.Tensor:
        resolutions = torch.cat([initial, hops], dim=1) if self.include_initial else hops
        return nn.functional.normalize(resolutions, dim=2) if self.unit else resolutions

    def node_part(self, resolutions: torch.Tensor) -> torch.Tensor:
        """The part of a classifier that comes from the label's node: [n, K, D] -> [n, D]."""
        assert self.labels is not None
        return cast(torch.Tensor, (self.labels(resolutions) * self.gate).mean(dim=1))

    def scores(
        self, documents: torch.Tensor, classifiers: torch.Tensor, logits: torch.Tensor | None
    ) -> torch.Tensor:
        """Scores of all pairs: transformed documents [n, K, D], classifiers [m, D], logits [m, K] -> [n, m].

        The factor K makes a resolution count 1 with uniform attention, whatever K is.
        """
        if logits is None:
            return documents.sum(dim=1) @ classifiers.T + self.bias
        return (
            documents.shape[1] * hop_scores(documents, classifiers, self.attention_rate * logits) + self.bias
        )

    def attention(self, logits: torch.Tensor) -> torch.Tensor:
        """alpha [m, K]: rows sum to 1."""
        return torch.softmax(self.attention_rate * logits, dim=1)


class GraphEncoder:
    """Resolutions of documents and labels from sampled neighbours.

    Args:
        seed: of the neighbours that are sampled.
    """

    def __init__(self, network: Network, nodes: NodeIndex, fanouts: tuple[int, ...], seed: int) -> None:
        self.network, self.nodes, self.fanouts, self.seed = network, nodes, fanouts, seed

    def documents(self, neighbours: np.ndarray, vectors: np.ndarray, device: torch.device) -> torch.Tensor:
        """Resolutions [n, K, D] of documents with these neighbours [n, m] and initial embeddings [n, D]."""
        nodes, n = self.nodes, len(neighbours)
        if self.network.layered is not None:
            layers = layers_of(nodes.graph, None, self.fanouts, seed=self.seed, neighbours_of=neighbours)
            start = np.concatenate([vectors, nodes.vectors[layers.nodes[0]]])
            return self.network.encoded(layers, torch.from_numpy(start).to(device), n)
        terms = hop_terms(
            nodes.vectors,
            nodes.graph,
            None,
            self.fanouts,
            seed=self.seed,
            neighbours_of=neighbours,
            own_vectors=vectors,
        )
        return self.network.convolved(torch.from_numpy(terms).to(device))

    def labels(self, labels: np.ndarray, device: torch.device, samples: int = 1) -> torch.Tensor:
        """Resolutions [n, K, D] of some labels; with several samples, of the mean of their sums."""
        nodes = self.nodes.graph.node_of_label[labels]
        if self.network.layered is not None:
            vectors = self.nodes.vectors
            layers = layers_of(self.nodes.graph, nodes, self.fanouts, seed=self.seed)
            start = np.concatenate([vectors[nodes], vectors[layers.nodes[0]]])
            return self.network.encoded(layers, torch.from_numpy(start).to(device), len(nodes))
        terms = self.terms(nodes, self.seed)
        for sample in range(1, samples):
            terms += self.terms(nodes, self.seed + sample)
        return self.network.convolved(torch.from_numpy(terms / np.float32(samples)).to(device))

    def terms(self, nodes: np.ndarray, seed: int) -> np.ndarray:
        """The products of sampled sums of nodes, float32 [n, 2^hops, D]."""
        return hop_terms(self.nodes.vectors, self.nodes.graph, nodes, self.fanouts, seed=seed)

    def terms_without(self, nodes: np.ndarray, hidden: np.ndarray, seed: int) -> np.ndarray:
        """The same where some nodes are no neighbours of these."""
        graph = self.nodes.graph
        first, counts = graph.indptr[nodes], np.diff(graph.indptr)[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        entries = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
        neighbours = graph.indices[entries]
        is_hidden = np.zeros(graph.n_nodes, bool)
        is_hidden[hidden] = True
        keys = np.random.default_rng(seed).random(len(rows))
        lists = first_visible(
            rows, neighbours, ~is_hidden[neighbours], keys, len(nodes), max(self.fanouts, default=1)
        )
        return hop_terms(self.nodes.vectors, graph, nodes, self.fanouts, seed=seed, neighbours_of=lists)


class ScoreLabels(Task):
    """Modules I and IV: documents against the classifiers of their positives and of sampled negatives.

    Processes share a batch unless there is batch normalisation, which needs all documents of the batch, or an
    encoder of layers, which shares the nodes that they reach.

    Args:
        network: the small weights.
        free: [L, D] the free parts of classifiers.
        logits: [L, K] of the attention.
        documents: initial embeddings of training documents [n, D].
        neighbourhoods: the neighbours of training documents.
        Y: documents x labels.
        self_label: the label that each document is, or -1.
        hard: [n, m] hard negatives; None: Module I.
        validate: metrics after an epoch.
    """

    label_tables = ("free", "logits")

    def __init__(
        self,
        network: Network,
        free: RowTable,
        logits: RowTable,
        nodes: NodeIndex,
        documents: np.ndarray,
        neighbourhoods: Neighbourhoods,
        Y: csr_array,
        self_label: np.ndarray,
        hard: np.ndarray | None,
        config: GalaxcConfig,
        validate: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        self.module = self.network = network
        self.splits = config.graph.encoder == "galaxc" and not config.transform.batch_norm
        self.free, self.logits = free, logits
        self.nodes, self.documents, self.neighbourhoods = nodes, documents, neighbourhoods
        self.n_documents = len(documents)
        self.fanouts = config.graph.fanouts
        self.refines = hard is not None
        self._validate = validate
        self.counts = counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.leaves_out = config.neighbourhood.leave_out
        self.shrinkage = shrinkage_factors(counts, config.classifier.shrinkage)
        stage = config.stages.refine if self.refines else config.stages.joint
        self.sampler = BatchSampler(
            Y,
            self_label=self_label,
            hard=hard,
            n_hard=config.negatives.hard,
            n_random=0 if self.refines else config.negatives.n_random(Y.shape[1]),
            corrected=config.negatives.corrected and not self.refines,
            batch_size=stage.batch_size,
        )
        self.label_loss = LabelLoss(config.loss, counts, tail_weight=config.tail_weight)
        if config.loss == "bce":
            if not self.refines:
                network.bias.data.fill_(log_odds(Y))
            network.bias.requires_grad_()
        # Module IV: everything that makes embeddings is frozen.
        for part in (network.convolution, network.layered, network.documents, network.labels):
            if part is not None:
                part.requires_grad_(not self.refines)
        if network.labels is not None:
            network.gate.requires_grad_(not self.refines)
        self._neighbours = np.empty((0, 0), np.int32)
        self._encoder = GraphEncoder(network, nodes, self.fanouts, 0)
        self._label_terms: np.ndarray | None = None

    def tables(self) -> Mapping[str, RowTable]:
        """The free parts of classifiers and the attention."""
        tables = {"free": self.free}
        return {**tables, "logits": self.logits} if self.network.attends else tables

    def on_epoch_start(self, epoch: int) -> None:
        """Sample neighbourhoods."""
        seed = int(torch.randint(2**31, (1,)))
        self._neighbours, self.sampler.ignored = self.neighbourhoods.sample(seed)
        self._encoder = GraphEncoder(self.network, self.nodes, self.fanouts, seed)
        self._label_terms = None
        node_of_label = self.nodes.graph.node_of_label
        needed = 4 * len(node_of_label) * 2 ** len(self.fanouts) * self.documents.shape[1]
        if self.network.labels is not None and needed <= KEPT_BYTES:
            self._label_terms = self._encoder.terms(node_of_label, seed)

    def validate(self) -> Mapping[str, float] | None:
        """Metrics on validation documents."""
        return self._validate()

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the sampled labels."""
        network = self.network
        if self.refines:
            # Neither dropout nor new batch statistics in what is frozen.
            network.eval()
        sampled, world, n = self.sampler.sample(batch), self.world, len(batch.rows)
        part, own = world.rows(n), world.columns(sampled.columns)
        columns, rows = sampled.columns[own], batch.rows[part]
        resolutions = self._encoder.documents(self._neighbours[rows], self.documents[rows], self.device)
        classifiers = self.free.take(columns)
        classifiers = classifiers * self.shrinkage[torch.from_numpy(columns)].to(self.device)
        if network.labels is not None:
            # Neighbours are drawn for all labels of the batch at once.
            terms = torch.from_numpy(self.label_terms(sampled.columns, batch)[own]).to(self.device)
            with part_of(own, len(sampled.columns)):
                classifiers = classifiers + network.node_part(network.convolved(terms))
        logits = self.logits.take(columns) if network.attends else None
        with part_of(part, n):
            documents = network.documents(resolutions)
        scores = network.scores(world.gather_rows(documents, n), classifiers, logits)
        scores = world.gather_columns(scores, sampled.columns)
        return self.label_loss(scores[part], sampled.of_documents(part))

    def label_terms(self, labels: np.ndarray, batch: Batch) -> np.ndarray:
        """The products of sampled sums of labels; the documents of the batch are no neighbours of rare ones.

        A label of few documents would be recognised by the document itself, which is no neighbour of it in
        prediction. Among many documents it hardly counts.
        """
        graph, encoder = self.nodes.graph, self._encoder
        if self._label_terms is None:
            terms = encoder.terms(graph.node_of_label[labels], encoder.seed)
        else:
            terms = self._label_terms[labels]
        if self.leaves_out and self.fanouts:
            own = np.unique(self.sampler.Y[batch.rows].indices)
            own = own[self.counts[own] <= RARE]
            hidden = graph.node_of_document[batch.rows]
            terms[np.searchsorted(labels, own)] = encoder.terms_without(
                graph.node_of_label[own], hidden, batch.seed
            )
        return terms


def shrinkage_factors(counts: np.ndarray, shrinkage: float) -> torch.Tensor:
    """n / (n + shrinkage) of labels with n documents [labels, 1]; 1 without shrinkage."""
    factors = np.ones(len(counts)) if shrinkage == 0 else counts / (counts + shrinkage)
    return torch.from_numpy(factors.astype(np.float32))[:, None]
