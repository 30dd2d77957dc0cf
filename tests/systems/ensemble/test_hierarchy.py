"""The scores of a candidate's relatives in the same document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import longtail
from longtail.shortlist.candidates import Candidates
from longtail.systems.ensemble.hierarchy import COLUMNS, relatives
from longtail.systems.ensemble.system import Ensemble
from tests.planted import planted

# 0 and 1 are children of 2, and 3 of 1.
PARENTS = csr_array(
    np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]], np.float32),
)


def candidates(*rows: dict[int, float]) -> Candidates:
    ids = np.array([label for row in rows for label in row], np.int32)
    scores = np.array([score for row in rows for score in row.values()], np.float32)
    return Candidates.from_counts(np.array([len(row) for row in rows]), ids, scores)


def test_parents_children_and_siblings_are_looked_up_in_the_same_document() -> None:
    scored = candidates({0: 0.5, 1: 0.25, 2: 1.0}, {1: 0.25, 3: 0.75})
    found = relatives(scored, scored, PARENTS)
    assert found.tolist() == [
        [1.0, 0, 0.25],
        [1.0, 0, 0.5],
        [0, 0.5, 0],
        [0, 0.75, 0],
        [0.25, 0, 0],
    ]


def test_candidates_need_not_be_among_the_scored_ones() -> None:
    found = relatives(candidates({0: 0, 3: 0}), candidates({1: 0.5, 2: 0.25}), PARENTS)
    assert found.tolist() == [[0.25, 0, 0.5], [0.5, 0, 0]]


def test_labels_that_came_after_training_have_no_relatives() -> None:
    found = relatives(candidates({0: 0, 7: 0}), candidates({2: 0.5, 7: 0.25}), PARENTS)
    assert found.tolist() == [[0.5, 0, 0], [0, 0, 0]]


def test_an_ensemble_of_labels_with_parents_has_features_of_the_hierarchy(tmp_path: Path) -> None:
    data = planted(n_documents=300, n_labels=40)
    extra = [{"parents": [data.labels.ids[i // 4]]} for i in range(40)]
    labels = replace(data.labels, extra=extra)
    parts = [replace(data.take(rows), labels=labels) for rows in (range(200), range(200, 300))]
    plain = Ensemble(members="lexical,knn").fit(data.take(range(200)), valid=data.take(range(200, 300)))
    off = Ensemble(members="lexical,knn", reranker={"hierarchy": False}).fit(parts[0], valid=parts[1])
    model = Ensemble(members="lexical,knn").fit(parts[0], valid=parts[1])
    assert plain.feature_names_ == off.feature_names_
    more = [f"{member}.{column}" for member in ("lexical", "knn") for column in COLUMNS]
    assert sorted(model.feature_names_) == sorted([*plain.feature_names_, *more])
    model.save(tmp_path / "model")
    before, after = model.predict(parts[1]), longtail.load(tmp_path / "model").predict(parts[1])
    assert (before.indices == after.indices).all()
    assert (before.scores == after.scores).all()
    combined = Ensemble.combine([m.system for m in model.members_], parts[1])
    assert combined.feature_names_ == model.feature_names_
    assert len(model.explain(parts[1].documents[0], [labels.ids[0]]).labels[0].members) == 2
