"""Train the classifiers of a label tree: for each node, which of its children a document belongs to.

A node learns from the documents that have a label below it, so a label's negatives are the documents of its
siblings (Parabel, Bonsai, XR-Linear all do this).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from longtail import engine
from longtail.cluster.label_tree import LabelTree
from longtail.run import Phase
from longtail.shortlist.tree_weights import TreeWeights
from longtail.solvers.classifiers import SolverConfig, SparseWeights, train_classifiers
from longtail.storage.sparse import sorted_csr

_TASK_BYTES = 32 << 20
"""What one task may take for its dense matrices: little enough for memory, enough to share the work on a row."""
_FEWEST_COLUMNS = 16
"""Fewer classifiers a task would waste the vector units."""


@dataclass(frozen=True, slots=True)
class _Task:
    """The classifiers of some children (``first`` to ``last``) of one node."""

    level: int
    node: int
    first: int
    last: int
    cost: int
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """What all tasks read: documents, those of each node, and the nodes of each document, level by level."""

    X: csr_array
    documents: list[csc_array]
    members: list[csr_array]
    config: SolverConfig
    seed: int


def train_tree(
    tree: LabelTree,
    X: csr_array,
    Y: csr_array,
    config: SolverConfig,
    seed: int = 0,
    phase: Phase | None = None,
    also: csr_array | None = None,
) -> TreeWeights:
    """Train all nodes of ``tree`` on documents X with labels Y.

    Args:
        phase: is told of each label trained.
        also: ones [documents, nodes above the labels]: further documents that these nodes learn from, as negatives.
    """
    # One type of index and value, so that the kernels are compiled once; rows on the disk stay there (scipy itself
    # would widen the column numbers to the type of the offsets).
    data, indices = X.data.astype(np.float32, copy=False), X.indices.astype(np.int32, copy=False)
    X = sorted_csr(data, indices, X.indptr.astype(np.int64), X.shape)
    members = tree.memberships(Y)
    documents = [csc_array(level) for level in members[:-1]]
    if also is not None:
        documents[-1] = csc_array(members[-2] + also)
    tasks = _tasks(tree, X, documents)

    shared = _Shared(X, documents, members, config, seed)

    def report(task: _Task) -> None:
        if phase is not None:
            phase.advance(task.last - task.first)

    largest_first = sorted(tasks, key=lambda task: -task.cost)
    numbers = (task.number for task in largest_first)
    trained = dict(zip(numbers, engine.in_use().map(_train, shared, largest_first, done=report), strict=True))
    return TreeWeights.join(tree, _given_away(tree, tasks, trained))


def _given_away(
    tree: LabelTree, tasks: list[_Task], trained: dict[int, SparseWeights]
) -> Iterator[list[SparseWeights]]:
    """What was trained for each node in order; what is given is forgotten here, as all trees take much memory."""
    # A node without children (more clusters than labels) has no task, but a place among the others.
    nodes: dict[tuple[int, int], list[int]] = {
        (level, node): [] for level, bounds in enumerate(tree.children) for node in range(len(bounds) - 1)
    }
    for task in tasks:
        nodes[task.level, task.node].append(task.number)
    for numbers in nodes.values():
        yield [trained.pop(number) for number in numbers]


def _train(shared: _Shared, task: _Task) -> SparseWeights:
    inside = shared.documents[task.level]
    rows = inside.indices[inside.indptr[task.node] : inside.indptr[task.node + 1]].astype(np.int64)
    positives = shared.members[task.level + 1][rows][:, task.first : task.last]
    return train_classifiers(shared.X, rows, positives, shared.config, shared.seed + task.number)


def _tasks(tree: LabelTree, X: csr_array, documents: list[csc_array]) -> list[_Task]:
    lengths = np.diff(X.indptr).astype(np.int64)
    tasks: list[_Task] = []
    for level, bounds in enumerate(tree.children):
        inside = documents[level]
        words = np.concatenate([[0], np.cumsum(lengths[inside.indices])])
        words = words[inside.indptr[1:]] - words[inside.indptr[:-1]]
        for node in range(len(bounds) - 1):
            # A column has a weight a feature (at most one a word of the documents) and a dual a document.
            column = min(int(words[node]), X.shape[1]) + int(inside.indptr[node + 1] - inside.indptr[node])
            fitting = _TASK_BYTES // (4 * (1 + column))
            width = max(_FEWEST_COLUMNS, fitting)
            for first in range(int(bounds[node]), int(bounds[node + 1]), width):
                last = min(first + width, int(bounds[node + 1]))
                cost = int(words[node]) * (last - first)
                tasks.append(_Task(level, node, first, last, cost, len(tasks)))
    return tasks
