"""The course of GalaXC's training, top to bottom as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from longtail.data.warm_start import half_of_each_row
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.common.fusion import Fusion
from longtail.systems.common.holding_out import ENOUGH_TO_HOLD_OUT, TAUGHT_BY, held_documents, held_out
from longtail.systems.common.rows import Rows
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import Held
from longtail.systems.common.witness import Witness
from longtail.systems.galaxc import modules
from longtail.systems.galaxc.config import GalaxcConfig
from longtail.systems.galaxc.folded import Folded, Queries
from longtail.systems.galaxc.initial import Initial
from longtail.systems.galaxc.space import Space
from longtail.training.checkpoint import open_for
from longtail.training.surroundings import torch_threads
from longtail.types import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """All that a model keeps."""

    rows: Rows
    initial: Initial
    folded: Folded
    witness: Witness | None


def learn(train: Dataset, valid: Dataset | None, config: GalaxcConfig, run: Run) -> Trained:
    """Initial embeddings, the graph, Modules I to IV, then everything folded into matrices."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    if valid is None and config.score == "learnt" and len(train) >= ENOUGH_TO_HOLD_OUT:
        train, valid = held_out(train, config.seed)
        run.say(f"no validation data: {len(valid)} training documents were held out to learn the score from")
    kept = np.empty(0, np.int64)
    whole = train
    if config.score == "learnt" and config.complete:
        train, kept = incomplete(train, config.complete, config.seed)
    rows = Rows.of(train, config.text, config.fields, run)
    course = modules.Course(config, train, rows, run, checkpoints)

    initial = modules.initial(course)
    with run.phase("embed"):
        documents = initial(rows.X, train.documents.joined(config.fields))
        labels = initial(rows.Z, modules.label_texts_of(train))
    space = Space.of(train, rows.Y, rows.own, documents, labels, config.graph, run)
    around = modules.neighbourhoods(course, space, documents)

    held, vectors = None, np.empty(0, np.float32)
    witness = None
    if valid is not None:
        if config.linear and config.score == "learnt":
            witness = Witness.learn(train, config, run)
        held = held_documents(valid, rows, config.fields, witness)
        vectors = initial(held.X, valid.documents.joined(config.fields))
    watched = None if held is None else _watched(held, vectors, space, config)

    learnt = modules.untrained(course, documents.shape[1])
    modules.learn(course, space, documents, around, learnt, watched, None)
    folded = modules.fold(course, space, learnt)
    if config.negatives.hard:
        hard = modules.hard_negatives(course, folded, documents, around)
        modules.learn(course, space, documents, around, learnt, watched, hard)
        folded = modules.fold(course, space, learnt)

    if config.score == "learnt" and held is not None:
        with run.phase("fusion"), torch_threads():
            folded = with_fusion(folded, held, vectors, config)
            if len(kept):
                witnessed = None if witness is None else witness(train.documents.take(kept))
                folded = with_completion(folded, whole.Y[kept], rows, documents, kept, witnessed, config)
    return Trained(rows, initial, folded, witness)


def _watched(
    held: Held, vectors: np.ndarray, space: Space, config: GalaxcConfig
) -> tuple[Held, np.ndarray, np.ndarray]:
    """The validation documents that are looked at after each epoch, their embeddings and neighbours."""
    rows = held.some_rows(config.seed, cost=config.graph.resolutions)
    nowhere = np.full(len(rows), -1)
    near, _ = space.near(vectors[rows], config.graph.links, nowhere)
    return held.rows(rows), vectors[rows], near


def with_fusion(folded: Folded, held: Held, vectors: np.ndarray, config: GalaxcConfig) -> Folded:
    """The model with weights of its evidence from validation documents: as they are, and half revealed."""
    rows = held.sample_rows(TAUGHT_BY, config.seed)
    held, vectors = held.rows(rows), vectors[rows]
    cold = _taught(folded, held, vectors, None, config)
    revealed = half_of(held.Y, config.seed)
    rest = csr_array(held.Y - held.Y.multiply(revealed.astype(bool)))
    rest.eliminate_zeros()
    some = np.flatnonzero((np.diff(revealed.indptr) > 0) & (np.diff(rest.indptr) > 0))
    weights = replace(folded.weights, fusion_weights=cold.weights, fusion_start=cold.start)
    if len(some):
        left_out = revealed if held.left_out is None else csr_array(revealed + held.left_out)
        warm_held = replace(held, Y=rest, left_out=left_out).rows(some)
        warm = _taught(folded, warm_held, vectors[some], revealed[some], config)
        weights = replace(weights, warm_weights=warm.weights, warm_start=warm.start)
    return Folded(weights, folded.space, folded.labels, folded.texts, config, folded.layered_arrays)


def with_completion(
    folded: Folded,
    Y: csr_array,
    rows: Rows,
    documents: np.ndarray,
    kept: np.ndarray,
    linear: Candidates | None,
    config: GalaxcConfig,
) -> Folded:
    """The model with weights for documents of the graph that get further labels.

    Args:
        Y: all labels of the training documents ``kept``, of which ``rows`` has half.
        linear: what the linear tree says of them.
    """
    seen = rows.Y[kept]
    hidden = csr_array(Y - Y.multiply(seen.astype(bool)))
    hidden.eliminate_zeros()
    hidden.data[:] = 1
    counts = np.bincount(rows.Y.indices, minlength=Y.shape[1])
    held = Held(rows.X[kept], hidden, seen, counts, rows.X.shape[0], linear)
    fusion = _taught(folded, held, documents[kept], seen, config, kept)
    weights = replace(folded.weights, known_weights=fusion.weights, known_start=fusion.start)
    return Folded(weights, folded.space, folded.labels, folded.texts, config, folded.layered_arrays)


def incomplete(train: Dataset, size: int, seed: int) -> tuple[Dataset, np.ndarray]:
    """Training data without half of the labels of some documents, and the numbers of these."""
    several = np.flatnonzero(np.diff(train.Y.indptr) >= 2)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(several, min(size, len(several)), replace=False))
    mark = np.ones(train.Y.nnz, bool)
    some = train.Y[chosen]
    entries = np.concatenate(
        [np.arange(train.Y.indptr[i], train.Y.indptr[i + 1]) for i in chosen] or [np.empty(0, np.int64)]
    )
    mark[entries] = half_of_each_row(some.indptr, seed)
    rows = np.repeat(np.arange(len(train)), np.diff(train.Y.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[mark], minlength=len(train)))])
    Y = csr_array((train.Y.data[mark], train.Y.indices[mark], indptr), shape=train.Y.shape)
    return replace(train, Y=Y), chosen


def _taught(
    folded: Folded,
    held: Held,
    vectors: np.ndarray,
    revealed: csr_array | None,
    config: GalaxcConfig,
    nodes: np.ndarray | None = None,
) -> Fusion:
    nodes = np.full(len(vectors), -1) if nodes is None else nodes
    queries = Queries(held.X, vectors, nodes, revealed=revealed, linear=held.linear)
    seen = folded.look(queries)
    candidates = folded.shortlist(queries, seen)
    return teach(candidates, folded.evidence(queries, seen, candidates), held, config.balance)


def half_of(Y: csr_array, seed: int) -> csr_array:
    """About half of each document's labels, at random; none of documents with a single one."""
    shown = half_of_each_row(Y.indptr, seed)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    counts = np.bincount(rows[shown], minlength=Y.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((np.ones(shown.sum(), np.float32), Y.indices[shown], indptr), shape=Y.shape)
