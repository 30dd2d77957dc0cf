"""Train the linear label tree: features, label clusters, classifiers per node, label correlations."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from scipy.sparse import csr_array, vstack

from longtail.cluster.label_tree import build_label_tree, label_centroids, unit_rows
from longtail.graph.label_graph import label_graph
from longtail.run import Run
from longtail.shortlist.tree_cost import with_cost
from longtail.shortlist.tree_training import train_tree
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import USUAL_PRUNE, SolverConfig
from longtail.systems.linear.config import LinearConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Documents

SHORT_ROW = 200
"""Documents that have at most so many features on average are short."""
SHORT_TREES, SHORT_PRUNE = 2, 0.08
"""By default, short documents have two trees, since they are cheap, and weights that are pruned more."""


def training_matrices(
    train: Dataset, config: LinearConfig, store: FeatureStore
) -> tuple[TfidfFeatures | None, csr_array, csr_array]:
    """The vocabulary (None: the user's own columns), features X and labels Y of the training documents.

    With label texts as examples, X and Y have one more row per label that has a text.
    """
    if train.documents.features is not None:
        return None, matrix_rows(train.documents, config), train.Y
    named = [i for i, text in enumerate(train.labels.texts) if text]
    if config.label_text == "none" or not named:
        features, X = store.fit_tfidf(config.text, config.fields)
        return features, X, train.Y
    examples_of = [train.labels.texts[i] for i in named]
    features, rows = store.fit_tfidf(config.text, config.fields, examples_of)
    X = csr_array(vstack([rows, features.transform(examples_of)], format="csr"))
    names = (np.ones(len(named), np.float32), np.array(named), np.arange(len(named) + 1))
    examples = csr_array(names, shape=(len(named), len(train.labels)))
    return features, X, csr_array(vstack([train.Y, examples], format="csr"))


def matrix_rows(documents: Documents, config: LinearConfig) -> csr_array:
    """The rows of documents that are a feature matrix."""
    X = cast(csr_array, documents.features)
    return unit_rows(X) if config.normalise else X


def train_trees(X: csr_array, Y: csr_array, config: LinearConfig, run: Run) -> list[TreeWeights]:
    """The trees, each over clusters that were found from another seed."""
    with run.phase("tree"):
        short = X.nnz <= SHORT_ROW * X.shape[0]
        solver = _solver(X, Y, short, config)
        centroids = label_centroids(X, Y, clustered=not config.tree.balanced)
    trees = []
    for number in range(_number_of_trees(short, Y.shape[1], config)):
        seed = config.seed + number
        with run.phase("tree"):
            tree = build_label_tree(
                centroids,
                leaf_size=config.tree.leaf_size,
                arity=config.tree.arity,
                seed=seed,
                balanced=config.tree.balanced,
            )
        children = sum(int(level[-1]) for level in tree.children)
        with run.phase("classifiers", total=children) as phase:
            trees.append(train_tree(tree, X, Y, solver, seed, phase))
    return trees


def correlations(Y: csr_array, config: LinearConfig, run: Run) -> csr_array | None:
    """The graph of labels that co-occur; None where scores are not passed along it."""
    game = config.game
    if not game.mix:
        return None
    with run.phase("graph"):
        return label_graph(
            Y,
            head_above=game.head_above,
            length=game.length,
            restart=game.restart,
            keep=game.keep,
            seed=config.seed,
        )


def _number_of_trees(short: bool, n_labels: int, config: LinearConfig) -> int:
    if config.tree.trees != "auto":
        return config.tree.trees
    # Without clusters to find, all trees are the same.
    return SHORT_TREES if short and n_labels > config.tree.leaf_size else 1


def _solver(X: csr_array, Y: csr_array, short: bool, config: LinearConfig) -> SolverConfig:
    solver = config.solver
    if solver.prune == "auto":
        solver = replace(solver, prune=SHORT_PRUNE if short else USUAL_PRUNE)
    return with_cost(solver, X, Y, leaf_size=config.tree.leaf_size, link=config.link, seed=config.seed)
