"""What is revealed as a matrix, and answers without it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from longtail.errors import UsageError
from longtail.systems.revealed import revealed_matrix, revealed_of, without_revealed
from longtail.types import Dataset, LabelSet, TopK

LABELS = LabelSet(["a", "b", "c"], ["", "", ""])


def test_lists_of_ids_and_matrices_are_the_same():
    wanted = [[1, 0, 1], [0, 0, 0]]
    for given in ([["c", "a", "c"], []], (("a", "c"), ()), csr_matrix(2.0 * np.array(wanted))):
        matrix = revealed_matrix(given, 2, LABELS)
        assert isinstance(matrix, csr_array)
        assert matrix.toarray().tolist() == wanted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["a"]], "2 documents but 1 lists of revealed labels"),
        ([["a"], ["x"]], "the revealed label 'x' is none of the model's labels"),
        (["a", "b"], "revealed must be a list of label ids for each document"),
        ("ab", "revealed must be a list of label ids for each document"),
        (
            csr_array((2, 4)),
            r"revealed has shape \(2, 4\), but there are 2 documents and the model has 3 labels",
        ),
        ([["a"], 3], "document 1"),
    ],
)
def test_what_is_no_list_for_each_document(given, message):
    with pytest.raises(UsageError, match=message):
        revealed_matrix(given, 2, LABELS)


def test_those_of_a_data_set_are_matched_by_id():
    data = Dataset.from_texts(["x", "y"], [["new", "c"], ["a"]])
    assert revealed_of(data, LABELS) is None
    found = revealed_of(replace(data, revealed=data.Y), LABELS)
    assert found is not None
    assert found.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_answers_close_up():
    answer = TopK(np.array([[2, 0, 1], [1, -1, -1]], np.int32), np.array([[3, 2, 1], [1, 0, 0]], np.float32))
    left = without_revealed(answer, revealed_matrix([["c"], ["b"]], 2, LABELS), 2)
    assert left.indices.tolist() == [[0, 1], [-1, -1]]
    assert left.scores.tolist() == [[2, 1], [0, 0]]
