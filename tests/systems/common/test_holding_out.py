"""Documents that training does not see, and what their figures need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.common.holding_out import TAUGHT_BY, held_documents, held_out
from longtail.systems.common.rows import Rows, document_rows
from longtail.systems.common.witness import Witness
from longtail.systems.eclare.config import EclareConfig
from longtail.text.config import TextConfig
from longtail.types import FIELDS, Dataset
from tests.planted import Parts


def rows_of(data: Dataset) -> Rows:
    return Rows.of(data, TextConfig(kind="word"), FIELDS, Run())


def test_every_document_is_held_out_or_not(tiny: Parts) -> None:
    rest, out = held_out(tiny.train, seed=0)
    assert sorted([*rest.documents.ids, *out.documents.ids]) == sorted(tiny.train.documents.ids)
    assert len(out) == 100
    # Both stay in order, with the labels they had.
    place = {id_: row for row, id_ in enumerate(tiny.train.documents.ids)}
    for part in (rest, out):
        rows = [place[id_] for id_ in part.documents.ids]
        assert rows == sorted(rows)
        assert (part.Y.toarray() == tiny.train.Y.toarray()[rows]).all()
    assert held_out(tiny.train, seed=0)[1].documents.ids == out.documents.ids
    assert held_out(tiny.train, seed=1)[1].documents.ids != out.documents.ids


def test_a_twentieth_is_held_out_and_never_more_than_the_score_needs() -> None:
    def held(n: int) -> int:
        return len(held_out(Dataset.from_matrix(csr_array((n, 1)), csr_array((n, 1))), 0)[1])

    assert [held(n) for n in (1000, 4000, 100_000)] == [100, 200, TAUGHT_BY]


def test_validation_documents_are_counted_in_the_labels_of_training(tiny: Parts) -> None:
    rows = rows_of(tiny.train)
    more = tiny.valid.relabelled(tiny.valid.labels.extended(["else"]))
    pairs = csr_array((np.ones(3, np.float32), ([0, 1, 2], tiny.valid.Y.indices[:3])), shape=more.Y.shape)
    held = held_documents(replace(more, filtered=pairs), rows, FIELDS, None)
    assert held.Y.shape == (len(tiny.valid), 40)
    assert held.left_out is not None
    expected = (tiny.valid.Y.toarray() > 0) & (pairs.toarray()[:, :40] == 0)
    assert (held.Y.toarray() == expected).all()
    assert (held.train_counts == tiny.train.label_counts).all()
    assert held.n_train == len(tiny.train)
    assert (document_rows(rows.features, tiny.valid.documents, FIELDS) != held.X).nnz == 0
    assert held.linear is None


def test_what_is_revealed_is_no_answer(tiny: Parts) -> None:
    first = csr_array(tiny.valid.Y.toarray() * (np.arange(40) < 5))
    held = held_documents(replace(tiny.valid, revealed=first), rows_of(tiny.train), FIELDS, None)
    assert held.left_out is not None
    assert (held.left_out.toarray() == first.toarray()).all()
    assert held.Y[:, :5].nnz == 0
    assert (held.Y[:, 5:] != tiny.valid.Y[:, 5:]).nnz == 0


def test_without_pairs_that_do_not_count_all_do(tiny: Parts) -> None:
    held = held_documents(tiny.valid, rows_of(tiny.train), FIELDS, None)
    assert held.left_out is None
    assert (held.Y != tiny.valid.Y).nnz == 0


def test_a_witness_is_heard(tiny: Parts) -> None:
    witness = Witness.learn(tiny.train, EclareConfig(), Run())
    held = held_documents(tiny.valid, rows_of(tiny.train), FIELDS, witness)
    assert isinstance(held.linear, Candidates)
    expected = witness(tiny.valid.documents)
    assert (held.linear.ids == expected.ids).all()
    assert (held.linear.scores == expected.scores).all()
