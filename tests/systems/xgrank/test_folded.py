"""Scores of several models made comparable, and candidates of all witnesses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from longtail.shortlist.candidates import Candidates
from longtail.systems.xgrank.folded import EVIDENCE, Folded, comparable, together
from longtail.systems.xgrank.member import FAR
from longtail.systems.xgrank.system import Xgrank
from tests.planted import Parts


def ranked(*rows: list[float]) -> Candidates:
    ids = np.concatenate([np.arange(len(row), dtype=np.int32) for row in rows])
    return Candidates.from_counts(
        np.array([len(row) for row in rows]), ids, np.concatenate([np.array(row, np.float32) for row in rows])
    )


def test_a_margin_is_a_log_softmax_and_shifts_do_not_matter() -> None:
    raw = ranked([1.0, 2.0, 3.0], [], [5.0])
    found = comparable(raw, "softmax")
    np.testing.assert_allclose(np.exp(found[:3]).sum(), 1, rtol=1e-6)
    assert found[3] == 0
    shifted = ranked([101.0, 102.0, 103.0], [], [-5.0])
    np.testing.assert_allclose(comparable(shifted, "softmax"), found, atol=1e-5)
    huge = comparable(ranked([1e4, -1e4]), "softmax")
    assert np.isfinite(huge).all()


def test_a_zscore_has_mean_zero_and_spread_one() -> None:
    found = comparable(ranked([1.0, 2.0, 3.0], [4.0, 4.0]), "zscore")
    assert found[:3].mean() == pytest.approx(0, abs=1e-6)
    assert found[:3].std() == pytest.approx(1)
    assert found[3:].tolist() == [0, 0]
    stretched = comparable(ranked([10.0, 20.0, 30.0]), "zscore")
    np.testing.assert_allclose(stretched, found[:3], atol=1e-6)


def test_members_are_averaged() -> None:
    one, other = np.log(np.array([0.2, 0.8], np.float32)), np.log(np.array([0.6, 0.4], np.float32))
    np.testing.assert_allclose(np.exp(together([one, other], "softmax")), [0.4, 0.6], rtol=1e-5)
    assert together([np.array([1.0, 2.0]), np.array([3.0, 2.0])], "zscore").tolist() == [2, 2]
    assert together([one], "zscore") is one


def test_evidence_by_name(trained: Xgrank, tiny: Parts) -> None:
    folded = trained.folded_
    texts = tiny.test.documents.joined()[:5]
    X = trained.features_.transform(texts)
    reads = folded.read(texts)
    found = folded.look(reads, X, None)
    evidence = folded.evidence(found, X, None)
    assert evidence.shape == (len(found.candidates.ids), len(EVIDENCE))
    assert (evidence[:, 0] == found.margin).all()
    member = folded.members[0]
    retrieved = member.best(reads[0], member.clusters(reads[0], 4), None)
    inside = found.candidates.scores_in(retrieved, np.nan)
    assert (found.retriever[np.isnan(inside)] == FAR).all()
    assert (found.retriever[~np.isnan(inside)] > FAR).all()
    assert found.retriever.max() == 0


def test_a_learnt_score_looks_at_the_labels_that_are_ranked_highest(trained: Xgrank, tiny: Parts) -> None:
    whole, config = trained.folded_, replace(trained.config, lexical=0)
    texts = tiny.test.documents.joined()[:5]
    X, reads = trained.features_.transform(texts), trained.folded_.read(texts)

    def looked(**changes: Any) -> Candidates:
        folded = Folded(
            whole.members, whole.texts, replace(config, **changes), "softmax", whole.calibrator, whole.fusion
        )
        found = folded.look(reads, X, None)
        return found.candidates.with_scores(found.margin)

    every = looked(score="ranker")
    assert every.counts.min() > 3
    cut = looked(score="learnt", shortlist=3)
    assert (cut.counts == 3).all()
    assert np.array_equal(cut.top_k(3).labels, every.top_k(3).labels)


def test_other_witnesses_bring_candidates(trained: Xgrank, tiny: Parts) -> None:
    folded = trained.folded_
    texts = tiny.test.documents.joined()[:1]
    X, reads = trained.features_.transform(texts), folded.read(tiny.test.documents.joined()[:1])
    alone = folded.look(reads, X, None).candidates
    missing = next(i for i in range(len(trained.labels_)) if i not in alone.ids)
    linear = Candidates.from_counts(
        np.array([1]), np.array([missing], np.int32), np.array([-0.5], np.float32)
    )
    more = folded.look(reads, X, linear)
    assert set(more.candidates.ids.tolist()) == {*alone.ids.tolist(), missing}
    said = folded.evidence(more, X, linear)[more.candidates.ids == missing]
    assert said[0, 3] == pytest.approx(-0.5)
    assert said[0, 4] == pytest.approx(np.exp(-0.5))
