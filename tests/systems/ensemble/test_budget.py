"""Which members fit a latency budget."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.systems.ensemble import budget
from longtail.systems.ensemble.budget import largest_within, milliseconds_per_document, nested_subsets
from longtail.systems.ensemble.members import Member
from longtail.types import Documents
from tests.systems.ensemble.worlds import Table, Tabular


class Slow(Tabular):
    typical_ms: ClassVar[float] = 9.0


class Quick(Tabular):
    typical_ms: ClassVar[float] = 0.1


SCORES = np.random.default_rng(0).random((100, 4))


def members() -> list[Member]:
    return [Member("slow", Slow(SCORES)), Member("usual", Tabular(SCORES)), Member("quick", Quick(SCORES))]


def test_subsets_grow_from_the_fastest_member_in_the_order_of_the_ensemble() -> None:
    assert nested_subsets(members()) == [("quick",), ("usual", "quick"), ("slow", "usual", "quick")]
    assert nested_subsets(members()[:1]) == [("slow",)]


def test_members_of_equal_cost_are_taken_in_their_order() -> None:
    equal = [Member(name, Quick(SCORES)) for name in "bca"]
    assert nested_subsets(equal) == [("b",), ("b", "c"), ("b", "c", "a")]


@pytest.mark.parametrize(
    ("milliseconds", "names", "fits"),
    [
        (0.5, ("a",), False),
        (1.0, ("a",), True),
        (2.9, ("a",), True),
        (3.0, ("b", "a"), True),
        (6.9, ("b", "a"), True),
        (7.0, ("c", "b", "a"), True),
        (1e9, ("c", "b", "a"), True),
    ],
)
def test_the_largest_set_within_the_budget_is_chosen(
    milliseconds: float, names: tuple[str, ...], fits: bool
) -> None:
    subsets = [("a",), ("b", "a"), ("c", "b", "a")]
    assert largest_within(subsets, {"a": 1.0, "b": 2.0, "c": 4.0}, milliseconds) == (names, fits)


@pytest.mark.parametrize("milliseconds", [0.0, -1.0, float("nan")])
def test_a_budget_is_above_zero(milliseconds: float) -> None:
    with pytest.raises(UsageError, match="a latency budget must be above 0 milliseconds"):
        largest_within([("a",)], {"a": 1.0}, milliseconds)


class Clock:
    """A clock that moves when a member works."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


def taking(clock: Clock, seconds: float, sizes: list[int]) -> Tabular:
    class Timed(Table):
        def shortlist(self, size: int) -> Any:
            clock.now += seconds
            sizes.append(len(self.scores))
            return super().shortlist(size)

    class Taking(Tabular):
        def _encode(self, documents, store, *, revealed=None, edges=None) -> Table:
            return Timed(super()._encode(documents, store, revealed=revealed, edges=edges).scores)

    return Taking(SCORES)


def test_members_are_timed_per_document_after_a_warm_up(clock: Clock) -> None:
    sizes: list[int] = []
    timed = [Member("a", taking(clock, 0.5, sizes)), Member("b", taking(clock, 0.02, sizes))]
    documents = Documents.of([str(row) for row in range(10)])
    found = milliseconds_per_document(timed, documents, candidates=3)
    assert found == pytest.approx({"a": 50.0, "b": 2.0})
    # Each one once to warm up, once to be timed.
    assert sizes == [10, 10, 10, 10]


def test_only_some_documents_are_timed(clock: Clock) -> None:
    sizes: list[int] = []
    documents = Documents.of([str(row) for row in range(100)])
    found = milliseconds_per_document([Member("a", taking(clock, 0.64, sizes))], documents, candidates=3)
    assert sizes == [budget.TIMED] * 2
    assert found == pytest.approx({"a": 10.0})


def test_without_documents_nothing_can_be_timed() -> None:
    with pytest.raises(UsageError, match="give at least one"):
        milliseconds_per_document(members(), Documents.of([]), candidates=3)
