from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from longtail.data import ReadOptions, from_frame
from longtail.errors import UsageError
from tests.data.build import tags


def test_lists_and_strings_of_labels() -> None:
    frame = pd.DataFrame(
        {"text": ["a", None, "c"], "tags": [["x", "y"], [], ["x"]], "when": [1.0, np.nan, 3.0]}
    )
    read = from_frame(frame)
    assert read.documents.ids == ["0", "1", "2"]
    assert read.documents.texts == ["a", "", "c"]
    assert tags(read) == [["x", "y"], [], ["x"]]
    assert read.documents.extra is not None
    assert [dict(extra) for extra in read.documents.extra] == [{"when": 1.0}, {}, {"when": 3.0}]
    frame = pd.DataFrame({"key": [5, 6], "words": ["a", "b"], "cls": ["p|q", None]}, index=[9, 8])
    read = from_frame(frame, ReadOptions(id_column="key", text_column="words", label_column="cls"))
    assert read.documents.ids == ["5", "6"]
    assert tags(read) == [["p", "q"], []]


def test_missing_values_of_pandas() -> None:
    frame = pd.DataFrame(
        {"text": pd.array(["a", pd.NA], dtype="string"), "n": pd.array([1, pd.NA], dtype="Int64")}
    )
    read = from_frame(frame)
    assert read.documents.texts == ["a", ""]
    assert read.documents.extra is not None
    assert list(read.documents.extra) == [{"n": 1}, {}]


def test_no_column_of_texts() -> None:
    with pytest.raises(UsageError, match="none of the columns x is the text"):
        from_frame(pd.DataFrame({"x": [1]}))
