"""Modules I and IV: documents of a batch against the classifiers of some labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.graph.hop_sums import hop_terms
from longtail.graph.layers import layers_of
from longtail.systems.common.label_loss import LabelLoss, log_odds
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.neighbourhoods import Neighbourhoods
from longtail.systems.galaxc.network import Network
from longtail.systems.galaxc.space import Space
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task

KEPT_BYTES = 3 * 2**30
"""The sums of all labels' neighbours are kept for an epoch where they are no larger than this."""


class Look:
    """What nodes and new documents see of the graph, as the network needs it.

    Args:
        seed: of the neighbours that are sampled.
    """

    def __init__(self, network: Network, space: Space, fanouts: tuple[int, ...], seed: int) -> None:
        self.network, self.space, self.fanouts, self.seed = network, space, fanouts, seed

    def terms(self, nodes: np.ndarray) -> np.ndarray:
        """The sums over neighbours of nodes of the graph."""
        return hop_terms(self.space.vectors, self.space.graph, nodes, self.fanouts, seed=self.seed)

    def documents(self, lists: np.ndarray, vectors: np.ndarray, device: torch.device) -> torch.Tensor:
        """The resolutions of documents with these neighbours [n, links] and initial embeddings [n, D]."""
        space, n = self.space, len(lists)
        if self.network.layered is not None:
            layers = layers_of(space.graph, None, self.fanouts, seed=self.seed, neighbours_of=lists)
            start = np.concatenate([vectors, space.vectors[layers.nodes[0]]])
            return self.network.encoded(layers, torch.from_numpy(start).to(device), n)
        terms = hop_terms(
            space.vectors,
            space.graph,
            None,
            self.fanouts,
            seed=self.seed,
            neighbours_of=lists,
            own_vectors=vectors,
        )
        return self.network.convolved(torch.from_numpy(terms).to(device))

    def labels(self, labels: np.ndarray, device: torch.device, samples: int = 1) -> torch.Tensor:
        """The resolutions of some labels; with several samples, of the mean of their sums."""
        nodes = self.space.graph.node_of_label[labels]
        if self.network.layered is not None:
            layers = layers_of(self.space.graph, nodes, self.fanouts, seed=self.seed)
            start = np.concatenate([self.space.vectors[nodes], self.space.vectors[layers.nodes[0]]])
            return self.network.encoded(layers, torch.from_numpy(start).to(device), len(nodes))
        terms = self.terms(nodes)
        for more in range(1, samples):
            terms += hop_terms(
                self.space.vectors, self.space.graph, nodes, self.fanouts, seed=self.seed + more
            )
        return self.network.convolved(torch.from_numpy(terms / np.float32(samples)).to(device))


class Learn(Task):
    """Learns which labels a document has, from its positives and a sample of its negatives.

    Args:
        network: the small weights.
        free: [L, D] the free parts of classifiers.
        logits: [L, K] of the attention.
        space: nodes and graph.
        documents: initial embeddings of training documents [n, D].
        neighbourhoods: which neighbours they have.
        Y: documents x labels.
        own: the label that each document is, or -1.
        hard: [n, m] wrong labels that look right; None: this is Module I.
        validation: figures after an epoch.
    """

    def __init__(
        self,
        network: Network,
        free: RowTable,
        logits: RowTable,
        space: Space,
        documents: np.ndarray,
        neighbourhoods: Neighbourhoods,
        Y: csr_array,
        own: np.ndarray,
        hard: np.ndarray | None,
        config: GalaxcConfig,
        validation: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        stage = config.stages.joint if hard is None else config.stages.refine
        self.module = self.network = network
        self.free, self.logits = free, logits
        self.space, self.documents, self.neighbourhoods = space, documents, neighbourhoods
        self.n_documents = len(documents)
        self.fanouts = config.graph.fanouts
        self.refines = hard is not None
        self.validation = validation
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.trust = trust_of(counts, config.classifier.shrink)
        self.loss_function = LabelLoss(
            Y,
            config.loss,
            own=own,
            hard=hard,
            few=config.negatives.hard,
            random=0 if self.refines else config.negatives.drawn(Y.shape[1]),
            corrected=config.negatives.corrected and not self.refines,
            tail_weight=config.tail_weight,
            batch_size=stage.batch_size,
        )
        if config.loss == "bce":
            if not self.refines:
                network.bias.data.fill_(log_odds(Y))
            network.bias.requires_grad_()
        # Module IV: what makes embeddings stays as it is.
        for part in (network.convolution, network.layered, network.documents, network.labels):
            if part is not None:
                part.requires_grad_(not self.refines)
        if network.labels is not None:
            network.gate.requires_grad_(not self.refines)
        self._lists = np.empty((0, 0), np.int32)
        self._look = Look(network, space, self.fanouts, 0)
        self._label_terms: np.ndarray | None = None

    def tables(self) -> Mapping[str, RowTable]:
        """The free parts of classifiers and the attention."""
        tables = {"free": self.free}
        return {**tables, "logits": self.logits} if self.network.attends else tables

    def on_epoch_start(self, epoch: int) -> None:
        """Draw neighbourhoods anew."""
        seed = int(torch.randint(2**31, (1,)))
        self._lists, self.loss_function.unasked = self.neighbourhoods.draw(seed)
        self._look = Look(self.network, self.space, self.fanouts, seed)
        self._label_terms = None
        node_of_label = self.space.graph.node_of_label
        needed = 4 * len(node_of_label) * 2 ** len(self.fanouts) * self.documents.shape[1]
        if self.network.labels is not None and needed <= KEPT_BYTES:
            self._label_terms = self._look.terms(node_of_label)
        if self.refines:
            # No dropout and no new statistics in what is frozen.
            self.network.eval()

    def validate(self) -> Mapping[str, float] | None:
        """Figures on validation documents."""
        return self.validation()

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean loss of some documents over the labels in question."""
        network = self.network
        if self.refines:
            network.eval()
        question = self.loss_function.draw(batch, self.device)
        columns = question.columns
        seen = self._look.documents(self._lists[batch.rows], self.documents[batch.rows], self.device)
        classifiers = self.free.take(columns) * self.trust[question.labels].to(self.device)
        if network.labels is not None:
            if self._label_terms is not None:
                terms = torch.from_numpy(self._label_terms[columns]).to(self.device)
                resolutions = network.convolved(terms)
            else:
                resolutions = self._look.labels(columns, self.device)
            classifiers = classifiers + network.node_part(resolutions)
        logits = self.logits.take(columns) if network.attends else None
        scores = network.scores(network.documents(seen), classifiers, logits)
        return self.loss_function(scores, question)


def trust_of(counts: np.ndarray, shrink: float) -> torch.Tensor:
    """How much the free parts of labels with so many documents count [labels, 1]."""
    share = np.ones(len(counts)) if shrink == 0 else counts / (counts + shrink)
    return torch.from_numpy(share.astype(np.float32))[:, None]
