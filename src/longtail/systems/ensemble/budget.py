"""Which members fit a latency budget.

A re-ranker is fitted for each of these sets: the fastest member, the two fastest, and so on to all of them, ordered
by the typical cost that a system declares. In prediction the members are timed on documents at hand, and the
largest set within the budget is used.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from longtail.errors import UsageError
from longtail.systems.ensemble.members import Member
from longtail.text.feature_store import FeatureStore
from longtail.types import Documents

Subset = tuple[str, ...]

TIMED = 64
"""Documents that members are timed on at most."""


def nested_subsets(members: Sequence[Member]) -> list[Subset]:
    """Sets of members from the fastest one alone to all, each in the order of the ensemble."""
    by_cost = sorted(members, key=lambda member: member.system.typical_ms)
    order = [member.name for member in members]
    return [
        tuple(sorted((member.name for member in by_cost[:size]), key=order.index))
        for size in range(1, len(members) + 1)
    ]


def milliseconds_per_document(
    members: Sequence[Member], documents: Documents, candidates: int
) -> dict[str, float]:
    """What each member takes, on documents at hand; shared features count for the member that asks first."""
    if not len(documents):
        raise UsageError("members are timed on documents: give at least one")
    some = documents[:TIMED]
    found = {}
    for warm_up in (True, False):
        store = FeatureStore(some)
        for member in members:
            start = time.perf_counter()
            encoded = member.system._encode(some, store)
            encoded.features(encoded.shortlist(candidates))
            if not warm_up:
                found[member.name] = 1e3 * (time.perf_counter() - start) / len(some)
    return found


def largest_within(
    subsets: Sequence[Subset], taken: dict[str, float], milliseconds: float
) -> tuple[Subset, bool]:
    """The largest set whose members take at most so long together, or the smallest; and whether it fits."""
    if not milliseconds > 0:
        raise UsageError(f"a latency budget must be above 0 milliseconds, not {milliseconds}")
    fitting = [names for names in subsets if sum(taken[name] for name in names) <= milliseconds]
    return (fitting[-1], True) if fitting else (subsets[0], False)
