import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data.split_values import group_codes, moments
from longtail.errors import DataError


def test_groups_are_numbered_in_order_of_appearance():
    assert group_codes(["b", "a", "b", 1, "1"]).tolist() == [0, 1, 0, 2, 3]
    assert group_codes([]).tolist() == []


@given(st.lists(st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)), max_size=20))
def test_dates_keep_their_order_in_every_spelling(dates):
    order = np.argsort(np.array(dates, "datetime64[us]"), kind="stable")
    for spelling in (dates, [d.isoformat() for d in dates], np.array(dates, "datetime64[us]")):
        assert (np.diff(moments(spelling)[order]) >= 0).all()


def test_time_zones_count():
    east, west = moments(["2020-01-01T00:00+05:00", "2020-01-01T00:00-05:00"])
    assert west - east == 36_000


def test_kinds_are_not_mixed():
    with pytest.raises(DataError, match="document 2: the time '2020' is of another kind"):
        moments([1, 2.5, "2020"])
