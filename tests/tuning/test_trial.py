from __future__ import annotations

import pytest

from longtail.errors import UsageError
from longtail.tuning import trial
from longtail.tuning.trial import Task, measure
from tests.planted import Parts, planted


def test_validation_documents_are_halved(tiny: Parts) -> None:
    task = Task.of("linear", {}, tiny.train, tiny.valid)
    assert len(task.valid) == len(task.measured) == len(tiny.valid) // 2
    assert not set(task.valid.documents.ids) & set(task.measured.documents.ids)
    assert Task.of("linear", {}, tiny.train, tiny.valid).measured.documents.ids == task.measured.documents.ids
    assert (
        Task.of("linear", {}, tiny.train, tiny.valid, seed=1).measured.documents.ids
        != task.measured.documents.ids
    )


def test_without_validation_documents_some_are_held_out() -> None:
    data = planted(n_documents=400)
    task = Task.of("linear", {}, data, None)
    assert len(task.train) + len(task.valid) + len(task.measured) == 400
    assert not set(task.train.documents.ids) & {*task.valid.documents.ids, *task.measured.documents.ids}


def test_too_few_documents(tiny: Parts) -> None:
    with pytest.raises(UsageError, match="a search needs 20 validation documents at least, there are 5"):
        Task.of("linear", {}, tiny.train, tiny.valid.take(range(5)))
    with pytest.raises(UsageError, match="there is no metric 'accuracy' to search by"):
        Task.of("linear", {}, tiny.train, tiny.valid, metric="accuracy")


def test_sizes(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task.of("linear", {}, tiny.train, tiny.valid)
    assert task.sizes() == [180]
    monkeypatch.setattr(trial, "FEWEST", 30)
    assert task.sizes() == [60, 180]
    monkeypatch.setattr(trial, "FEWEST", 2)
    assert task.sizes() == [20, 60, 180]


def test_what_is_measured(tiny: Parts) -> None:
    task = Task.of("linear", {"beam": 3}, tiny.train, tiny.valid, metric="P@1")
    found = measure(task, {"tree.trees": 1}, len(tiny.train))
    direct = (
        task.untrained({"tree.trees": 1})
        .fit(tiny.train, valid=task.valid, hold_out=False)
        .evaluate(task.measured)
    )
    assert found.value == pytest.approx(direct.metrics["P@1"]["value"])
    assert found.low <= found.value <= found.high
    assert task.untrained({"tree.trees": 1}).config.beam == 3
    assert measure(task, {}, 20).value < found.value
