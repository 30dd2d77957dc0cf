"""The search: trials of optuna in a file, so that it can be stopped and resumed, within a budget of time.

The defaults come first. Then a tree-structured Parzen estimator (TPE) proposes settings. A trial is trained on a
ninth, a third and all of the documents (on fewer sizes where data are small), and ends early where it is below the
median of the others at that size (median pruning). Same data, settings, seed and number of trials: same search.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longtail import engine
from longtail.config import to_dict
from longtail.errors import LongtailError, MissingPackageError, UsageError
from longtail.tuning.space import Dimensions, at
from longtail.tuning.trial import Measured, Task, measure

if TYPE_CHECKING:
    import optuna

NAME = "longtail"
BEFORE_PRUNING = 3
"""Trials that are finished before one is ended early."""

DEFAULTS = "defaults"


@dataclass(frozen=True, slots=True)
class Found:
    """Metrics of the defaults and of the best trial; no changes if the defaults are best."""

    defaults: Measured
    best: Measured
    changes: dict[str, Any]
    trial: int | None
    trials: int
    pruned: int
    failed: int


def open_study(path: Path, task: Task, space: Dimensions, *, resume: bool) -> optuna.Study:
    """Create the study in a file, or resume it if it is of the same data, settings, space, metric and seed."""
    try:
        import optuna
        from sqlalchemy.exc import DatabaseError
    except ImportError as error:
        raise MissingPackageError(error.name or "optuna", extra="tune", purpose="longtail tune") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if path.exists() and not resume:
        raise UsageError(
            f"{path} has a search already: add --resume to continue it, or --force to begin anew"
        )
    facts = {
        "system": task.system,
        "settings": to_plain(task.settings),
        "data": task.fingerprint(),
        "space": {key: repr(dimension) for key, dimension in space.items()},
        "metric": task.metric,
        "seed": task.seed,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(
                storage=f"sqlite:///{path.absolute()}",
                study_name=NAME,
                direction="maximize",
                load_if_exists=resume,
                sampler=optuna.samplers.RandomSampler(),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=BEFORE_PRUNING),
            )
            before = study.user_attrs.get("facts")
    except DatabaseError:
        raise UsageError(f"{path} is not the file of a search: name another one with --study") from None
    if before is None:
        study.set_user_attr("facts", facts)
    elif before != facts:
        other = next(key for key in facts if facts[key] != before.get(key))
        raise UsageError(
            f"{path} is a search with other {other}: give it the same, or begin anew with --force"
        )
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(
            trial.number, state=optuna.trial.TrialState.FAIL
        )  # It was running when the search was stopped.
    # Another seed for each start: a resumed search must not propose what it has tried.
    study.sampler = optuna.samplers.TPESampler(seed=task.seed + len(study.trials), n_startup_trials=5)
    return study


def to_plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON keeps them: tuples become lists."""
    return {
        key: to_plain(value)
        if isinstance(value, Mapping)
        else list(value)
        if isinstance(value, tuple)
        else value
        for key, value in settings.items()
    }


def search(
    study: optuna.Study,
    task: Task,
    space: Dimensions,
    *,
    seconds: float | None,
    trials: int | None,
    say: Callable[[str], None],
    at_once: int = 1,
) -> Found:
    """Measure the defaults, then try settings until the time or the number of trials is used up.

    Args:
        at_once: trials that are proposed together, before any of them is measured; the engine in use trains them.
    """
    start = time.perf_counter()

    def left() -> float:
        return float("inf") if seconds is None else seconds - (time.perf_counter() - start)

    defaults = _defaults(study, task, space, say)
    done = 0
    while left() > 0 and (trials is None or done < trials):
        first = study.user_attrs[DEFAULTS][str(task.sizes()[0])]["seconds"]
        if first > left():
            break  # The defaults took longer than what is left.
        together = at_once if trials is None else min(at_once, trials - done)
        done += together
        if not _try(study, task, space, together, left, say):
            break
    return summary(study, space, defaults)


def _defaults(study: optuna.Study, task: Task, space: Dimensions, say: Callable[[str], None]) -> Measured:
    """The metric of the defaults at each size; they are a trial like others where the space holds them."""
    import optuna

    kept = study.user_attrs.get(DEFAULTS)
    if kept is None:
        kept = {str(size): asdict(measure(task, {}, size)) for size in task.sizes()}
        values = own_values(task, space)
        if values is not None:
            trial = optuna.trial.create_trial(
                params={key: space[key].encoded(value) for key, value in values.items()},
                distributions={key: dimension.distribution() for key, dimension in space.items()},
                value=kept[str(task.sizes()[-1])]["value"],
                intermediate_values={
                    step: kept[str(size)]["value"] for step, size in enumerate(task.sizes())
                },
                user_attrs={DEFAULTS: True},
            )
            study.add_trial(trial)
        study.set_user_attr(DEFAULTS, kept)
    found = Measured(**kept[str(task.sizes()[-1])])
    say(f"defaults: {task.metric} {found.value:.2f} (95 % interval {found.low:.2f} to {found.high:.2f})")
    return found


