"""Validation data that are held out, and what is said of them."""

from __future__ import annotations

import pytest

from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems import create
from longtail.systems.validation_part import in_words, with_validation_part
from longtail.types import Dataset


def data(n: int) -> Dataset:
    return Dataset.from_texts(
        [f"text {number}" for number in range(n)], [[f"l{number % 3}"] for number in range(n)]
    )


def test_a_twentieth_is_held_out_and_said() -> None:
    run, train = Run(), data(4000)
    rest, held_out = with_validation_part(create("dummy"), train, None, run)
    assert held_out is not None
    assert (len(rest), len(held_out)) == (3800, 200)
    assert sorted([*rest.documents.ids, *held_out.documents.ids]) == sorted(train.documents.ids)
    assert run.messages == ["no validation data: 200 of 4,000 training documents are held out to measure on"]
    trained = create("dummy").fit(rest, valid=held_out)
    assert in_words(trained, held_out).startswith("metrics on 200 validation documents: P@1 ")


def test_labels_that_lose_all_documents_are_counted() -> None:
    run, n = Run(), ENOUGH_TO_HOLD_OUT
    train = Dataset.from_texts(
        [f"text {number}" for number in range(n)], [[f"l{number}"] for number in range(n)]
    )
    with_validation_part(create("ensemble"), train, None, run)
    assert run.messages == [
        "no validation data: 100 of 1,000 training documents are held out to measure on; 100 labels have no other "
        "documents; training uses them too (best epoch, re-ranker), so the metrics are slightly too high"
    ]


def test_few_documents_are_all_trained_on() -> None:
    run, train = Run(), data(ENOUGH_TO_HOLD_OUT - 1)
    assert with_validation_part(create("dummy"), train, None, run) == (train, None)
    assert run.messages == [
        "no validation data, and fewer than 1,000 documents to hold some out: no metrics are shown"
    ]


def test_nothing_is_held_out_where_it_is_not_wanted_or_there_are_validation_data() -> None:
    run, train, valid = Run(), data(2000), data(20)
    system = create("dummy")
    assert with_validation_part(system, train, None, run, wanted=False) == (train, None)
    assert with_validation_part(system, train, valid, run) == (train, valid)
    empty = Dataset.from_labels(train.labels)
    assert with_validation_part(system, empty, None, run) == (empty, None)
    assert run.messages == []
    assert len(with_validation_part(system, train, empty, run)[1] or []) == 100


def test_validation_data_on_which_metrics_would_be_0(caplog: pytest.LogCaptureFixture) -> None:
    train = data(10)
    with pytest.raises(UsageError, match="no validation document has a label"):
        with_validation_part(create("dummy"), train, Dataset.from_texts(["a"], [[]]), Run())
    with_validation_part(create("dummy"), train, Dataset.from_texts(["a"], [["L1"]]), Run())
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no label of the validation documents" in caplog.text
