import dataclasses

import numpy as np
import pytest

from longtail.errors import DataError, UsageError
from longtail.evaluation import Insight


def test_numbers_become_what_json_knows():
    insight = Insight("t", "c", ["a", "b"], {"s": np.array([0.5, 1], np.float32)})
    assert insight.series == {"s": [0.5, 1.0]}
    assert {type(value) for value in insight.series["s"]} == {float}


def test_round_trip_through_a_dict():
    insight = Insight("t", "c", ["a", "b"], {"s": [1, 2], "other": [3, -4]})
    assert Insight.from_dict(dataclasses.asdict(insight)) == insight


def test_nothing_can_be_changed_later():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Insight("t", "c", [], {}).title = "other"


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ({"s": [1.0]}, "'t' has 2 groups, but 1 values of 's'"),
        ({"fits": [1, 2], "long": [1, 2, 3]}, "3 values of 'long'"),
        ({"s": [1, float("nan")]}, "'s' that is not finite"),
        ({"s": [1, float("inf")]}, "'s' that is not finite"),
    ],
)
def test_every_series_has_a_finite_value_for_each_group(series, message):
    with pytest.raises(UsageError, match=message):
        Insight("t", "c", ["a", "b"], series)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": 3}, "lacks title"),
        ({"x": "ab"}, "lacks title, caption, x or series"),
        ({"series": [1]}, "lacks"),
        ({"series": {"s": [1]}}, "damaged: .* 2 groups"),
        ({"series": {"s": 5}}, "damaged"),
        ({"series": {"s": ["one", "two"]}}, "damaged"),
    ],
)
def test_what_json_cannot_have_made_is_refused(change, message):
    data = {"title": "t", "caption": "c", "x": ["a", "b"], "series": {"s": [1, 2]}}
    with pytest.raises(DataError, match=message):
        Insight.from_dict(data | change)


@pytest.mark.parametrize("data", [None, [], "text", {}])
def test_what_is_no_insight_at_all(data):
    with pytest.raises(DataError):
        Insight.from_dict(data)
