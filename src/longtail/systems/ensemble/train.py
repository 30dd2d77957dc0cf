"""Fits the re-rankers of an ensemble on validation documents.

The same documents calibrate its scores. A re-ranker is surer of the documents that it was fitted on than of others,
so their scores are cross-fitted: those of each half come from a re-ranker that was fitted on the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from longtail.data.warm_start import half_of_each_row
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.budget import nested_subsets
from longtail.systems.ensemble.config import EnsembleConfig, RerankerConfig
from longtail.systems.ensemble.features import Gathered, feature_names
from longtail.systems.ensemble.members import Member
from longtail.systems.ensemble.predict import Rerankers
from longtail.systems.ensemble.reranker import Reranker, frequency_groups
from longtail.systems.ensemble.reranker_fit import fit_reranker
from longtail.text.feature_store import FeatureStore
from longtail.training.validation import ValidationSet, scored_pairs
from longtail.types import Dataset

FEWEST_DOCUMENTS = 50
"""Validation documents below which a re-ranker is not fitted: members are combined by their reciprocal ranks."""

BLOCKS = 20
"""Blocks of neighbouring validation documents."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedRerankers:
    """Re-rankers, and what a calibration is fitted on.

    Attributes:
        rows: the validation documents that they were fitted on.
        unseen: the candidates of these documents by set of members, with cross-fitted scores.
    """

    rerankers: Rerankers
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    unseen: dict[tuple[str, ...], Candidates] = field(default_factory=dict)


def fit_rerankers(
    members: Sequence[Member],
    valid: Dataset | None,
    train_counts: np.ndarray,
    n_train: int,
    config: EnsembleConfig,
    run: Run,
    parents: csr_array | None = None,
) -> FittedRerankers:
    """A re-ranker for all members, one for each faster subset, and one for documents with revealed labels.

    ``parents`` of labels [L, L] make features; None: there are none.
    """
    subsets = nested_subsets(members) if config.reranker.subsets else [tuple(m.name for m in members)]
    by_rank = {names: _by_rank([m for m in members if m.name in names], parents) for names in subsets}
    if valid is None or len(valid) < FEWEST_DOCUMENTS:
        n = 0 if valid is None else len(valid)
        run.warn(
            f"{n} validation documents are too few to fit a re-ranker (at least {FEWEST_DOCUMENTS}): members are "
            "combined by the mean of their reciprocal ranks"
        )
        return FittedRerankers(Rerankers(by_rank, None))
    chosen = np.arange(len(valid))
    if len(chosen) > config.reranker.documents:
        rng = np.random.default_rng(config.seed)
        chosen = np.sort(rng.choice(len(valid), config.reranker.documents, replace=False))
    valid = valid.take(chosen)
    Y, unscored = scored_pairs(valid, len(train_counts))
    # Members have read the documents already: their rows are not needed.
    validation = ValidationSet(csr_array((len(valid), 0)), Y, unscored, train_counts, n_train)
    store = FeatureStore(valid.documents)
    encoded = {m.name: m.system._encode(valid.documents, store) for m in members}
    found, unseen = {}, {}
    for names in subsets:
        gathered = Gathered.of([encoded[name] for name in names], config.candidates, parents)
        features = gathered.features()
        fitted = fit_reranker(gathered.candidates, features, validation, config.reranker)
        found[names] = by_rank[names] if fitted is None else fitted
        if config.calibrate != "none" and fitted is not None:
            unseen[names] = cross_fitted(gathered.candidates, features, validation, config.reranker)
    return FittedRerankers(
        Rerankers(found, _fit_warm(members, valid, validation, config, parents)), chosen, unseen
    )


def halves(n: int) -> np.ndarray:
    """The half, 0 or 1, of each of n documents: blocks of neighbours in turn.

    Documents of one origin are often neighbours in a file. In both halves, they would be no test of each other.
    """
    return np.asarray(np.arange(n) * BLOCKS // max(n, 1) % 2)


def cross_fitted(
    candidates: Candidates,
    features: np.ndarray,
    validation: ValidationSet,
    settings: RerankerConfig,
) -> Candidates:
    """The candidates of each half of the documents, scored by a re-ranker that was fitted on the other half."""
    group, half_of = frequency_groups(validation.train_counts), halves(len(candidates))
    scores = np.zeros(len(candidates.ids), np.float32)
    for half in (0, 1):
        held_out = (half_of == half)[candidates.rows]
        fitted = fit_reranker(candidates.where(~held_out), features[~held_out], validation, settings)
        if fitted is not None:
            scores[held_out] = fitted(candidates.where(held_out), features[held_out], group).scores
    return candidates.with_scores(scores)


def _fit_warm(
    members: Sequence[Member],
    valid: Dataset,
    validation: ValidationSet,
    config: EnsembleConfig,
    parents: csr_array | None,
) -> Reranker | None:
    """The re-ranker of documents of which some labels are revealed: half of those of validation documents."""
    if not any(m.system.capabilities.revealed_labels for m in members):
        return None
    Y = validation.Y
    shown = half_of_each_row(Y.indptr, config.seed)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))

    def part(mask: np.ndarray) -> csr_array:
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[mask], minlength=Y.shape[0]))])
        return csr_array((np.ones(mask.sum(), np.float32), Y.indices[mask], indptr), shape=Y.shape)

    revealed, rest = part(shown), part(~shown)
    some = np.flatnonzero((np.diff(revealed.indptr) > 0) & (np.diff(rest.indptr) > 0))
    if len(some) < FEWEST_DOCUMENTS:
        return None
    revealed, documents = revealed[some], valid.documents.take(some)
    unscored = revealed if validation.unscored is None else csr_array(revealed + validation.unscored[some])
    store = FeatureStore(documents)
    encoded = [
        m.system._encode(
            documents, store, revealed=revealed if m.system.capabilities.revealed_labels else None
        )
        for m in members
    ]
    gathered = Gathered.of(encoded, config.candidates, parents)
    warm = replace(validation, Y=rest[some], unscored=unscored)
    return fit_reranker(gathered.candidates, gathered.features(), warm, config.reranker)


def _by_rank(members: Sequence[Member], parents: csr_array | None) -> Reranker:
    """The mean of the members' reciprocal ranks."""
    columns = [(member.name, member.system.candidate_features) for member in members]
    names = feature_names(columns, hierarchy=parents is not None)
    return Reranker.mean(np.array([name.endswith(".reciprocal_rank") for name in names]) / len(members))
