"""A trained GalaXC as plain matrices and two indices: what prediction needs, and nothing of torch (Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, diags_array

from longtail.graph.cooccurrence import cooccurrence_counts
from longtail.graph.hop_sums import combine, hop_terms
from longtail.graph.layers import layers_of
from longtail.shortlist.ann import AnnIndex
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.layered import LayeredWeights
from longtail.shortlist.resolutions import attended, transformed
from longtail.shortlist.scoring import score
from longtail.systems.common.fusion import FLOOR, Fusion, sigmoid
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.space import Space, first_of, no_pairs, rows_of, unit
from longtail.systems.galaxc.weights import Weights

FEWEST_VOTES = 0.01
"""What counts as no votes, before the logarithm."""

LEAST_COMPANY = 0.001
"""What counts as no company, before the logarithm."""

COMPANIONS = 50
"""Labels that a label is known to go together with at most, itself included."""

MOST_IN_COMPANY = 100
"""Labels that revealed ones bring into a shortlist at most."""

MOST_VOTED = 200
"""Labels that near documents bring into a shortlist at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Documents to be tagged.

    Attributes:
        X: their rows [n, columns].
        vectors: their initial embeddings [n, D].
        nodes: where they are in the graph already, or -1.
        linked: nodes that they are known to be linked with [n, links], -1 padded; None: of none.
        revealed: labels that are known [n, L]; None: of none.
        linear: what a linear tree says.
    """

    X: csr_array
    vectors: np.ndarray
    nodes: np.ndarray
    linked: np.ndarray | None = None
    revealed: csr_array | None = None
    linear: Candidates | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Documents in the graph: their resolutions (transformed, or as they are) and what is near."""

    raw: np.ndarray
    embedded: np.ndarray
    votes: Candidates


