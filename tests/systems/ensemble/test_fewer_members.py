"""An ensemble with some of its members: chosen by name or by a latency budget."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems.ensemble import budget
from longtail.systems.ensemble.system import Ensemble
from tests.planted import Parts
from tests.systems.ensemble.worlds import p_at_1, same


def test_there_are_rerankers_from_the_fastest_member_to_all(three: Ensemble) -> None:
    assert three.subsets_ == [("lexical",), ("lexical", "knn"), ("linear", "lexical", "knn")]


def test_with_some_members_it_ranks_by_these(three: Ensemble, parts: Parts) -> None:
    smaller = three.with_members(["knn", "lexical"])
    assert [m.name for m in smaller.members_] == ["lexical", "knn"]
    assert smaller.config.members == ("lexical", "knn")
    assert smaller.config.settings == {}
    assert smaller.subsets_ == [("lexical",), ("lexical", "knn")]
    assert len(smaller.feature_names_) == 5
    assert smaller.capabilities == Ensemble(members="lexical,knn").capabilities
    whole, fewer = three.predict(parts.test), smaller.predict(parts.test)
    assert not same(whole, fewer)
    assert p_at_1(smaller, parts.test) >= 95
    # The whole one stays as it was.
    assert len(three.members_) == 3
    assert same(whole, three.predict(parts.test))
    assert same(three.with_members(["linear", "lexical", "knn"]).predict(parts.test), whole)


@pytest.mark.parametrize("names", [["linear"], ["linear", "lexical"], ["eclare"], [], ["lexical", "else"]])
def test_without_a_reranker_for_them_members_cannot_be_chosen(three: Ensemble, names: list[str]) -> None:
    with pytest.raises(UsageError, match="there is one for lexical; lexical,knn; linear,lexical,knn"):
        three.with_members(names)


def test_subsets_can_be_left_out(parts: Parts) -> None:
    ensemble = Ensemble(members="lexical,dummy", reranker={"subsets": False})
    ensemble.fit(parts.train, valid=parts.valid)
    assert ensemble.subsets_ == [("lexical", "dummy")]
    with pytest.raises(UsageError, match="there is no re-ranker for the members lexical"):
        ensemble.with_members(["lexical"])


@pytest.mark.parametrize(
    ("milliseconds", "names"),
    [(0.01, ["lexical"]), (1.0, ["lexical"]), (3.5, ["lexical", "knn"]), (9.0, ["linear", "lexical", "knn"])],
)
def test_the_largest_set_within_a_latency_is_used(
    three: Ensemble,
    parts: Parts,
    monkeypatch: pytest.MonkeyPatch,
    milliseconds: float,
    names: list[str],
) -> None:
    taken = {"lexical": 1.0, "knn": 2.0, "linear": 4.0}
    monkeypatch.setattr(budget, "milliseconds_per_document", lambda *arguments: taken)
    chosen, found = three.within_latency(parts.test.documents, milliseconds)
    assert [m.name for m in chosen.members_] == names
    assert found == taken
    with pytest.raises(UsageError, match="must be above 0"):
        three.within_latency(parts.test.documents, 0.0)
    with pytest.raises(UsageError, match="the member 'linear': this model was trained on texts"):
        three.within_latency(csr_array(np.ones((1, 3), np.float32)), 1.0)
