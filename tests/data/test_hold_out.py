"""The hold-out split: every document in one part, in order, the same for a seed."""

from __future__ import annotations

from scipy.sparse import csr_array

from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT, MOST_VALIDATION, hold_out
from longtail.types import Dataset
from tests.planted import Parts


def test_every_document_is_in_one_part(tiny: Parts) -> None:
    rest, validation = hold_out(tiny.train, seed=0)
    assert sorted([*rest.documents.ids, *validation.documents.ids]) == sorted(tiny.train.documents.ids)
    assert len(validation) == 100
    # Both stay in order, with the labels they had.
    row_of = {id_: row for row, id_ in enumerate(tiny.train.documents.ids)}
    for part in (rest, validation):
        rows = [row_of[id_] for id_ in part.documents.ids]
        assert rows == sorted(rows)
        assert (part.Y.toarray() == tiny.train.Y.toarray()[rows]).all()
        assert part.labels is tiny.train.labels
    assert hold_out(tiny.train, seed=0)[1].documents.ids == validation.documents.ids
    assert hold_out(tiny.train, seed=1)[1].documents.ids != validation.documents.ids


def test_a_twentieth_is_held_out_up_to_what_a_reranker_needs() -> None:
    def size(n: int) -> int:
        return len(hold_out(Dataset.from_matrix(csr_array((n, 1)), csr_array((n, 1))), 0)[1])

    sizes = [size(n) for n in (ENOUGH_TO_HOLD_OUT, 4000, 100_000)]
    assert sizes == [100, 200, MOST_VALIDATION]