class Folded:
    """A trained model, ready to predict.

    Args:
        weights: the folded matrices.
        space: nodes and graph.
        labels: what labels are found by.
        texts: label texts.
        layered: the weights of GIN or GraphSAGE, by name.
    """

    def __init__(
        self,
        weights: Weights,
        space: Space,
        labels: AnnIndex,
        texts: LabelTexts,
        config: GalaxcConfig,
        layered: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.weights, self.space, self.labels, self.texts, self.config = weights, space, labels, texts, config
        self.layered_arrays, self.layered = layered, None
        kind = config.graph.encoder
        if layered is not None and kind != "galaxc":
            self.layered = LayeredWeights.of(kind, layered)
        self.label_vectors = space.vectors[weights.node_of_label]
        self.label_counts = np.bincount(weights.known_indices, minlength=len(weights.classifiers))
        self.fusion = _fusion(weights.fusion_weights, weights.fusion_start, weights.group)
        self.warm_fusion = _fusion(weights.warm_weights, weights.warm_start, weights.group)
        self.known_fusion = _fusion(weights.known_weights, weights.known_start, weights.group)

    def __call__(self, queries: Queries) -> Candidates:
        """The candidates of each document with their final scores."""
        seen = self.look_together(queries) if self.config.graph.transductive else self.look(queries)
        candidates = self.shortlist(queries, seen)
        if self.config.score == "ann":
            return candidates
        if self.fusion is None:
            ranked = self.rank(seen, candidates)
            return ranked.with_scores(sigmoid(ranked.scores))
        return self.fused(queries, candidates, self.evidence(queries, seen, candidates))

    def fused(self, queries: Queries, candidates: Candidates, evidence: np.ndarray) -> Candidates:
        """Scores by the weights of documents of which nothing is known, or some labels are."""
        assert self.fusion is not None
        cold = self.fusion(candidates, evidence)
        if self.warm_fusion is None or queries.revealed is None:
            return cold
        warm = self.warm_fusion(candidates, evidence).scores
        if self.known_fusion is not None:
            inside = np.repeat(queries.nodes >= 0, candidates.counts)
            warm = np.where(inside, self.known_fusion(candidates, evidence).scores, warm)
        knows = np.repeat(np.diff(queries.revealed.indptr) > 0, candidates.counts)
        return candidates.with_scores(np.where(knows, warm, cold.scores))

    def look(self, queries: Queries, space: Space | None = None) -> Seen:
        """Join documents with the graph and convolve (the first search of Fig. 3)."""
        space = space or self.space
        config = self.config
        k = max(config.graph.links, config.shortlist.voters)
        near, cosines = space.near(queries.vectors, k, queries.nodes)
        lists = first_of(config.graph.links, *self._known(queries), near)
        if not config.neighbourhood.fill and queries.revealed is not None:
            knows = np.diff(queries.revealed.indptr) > 0
            lists[knows] = first_of(config.graph.links, *self._known(queries))[knows]
        voters = config.shortlist.voters
        return self.seen(queries.vectors, lists, space, space.votes(near[:, :voters], cosines[:, :voters]))

    def seen(
        self,
        vectors: np.ndarray,
        lists: np.ndarray,
        space: Space | None = None,
        votes: Candidates | None = None,
    ) -> Seen:
        """Documents with these initial embeddings [n, D] and neighbours [n, links]."""
        raw = self.resolutions(vectors, lists, space or self.space)
        if votes is None:
            votes = Candidates.from_csr(no_pairs(len(raw), len(self.weights.classifiers)))
        return Seen(raw, transformed(raw, self.weights.transform, self.weights.shift), votes)

    def look_together(self, queries: Queries) -> Seen:
        """The same once the documents are nodes themselves, and see each other; some are nodes already."""
        near, _ = self.space.near(queries.vectors, self.config.graph.links, queries.nodes)
        lists = first_of(self.config.graph.links, *self._known(queries), near)
        new = queries.nodes < 0
        n = int(np.count_nonzero(new))
        nodes = queries.nodes.copy()
        nodes[new] = self.space.graph.n_nodes + np.arange(n)
        nothing = no_pairs(n, len(self.weights.classifiers))
        space = self.space.with_documents([""] * n, queries.vectors[new], lists[new], nothing)
        return self.look(replace(queries, nodes=nodes), space)

    def _known(self, queries: Queries) -> list[np.ndarray]:
        """Lists of neighbours that come before the nearest ones: known labels, then links."""
        links = self.config.graph.links
        tables = []
        if queries.revealed is not None:
            known = queries.revealed
            table = np.full((known.shape[0], max(int(np.diff(known.indptr).max(initial=0)), 1)), -1, np.int32)
            rows = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
            place = np.arange(known.nnz) - known.indptr[rows]
            # The rarest first: they say the most.
            order = np.lexsort((known.indices, self.label_counts[known.indices], rows))
            table[rows, place] = self.weights.node_of_label[known.indices[order]]
            tables.append(table[:, : max(links, 1)])
        if queries.linked is not None:
            tables.append(queries.linked)
        tables = tables or [np.empty((len(queries.vectors), 0), np.int32)]
        # A document that is a node, or a label, is not its own neighbour.
        return [np.where(table == queries.nodes[:, None], np.int32(-1), table) for table in tables]

    def resolutions(self, vectors: np.ndarray, lists: np.ndarray, space: Space) -> np.ndarray:
        """Convolved embeddings float32 [n, K, D] of documents with these neighbours."""
        graph, fanouts = self.config.graph, self.config.graph.fanouts
        if self.layered is not None:
            layers = layers_of(space.graph, None, fanouts, seed=self.config.seed, neighbours_of=lists)
            hops = self.layered(layers, np.concatenate([vectors, space.vectors[layers.nodes[0]]]))
        else:
            terms = hop_terms(
                space.vectors,
                space.graph,
                None,
                fanouts,
                seed=self.config.seed,
                neighbours_of=lists,
                own_vectors=vectors,
            )
            hops = np.stack(combine(terms, self.weights.eps), axis=1)
        found = np.concatenate([vectors[:, None], hops], axis=1) if graph.own else hops
        if self.config.transform.unit:
            found = unit(found.reshape(-1, found.shape[2])).reshape(found.shape)
        return np.ascontiguousarray(found, np.float32)

    def shortlist(self, queries: Queries, seen: Seen) -> Candidates:
        """The labels to rank with the shortlist's cosine (the second search of Fig. 3); others have 0."""
        config = self.config.shortlist
        found = self.nearest_labels(seen)
        if self.config.score == "ann":
            return found
        if config.voters:
            found = found.union(seen.votes.best(MOST_VOTED), fill=0.0)
        if config.lexical:
            found = found.union(self.texts.top(queries.X, config.lexical), fill=0.0)
        if queries.revealed is not None:
            found = found.union(
                Candidates.from_csr(self.company(queries.revealed)).best(MOST_IN_COMPANY), fill=0.0
            )
        return found if queries.linear is None else found.union(queries.linear, fill=0.0)

    def company(self, revealed: csr_array) -> csr_array:
        """How often labels go together with those that are revealed: sums of conditional probabilities [n, L]."""
        return csr_array(revealed.astype(np.float32) @ self.together)

    @cached_property
    def together(self) -> csr_array:
        """The probability of a label (columns) where another one (rows) is, for those that are there most often."""
        labels_of = self.space.labels_of
        counts = cooccurrence_counts(labels_of, keep=COMPANIONS)
        each = np.maximum(np.bincount(labels_of.indices, minlength=labels_of.shape[1]), 1)
        return csr_array(diags_array((1 / each).astype(np.float32)) @ counts)

    def nearest_labels(self, seen: Seen) -> Candidates:
        """The labels of nearest embedding."""
        config = self.config.shortlist
        size = min(config.size, len(self.weights.classifiers))
        ids, cosines = self.labels.search(self.query(seen), size, effort=max(config.effort, size))
        return Candidates.from_padded(ids, cosines)

    def query(self, seen: Seen) -> np.ndarray:
        """What a document looks for among the labels: the mean of its resolutions."""
        kind = self.config.shortlist.embedding
        mean = (seen.raw if kind == "raw" else seen.embedded).mean(axis=1)
        if kind == "classifier":
            return np.concatenate([mean, np.zeros((len(mean), 1), np.float32)], axis=1)
        return np.asarray(mean)

    def similar_labels(self, labels: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k labels that are found where each of these is looked for, itself among them; -1 for fewer.

        Shapes:
            labels int [n] -> int32 [n, k], float32 [n, k]: labels and cosines
        """
        index = self.labels
        if self.config.shortlist.embedding == "classifier":
            # The number that makes classifiers equally long says how rare labels are, not what they mean.
            directions = unit(self.weights.classifiers)
            every = np.arange(len(directions), dtype=np.int32)
            index = AnnIndex(every, directions, index.links, index.effort)
        return index.search(rows_of(index, labels), k)

    def rank(self, seen: Seen, candidates: Candidates) -> Candidates:
        """The candidates with the raw scores of their classifiers."""
        found = attended(seen.embedded, candidates, self.weights.classifiers, self.weights.attention)
        return found.with_scores(found.scores + self.weights.bias)

    def evidence(self, queries: Queries, seen: Seen, candidates: Candidates) -> np.ndarray:
        """What is known of each candidate [entries, kinds], as ``weights.EVIDENCE`` names it."""
        by_tree = np.full(len(candidates.ids), np.log(FLOOR), np.float32)
        if queries.linear is not None:
            by_tree = candidates.scores_in(queries.linear, fill=float(np.log(FLOOR)))
        votes = candidates.scores_in(seen.votes, fill=0.0)
        company = np.zeros(len(candidates.ids), np.float32)
        if queries.revealed is not None:
            company = candidates.scores_in(Candidates.from_csr(self.company(queries.revealed)), fill=0.0)
        initial = score(queries.vectors, candidates, self.label_vectors)
        return np.stack(
            [
                self.rank(seen, candidates).scores,
                candidates.scores,
                np.log(votes + np.float32(FEWEST_VOTES)),
                self.texts.match(queries.X, candidates).scores,
                by_tree,
                np.exp(by_tree),
                initial.scores,
                np.log(company + np.float32(LEAST_COMPANY)),
            ],
            axis=1,
        )


def label_keys(embedding: np.ndarray, classifiers: np.ndarray, kind: str) -> np.ndarray:
    """What labels are found by: their embedding, or classifiers that one more number makes equally long.

    Among vectors of one length, the nearest ones are those of the highest product.
    """
    if kind != "classifier":
        return embedding
    squares = np.einsum("ij,ij->i", classifiers, classifiers, dtype=np.float64)
    rest = np.sqrt(np.maximum(squares.max(initial=0) - squares, 0))
    return np.concatenate([classifiers, rest[:, None]], axis=1).astype(np.float32)


def _fusion(weights: np.ndarray, start: np.ndarray, group: np.ndarray) -> Fusion | None:
    return Fusion(weights, start, group) if len(start) else None
