from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longtail import engine
from longtail.errors import TrainingError, UsageError
from longtail.tuning import search as module
from longtail.tuning.search import Found, open_study, own_values, search
from longtail.tuning.space import Choice, Range, parsed
from longtail.tuning.trial import Measured, Task
from tests.engines.copies import Copies
from tests.planted import Parts

SPACE = {"beam": Range(1, 40), "tree.leaf_size": Range(50, 400)}


@pytest.fixture
def task(tiny: Parts) -> Task:
    return Task.of("linear", {}, tiny.train, tiny.valid, metric="P@1")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], int]]:
    """In place of a training: a beam of 20 is best, and a tenth of the documents gives a tenth of the metric."""
    calls: list[tuple[dict[str, Any], int]] = []

    def known(task: Task, changes: dict[str, Any], documents: int) -> Measured:
        calls.append((dict(changes), documents))
        value = (100.0 - abs(changes.get("beam", 5) - 20)) * documents / len(task.train)
        return Measured(value, value - 1, value + 1, 0.0)

    monkeypatch.setattr(module, "measure", known)
    return calls


def run(
    path: Path,
    task: Task,
    *,
    resume: bool = False,
    trials: int = 12,
    said: list[str] | None = None,
    at_once: int = 1,
) -> Found:
    study = open_study(path, task, SPACE, resume=resume)
    say = (lambda text: None) if said is None else said.append
    return search(study, task, SPACE, seconds=None, trials=trials, say=say, at_once=at_once)


def test_the_best_trial_is_found(task: Task, measured: list[Any], tmp_path: Path) -> None:
    said: list[str] = []
    found = run(tmp_path / "a.study", task, trials=20, said=said)
    assert found.defaults.value == 85
    assert found.best.value > 92
    assert 12 <= found.changes["beam"] <= 28
    assert found.trials == 20
    assert measured[0] == ({}, 180), "the defaults come first"
    assert said[0].startswith("defaults: P@1 85.00")
    assert len(said) == 21


def test_equal_seeds_give_equal_searches(task: Task, measured: list[Any], tmp_path: Path) -> None:
    run(tmp_path / "a.study", task)
    first = list(measured)
    measured.clear()
    run(tmp_path / "b.study", task)
    assert measured == first


def test_trials_that_are_proposed_together_are_the_same_with_each_engine(
    task: Task, measured: list[Any], tmp_path: Path
) -> None:
    here = run(tmp_path / "a.study", task, trials=11, at_once=4)
    first = list(measured)
    measured.clear()
    copies = Copies()
    with engine.use(copies):
        there = run(tmp_path / "b.study", task, trials=11, at_once=4)
    assert copies.parts == here.trials == there.trials == 11
    assert measured == first
    assert there == here


def test_a_search_is_resumed(
    task: Task, measured: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.study"
    run(path, task, trials=3)
    known = module.measure

    def interrupted(*arguments: Any) -> Measured:
        if len(measured) == 6:
            raise KeyboardInterrupt
        return known(*arguments)

    monkeypatch.setattr(module, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(path, task, resume=True)
    monkeypatch.setattr(module, "measure", known)
    done = len(measured)
    found = run(path, task, resume=True, trials=2)
    assert len(measured) == done + 2, "neither the defaults nor the trials before are measured again"
    assert found.trials == 3 + 2 + 1 + 2
    assert found.failed == 1, "the trial that was interrupted"
    tried = [tuple(changes.items()) for changes, _ in measured]
    assert len(set(tried)) == len(tried), "a resumed search proposes other settings"


def test_another_search_is_not_continued(
    task: Task, tiny: Parts, measured: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.study"
    run(path, task, trials=1)
    with pytest.raises(UsageError, match=r"has a search already: add --resume"):
        open_study(path, task, SPACE, resume=False)
    other = Task.of("linear", {}, tiny.train, tiny.valid, metric="P@5")
    with pytest.raises(UsageError, match="is a search with other metric"):
        open_study(path, other, SPACE, resume=True)
    with pytest.raises(UsageError, match="is a search with other space"):
        open_study(path, task, {"beam": Range(1, 5)}, resume=True)
    path.write_text("not a database at all, but long enough to be taken for the head of a file\n" * 20)
    with pytest.raises(UsageError, match="is not the file of a search"):
        open_study(path, task, SPACE, resume=True)


def test_bad_trials_end_early(
    task: Task, measured: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longtail.tuning.trial.FEWEST", 20)
    said: list[str] = []
    found = run(tmp_path / "a.study", task, trials=15, said=said)
    assert found.pruned >= 3
    ended = [line for line in said if "below the median, ended" in line]
    assert len(ended) == found.pruned
    assert sum(documents == 180 for _, documents in measured) == 1 + found.trials - found.pruned


def test_the_budget_ends_the_search(task: Task, measured: list[Any], tmp_path: Path) -> None:
    study = open_study(tmp_path / "a.study", task, SPACE, resume=False)
    found = search(study, task, SPACE, seconds=0.0, trials=None, say=lambda text: None)
    assert found.trials == 0
    assert found.changes == {}
    assert found.best == found.defaults


def test_no_trial_is_begun_that_takes_longer_than_what_is_left(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "measure", lambda task, changes, documents: Measured(50.0, 49.0, 51.0, 100.0))
    study = open_study(tmp_path / "a.study", task, SPACE, resume=False)
    assert search(study, task, SPACE, seconds=60.0, trials=None, say=lambda text: None).trials == 0


def test_a_trial_that_fails_does_not_end_the_search(
    task: Task, measured: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = module.measure

    def failing(task: Task, changes: dict[str, Any], documents: int) -> Measured:
        if len(measured) == 2:
            measured.append((dict(changes), documents))
            raise TrainingError("the loss is not finite")
        return known(task, changes, documents)

    monkeypatch.setattr(module, "measure", failing)
    said: list[str] = []
    found = run(tmp_path / "a.study", task, trials=4, said=said)
    assert (found.failed, found.trials) == (1, 4)
    assert any("failed (the loss is not finite)" in line for line in said)


def test_no_better_trial_leaves_the_defaults(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worse(task: Task, changes: dict[str, Any], documents: int) -> Measured:
        return Measured(10.0 if changes else 50.0, 0.0, 60.0, 0.0)

    monkeypatch.setattr(module, "measure", worse)
    found = run(tmp_path / "a.study", task, trials=2)
    assert found.changes == {}
    assert found.trial is None


def test_values_of_the_defaults(tiny: Parts) -> None:
    task = Task.of("ensemble", {"members": ["linear", "lexical"]}, tiny.train, tiny.valid)
    space = parsed(["linear.tree.trees=1,2", "reranker.balance=0.0..1.0", "linear.beam=5..20"])
    assert own_values(task, space) == {"linear.tree.trees": 1, "reranker.balance": 0.55, "linear.beam": 5}
    assert own_values(task, {"linear.beam": Range(10, 20)}) is None, "the default is not within"
    with pytest.raises(UsageError, match="there is no setting 'beans' of 'ensemble' to search"):
        own_values(task, {"linear.beans": Choice((1, 2))})


def test_real_trials(task: Task, tmp_path: Path) -> None:
    space = {"beam": Range(1, 10)}
    study = open_study(tmp_path / "a.study", task, space, resume=False)
    found = search(study, task, space, seconds=None, trials=2, say=lambda text: None)
    assert found.trials == 2
    assert found.best.value >= found.defaults.value > 50
