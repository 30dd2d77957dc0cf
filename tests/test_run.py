"""A run: phases with seconds and progress, and what was said."""

import logging
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from longtail.run import Phase, Run


@dataclass(slots=True)
class Recorded(Run):
    events: list[tuple[object, ...]] = field(default_factory=list)

    def on_start(self, phase: Phase) -> None:
        self.events.append(("start", phase.name, phase.total))

    def on_advance(self, phase: Phase, note: str) -> None:
        self.events.append(("advance", phase.name, phase.done, note))

    def on_end(self, phase: Phase) -> None:
        self.events.append(("end", phase.name, phase.done))


def test_the_hooks_see_every_step():
    run = Recorded()
    with run.phase("features", total=5) as phase:
        phase.advance()
        phase.advance(4, "loss 0.1")
    assert run.events == [
        ("start", "features", 5),
        ("advance", "features", 1, ""),
        ("advance", "features", 5, "loss 0.1"),
        ("end", "features", 5),
    ]


def test_phases_may_nest_and_a_name_used_again_adds_up():
    run = Run()
    with run.phase("outer"), run.phase("inner"):
        pass
    once = run.seconds["inner"]
    with run.phase("inner"):
        pass
    assert list(run.seconds) == ["inner", "outer"]
    assert run.seconds["inner"] >= once >= 0


def test_a_phase_ends_also_with_an_error():
    run = Recorded()
    with pytest.raises(ZeroDivisionError), run.phase("tree"):
        raise ZeroDivisionError
    assert run.events[-1] == ("end", "tree", 0)
    assert run.seconds["tree"] >= 0


def test_messages_are_kept_in_order_and_runs_share_nothing():
    run = Run()
    run.say("one")
    run.say("two")
    assert run.messages == ["one", "two"]
    assert Run().messages == []
    assert Run().seconds == {}


def test_a_run_asks_for_no_checkpoints_unless_told():
    run = Run()
    assert (run.checkpoints, run.resume, run.in_stages) == (None, False, False)
    kept = Run(checkpoints=Path("m.checkpoints"), resume=True)
    assert (kept.checkpoints, kept.resume) == (Path("m.checkpoints"), True)


def test_messages_go_to_the_logger(caplog):
    run = Run()
    with caplog.at_level(logging.INFO, logger="longtail"):
        run.say("a fact")
        run.warn("a problem")
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "a fact"),
        ("WARNING", "a problem"),
    ]
    assert run.messages == ["a fact", "a problem"]
