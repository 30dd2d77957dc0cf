import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.graph.membership import Membership, checked_heads, heads
from tests.graph.worlds import matrix


def test_both_directions() -> None:
    label_ptr, documents, document_ptr, labels = Membership(matrix([[1, 0, 1], [0, 0, 0], [1, 0, 0]])).arrays
    assert label_ptr.tolist() == [0, 2, 2, 3]
    assert documents.tolist() == [0, 2, 0]
    assert document_ptr.tolist() == [0, 2, 2, 3]
    assert labels.tolist() == [0, 2, 0]


def test_a_head_label_has_more_documents_than_the_limit() -> None:
    Y = matrix([[1, 1, 0], [1, 1, 0], [1, 0, 0]])
    assert heads(Y, 2).tolist() == [True, False, False]
    assert heads(Y, 3).tolist() == [False, False, False]


def test_marks_fit_the_labels() -> None:
    assert not checked_heads(None, 3).any()
    with pytest.raises(UsageError, match="3 labels"):
        checked_heads(np.ones(2, bool), 3)
