"""How much training errors weigh, chosen on documents that are held out.

Only where all labels are one cluster: there the trials take seconds, and data differ. In a tree of many
clusters, every node has its own documents and the usual cost has been as good as any other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from longtail.cluster.label_tree import build_label_tree, label_centroids
from longtail.metrics.topk import ndcg
from longtail.shortlist.tree_search import TreeSearch
from longtail.shortlist.tree_training import train_tree
from longtail.solvers.classifiers import USUAL_COST, SolverConfig

TRIED = (USUAL_COST, 0.3)
"""The first one is taken unless another is better."""
SHARE = 5
"""One document of so many is held out."""
FEWEST = 100
"""Fewer documents held out say too little."""
_DEPTH = 5


def with_cost(
    config: SolverConfig, X: csr_array, Y: csr_array, *, leaf_size: int, link: str, seed: int = 0
) -> SolverConfig:
    """The same settings with a cost that is a number: the one given, or the best by nDCG@5 if it is auto."""
    if config.cost != "auto":
        return config
    usual = replace(config, cost=USUAL_COST)
    n = X.shape[0]
    if Y.shape[1] > leaf_size or n // SHARE < FEWEST:
        return usual
    order = np.random.default_rng(seed).permutation(n)
    held_out, rest = np.sort(order[: n // SHARE]), np.sort(order[n // SHARE :])
    tree = build_label_tree(label_centroids(X[rest], Y[rest]), leaf_size=leaf_size, arity=2, seed=seed)
    trials = [replace(config, cost=cost) for cost in TRIED]

    def quality(trial: SolverConfig) -> float:
        search = TreeSearch(train_tree(tree, X[rest], Y[rest], trial, seed))
        labels, _ = search.top_k(X[held_out], _DEPTH, beam=1, link=link)
        return ndcg(labels, Y[held_out], _DEPTH)

    return max(trials, key=quality)
