"""Classifiers of labels that are added after training: from their texts, their neighbours and a few examples.

Nothing of an existing label changes: new rows are appended, and existing rows of the graph get no edge to new
labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

from longtail.cluster.label_tree import unit_rows
from longtail.graph.new_nodes import extend
from longtail.shortlist.embedding import Embedding
from longtail.shortlist.lexical import LexicalIndex
from longtail.shortlist.scoring import sigmoid
from longtail.systems.eclare.config import EclareConfig
from longtail.systems.eclare.inputs import convolved_texts
from longtail.systems.eclare.predict import Weights
from longtail.text.tfidf import TfidfFeatures
from longtail.training.matrices import document_rows
from longtail.types import Dataset

NEIGHBOURS = 10


@dataclass(frozen=True, slots=True)
class NewLabels:
    """Labels to add.

    Attributes:
        texts: [new, tokens], rows of unit length.
        edges: [new, L], weights of edges to existing labels, of any scale.
        examples: [new, tokens], the sum of each one's example documents (zeros: there are none).
    """

    texts: csr_array
    edges: csr_array
    examples: csr_array

    @classmethod
    def of(
        cls,
        texts: list[str],
        examples: Dataset | None,
        features: TfidfFeatures,
        known: csr_array,
        config: EclareConfig,
    ) -> NewLabels:
        """From texts and example documents; the examples replace a text that is missing."""
        rows = features.transform(texts)
        n_known, n_tokens = known.shape
        sums = csr_array(np.zeros((len(texts), 0), np.float32) @ np.zeros((0, n_tokens), np.float32))
        seen_with = csr_array((len(texts), n_known), dtype=np.float32)
        if examples is not None:
            has = csr_array(examples.Y[:, n_known : n_known + len(texts)].T)
            sums = csr_array(has @ document_rows(features, examples.documents, config.fields))
            seen_with = csr_array(has @ examples.Y[:, :n_known])
        nameless = (np.diff(rows.indptr) == 0).astype(np.float32)
        rows = unit_rows(csr_array(rows + diags_array(nameless) @ sums))
        alike = LexicalIndex(known).top(rows, NEIGHBOURS).to_csr(n_known)
        alone = (np.diff(seen_with.indptr) == 0).astype(np.float32)
        edges = csr_array(seen_with + diags_array(alone) @ alike)
        edges.eliminate_zeros()
        return cls(rows, edges, sums)

    def appended_to(self, known: csr_array) -> csr_array:
        """The texts of all labels, the new ones behind the others."""
        return csr_array(vstack([known, self.texts], format="csr"))

    def join(self, weights: Weights, known_texts: csr_array, config: EclareConfig) -> Weights:
        """The weights with one more row per new label."""
        return _with_new_rows(weights, config, known_texts, self)


def _with_new_rows(weights: Weights, config: EclareConfig, known_texts: csr_array, new: NewLabels) -> Weights:
    graph = extend(weights.graph, new.edges, config.graph.keep)
    old = len(weights.classifiers)
    texts = csr_array(vstack([known_texts, new.texts], format="csr"))
    smooth = [rows[old:] for rows in convolved_texts(texts, graph, config.classifier)]
    parts = [
        through_block(text @ weights.tokens, block, gcn=config.classifier.gale == "gcn" and order > 0)
        for order, (text, block) in enumerate(
            zip(smooth, weights.blocks, strict=True), start=0 if config.classifier.lte else 1
        )
    ]
    if config.classifier.refinement:
        parts.append(refinement_of(weights, new.edges, new.examples))
    classifiers, alpha = combined(parts, weights)
    member_ptr, members = joined_clusters(weights, new.edges, new.texts)
    return replace(
        weights,
        classifiers=np.concatenate([weights.classifiers, classifiers]).astype(np.float32),
        graph_indptr=graph.indptr.astype(np.int64),
        graph_indices=graph.indices.astype(np.int32),
        graph_data=graph.data.astype(np.float32),
        member_ptr=member_ptr,
        members=members,
        parts=np.concatenate([weights.parts, alpha]).astype(np.float32),
    )


def through_block(x: np.ndarray, block: np.ndarray, *, gcn: bool) -> np.ndarray:
    """What the network's block (or its plain GCN layer) does to rows [n, D]."""
    out = np.maximum(x @ block.T, 0) if gcn else x + np.maximum(x, 0) @ block.T
    return np.asarray(out, np.float32)


def refinement_of(weights: Weights, edges: csr_array, examples: csr_array) -> np.ndarray:
    """The neighbours' classifiers, mixed with the direction of the examples at the same length [new, D]."""
    totals = np.maximum(np.asarray(edges.sum(axis=1)).ravel(), 1e-12)
    near = (edges @ weights.classifiers) / totals[:, None]
    seen = Embedding(weights.tokens, weights.residual)(unit_rows(examples))
    lengths = np.linalg.norm(seen, axis=1)
    usual = float(np.linalg.norm(weights.classifiers, axis=1).mean())
    toward = seen * (usual / np.maximum(lengths, 1e-12))[:, None]
    has_both = (lengths > 0) & (np.abs(near).sum(axis=1) > 0)
    return np.asarray(np.where(has_both[:, None], 0.5 * (near + toward), near + toward), np.float32)


def combined(parts: list[np.ndarray], weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """The attention block (or the sum) in numpy: classifiers [new, D] and the weights of their parts."""
    stacked = np.stack(parts, axis=1)
    lengths = np.linalg.norm(stacked, axis=2)
    if not len(weights.attention_transform):
        return stacked.sum(axis=1), lengths
    queries = [sigmoid(np.maximum(part, 0) @ weights.attention_transform.T) for part in parts]
    columns = stacked.shape[1] * stacked.shape[2]
    weigh, offset = weights.attention_weigh[:, :columns], weights.attention_weigh[:, columns:]
    logits = np.concatenate(queries, axis=1) @ weigh.T + offset.sum(axis=1)
    alpha = np.exp(logits - logits.max(axis=1, keepdims=True))
    alpha /= alpha.sum(axis=1, keepdims=True)
    # In models of earlier versions queries are not centred, and even weights are the mean.
    total = len(parts) if offset.size else 1
    return total * (alpha[:, :, None] * stacked).sum(axis=1), alpha * lengths


def joined_clusters(weights: Weights, edges: csr_array, texts: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The members of clusters with each new label in that of its strongest neighbours, or of its own text."""
    K, old = len(weights.cluster_classifiers), len(weights.classifiers)
    if not K:
        return weights.member_ptr, weights.members
    cluster = np.empty(old, np.int64)
    cluster[weights.members] = np.repeat(np.arange(K), np.diff(weights.member_ptr))
    member = csr_array((np.ones(old, np.float32), cluster, np.arange(old + 1)), shape=(old, K))
    votes = csr_array(edges @ member)
    tokens = weights.cluster_tokens if len(weights.cluster_tokens) else weights.tokens
    by_text = Embedding(tokens, weights.cluster_residual)(texts) @ weights.cluster_classifiers.T
    joins = np.array(
        [
            row.indices[row.data.argmax()] if row.nnz else by_text[i].argmax()
            for i, row in enumerate(votes[[i]] for i in range(votes.shape[0]))
        ],
        np.int64,
    )
    everyone = np.concatenate([cluster, joins])
    sizes = np.bincount(everyone, minlength=K)
    return np.concatenate([[0], np.cumsum(sizes)]), np.argsort(everyone, kind="stable").astype(np.int32)
