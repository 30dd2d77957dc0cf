"""From trained networks to the matrices of prediction: everything that does not depend on a document, once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.meta_labels import MetaLabels, cluster_graph
from longtail.shortlist.embedding import Embedding
from longtail.systems.eclare.context import TrainingContext
from longtail.systems.eclare.model import Network, Targets
from longtail.systems.eclare.predict import Clusters, Weights
from longtail.systems.eclare.probabilities import LogOdds, fit_log_odds
from longtail.training.rows import RowTable
from longtail.training.train_config import Loss

FITTED_ON = 1000
"""Training documents that log odds are fitted on."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What Modules II and IV yield: the network, its row tables and what it predicts."""

    network: Network
    tokens: RowTable
    refinement: RowTable | None
    targets: Targets

    def classifiers(self) -> tuple[np.ndarray, np.ndarray]:
        """All classifiers, and the weights of their parts."""
        return self.network.export_classifiers(
            self.targets.texts, self.tokens, self.refinement, self.targets.counts
        )

    def documents(self) -> Embedding:
        """How documents are embedded."""
        return Embedding(self.tokens.weight.numpy(), self.network.document.exported().numpy())


def export_clusters(context: TrainingContext, trained: Trained, clusters: MetaLabels) -> Clusters:
    """The shortlister; the slope of its log odds is in its classifiers."""
    config, inputs = context.config, context.inputs
    codes, n = clusters.codes, clusters.n_clusters
    classifiers, _ = trained.classifiers()
    member: csr_array = csr_array(
        (np.ones(len(codes), np.float32), codes, np.arange(len(codes) + 1)), shape=(len(codes), n)
    )
    found = log_odds(context, trained, classifiers, config.meta_loss, member)
    sizes = np.bincount(codes, minlength=n)
    return Clusters(
        tokens=trained.tokens.weight.numpy(),
        residual=trained.network.document.exported().numpy(),
        classifiers=classifiers * np.float32(found.slope),
        bias=np.array([found.intercept], np.float32),
        member_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.argsort(codes, kind="stable").astype(np.int32),
        graph=cluster_graph(inputs.G, codes, n, config.graph.keep),
    )


def export_model(context: TrainingContext, clusters: Clusters, ranker: Trained) -> Weights:
    """The whole model.

    Half of the slope of the log odds (its root) is in the token embeddings and half in the classifiers. Blocks keep
    factors as they are, so that what new labels get from token embeddings and from classifiers has the same unit.
    """
    network, width = ranker.network, context.width
    classifiers, parts = ranker.classifiers()
    found = log_odds(context, ranker, classifiers, context.config.rank_loss)
    root = np.float32(np.sqrt(found.slope))
    # In place: with many labels a copy is gigabytes.
    classifiers *= root
    G = context.inputs.G
    none = np.zeros((0, width), np.float32)
    attention = network.attention
    shared = context.config.tokens == "frozen"
    return Weights(
        tokens=ranker.tokens.weight.numpy() * root,
        residual=network.document.exported().numpy(),
        classifiers=classifiers,
        bias=np.array([found.intercept], np.float32),
        cluster_tokens=none if shared else clusters.tokens,
        cluster_residual=clusters.residual,
        cluster_classifiers=clusters.classifiers / root if shared else clusters.classifiers,
        cluster_bias=clusters.bias,
        member_ptr=clusters.member_ptr,
        members=clusters.members,
        graph_indptr=G.indptr.astype(np.int64),
        graph_indices=G.indices.astype(np.int32),
        graph_data=G.data.astype(np.float32),
        cluster_graph_indptr=clusters.graph.indptr.astype(np.int64),
        cluster_graph_indices=clusters.graph.indices.astype(np.int32),
        cluster_graph_data=clusters.graph.data.astype(np.float32),
        blocks=network.exported_blocks(),
        attention_transform=none if attention is None else attention.exported_transform().numpy() / root,
        attention_weigh=none if attention is None else attention.exported_weigh().numpy(),
        parts=parts * root,
    )


def log_odds(
    context: TrainingContext,
    trained: Trained,
    classifiers: np.ndarray,
    loss: Loss,
    member: csr_array | None = None,
) -> LogOdds:
    """Fitted on a sample of training documents; cross entropy yields log odds itself.

    Validation documents choose the epoch and nothing else.

    Args:
        member: clusters of labels [labels, clusters]; None: the labels themselves.
    """
    plain = LogOdds(1.0, float(trained.network.bias.detach()))
    if loss == "bce":
        return plain
    inputs = context.inputs
    rows = np.sort(np.random.default_rng(context.seed).permutation(inputs.X.shape[0])[:FITTED_ON])
    Y = inputs.Y[rows]
    own = own_pairs(inputs.self_label[rows], Y.shape[1]) if member is None else None
    if member is not None:
        Y = csr_array(Y @ member)
    return fit_log_odds(classifiers, trained.documents()(inputs.X[rows]), Y, own) or plain


def own_pairs(self_label: np.ndarray, n_labels: int) -> csr_array:
    """Documents x labels: the label that each document is itself."""
    rows = np.flatnonzero(self_label >= 0)
    cells = (np.ones(len(rows), np.float32), (rows, self_label[rows]))
    return csr_array(cells, shape=(len(self_label), n_labels))