def own_values(task: Task, space: Dimensions) -> dict[str, Any] | None:
    """The values that the searched settings have by default; None if one is outside of the space."""
    from longtail.systems.ensemble.system import Ensemble

    system = task.untrained({})
    settings = to_dict(system.config)
    if isinstance(system, Ensemble):
        from longtail.systems.ensemble.members import create_members

        settings |= {member.name: to_dict(member.system.config) for member in create_members(system.config)}
    try:
        values = {key: at(settings, key) for key in space}
    except KeyError as error:
        raise UsageError(f"there is no setting {error} of '{task.system}' to search") from None
    return values if all(space[key].holds(value) for key, value in values.items()) else None


@dataclass(slots=True)
class _Proposed:
    """A trial with its settings, and what was measured last."""

    trial: optuna.Trial
    changes: dict[str, Any]
    found: Measured | None = None

    @property
    def named(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.changes.items())


def _try(
    study: optuna.Study,
    task: Task,
    space: Dimensions,
    together: int,
    left: Callable[[], float],
    say: Callable[[str], None],
) -> bool:
    """Trials that are proposed together; False if the time does not allow another step of them."""
    from optuna.trial import TrialState

    running, sizes = [_proposed(study, space) for _ in range(together)], task.sizes()
    for step, size in enumerate(sizes):
        expected = max(
            (one.found.seconds * size / sizes[step - 1] for one in running if one.found), default=0
        )
        if expected > left():
            for one in running:
                study.tell(one.trial, state=TrialState.PRUNED)
                say(f"trial {one.trial.number}: not finished, the budget is used up")
            return False
        parts = [(one.changes, size) for one in running]
        measured = engine.in_use().map(_measured, task, parts, whole=True)
        going_on = []
        for one, found in zip(running, measured, strict=True):
            number = one.trial.number
            if isinstance(found, str):
                study.tell(one.trial, state=TrialState.FAIL)
                say(f"trial {number}: failed ({found}): {one.named}")
                continue
            one.found = found
            one.trial.report(found.value, step)
            if step < len(sizes) - 1 and one.trial.should_prune():
                study.tell(one.trial, state=TrialState.PRUNED)
                say(
                    f"trial {number}: {found.value:.2f} on {size:,} documents, below the median, ended: {one.named}"
                )
                continue
            going_on.append(one)
        running = going_on
    for one in running:
        assert one.found is not None
        one.trial.set_user_attr("measured", asdict(one.found))
        one.trial.set_user_attr("changes", one.changes)
        study.tell(one.trial, one.found.value)
        taken = f"{one.found.value:.2f} in {one.found.seconds:.0f} s"
        say(f"trial {one.trial.number}: {task.metric} {taken}: {one.named}")
    return True


def _proposed(study: optuna.Study, space: Dimensions) -> _Proposed:
    trial = study.ask({key: dimension.distribution() for key, dimension in space.items()})
    return _Proposed(trial, {key: space[key].decoded(value) for key, value in trial.params.items()})


def _measured(task: Task, part: tuple[dict[str, Any], int]) -> Measured | str:
    """The metric of settings on so many documents, or why they cannot be trained."""
    try:
        return measure(task, *part)
    except LongtailError as error:
        return str(error)


def summary(study: optuna.Study, space: Dimensions, defaults: Measured) -> Found:
    """The best trial of all, or the defaults if none is better."""
    from optuna.trial import TrialState

    every = [trial for trial in study.trials if not trial.user_attrs.get(DEFAULTS)]
    whole = [trial for trial in every if trial.state == TrialState.COMPLETE]
    best = max(whole, key=lambda trial: (trial.values[0], -trial.number), default=None)
    better = best is not None and best.values[0] > defaults.value
    return Found(
        defaults=defaults,
        best=Measured(**best.user_attrs["measured"]) if best is not None and better else defaults,
        changes=dict(best.user_attrs["changes"]) if best is not None and better else {},
        trial=best.number if best is not None and better else None,
        trials=len(every),
        pruned=sum(trial.state == TrialState.PRUNED for trial in every),
        failed=sum(trial.state == TrialState.FAIL for trial in every),
    )
