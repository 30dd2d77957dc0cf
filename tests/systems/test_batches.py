from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems import batches as module
from longtail.systems.batches import WIDEST, batches, check_k, checked_k, widest
from tests.systems.noting import TRAIN, Noting


def test_batches_have_their_own_rows_of_revealed_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 2)
    system = Noting().fit(TRAIN)
    found = list(batches(system, ["0", "1", "2"], 1, [["c"], [], []], None))
    assert [len(documents) for documents, _, _ in found] == [2, 1]
    first, second = (known for _, known, _ in found)
    assert first is not None
    assert first.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert second is None, "no label is revealed there"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "5", None])
def test_what_is_no_number_of_labels(wrong: object) -> None:
    with pytest.raises(UsageError, match="k must be a whole number of at least 1"):
        check_k(wrong)
    check_k(np.int64(3))


def test_the_most_pairs_of_a_document() -> None:
    assert widest(None) == 0
    assert widest(csr_array((0, 3))) == 0
    assert widest(csr_array(np.array([[1, 1, 0], [0, 0, 1]]))) == 2


def test_more_labels_than_there_are_take_no_memory() -> None:
    assert checked_k(5, 3) == 5
    assert checked_k(10**12, 3) == WIDEST
    assert checked_k(10**12, 10**6) == 10**6
    with pytest.raises(UsageError):
        checked_k(0, 3)
