from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import progress
from longtail.errors import UsageError
from longtail.progress import ConsoleRun, duration, progress_line
from longtail.run import Phase, Run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def two_phases(run: Run) -> None:
    with run.phase("read"):
        run.say("3 documents have no label")
    with run.phase("[learn]", total=4) as phase:
        for _ in range(4):
            phase.advance(note="loss 0.5")


def test_plain_lines_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    stream = io.StringIO()
    run = ConsoleRun(stream)
    two_phases(run)
    lines = stream.getvalue().splitlines()
    assert lines[:4] == ["read ...", "3 documents have no label", "read took 0.0 s", "[learn] (4) ..."]
    assert lines[4] == "[learn]: 25% (1 of 4), 0.0 s left, loss 0.5"
    assert lines[-1] == "[learn] took 0.0 s"
    assert set(run.seconds) == {"read", "[learn]"}
    assert run.messages == ["3 documents have no label"]


def test_lines_are_seconds_apart() -> None:
    stream = io.StringIO()
    two_phases(ConsoleRun(stream))
    assert "%" not in stream.getvalue()


def test_quiet_shows_nothing_and_keeps_everything() -> None:
    stream = io.StringIO()
    run = ConsoleRun(stream, quiet=True)
    two_phases(run)
    assert stream.getvalue() == ""
    assert run.messages == ["3 documents have no label"]
    assert set(run.seconds) == {"read", "[learn]"}


def test_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    run = ConsoleRun(stream)
    with run.phase("outer", total=2) as outer:
        two_phases(run)
        outer.advance()
    shown = stream.getvalue()
    for words in ("outer", "[learn] took", "3 documents have no label", "\x1b["):
        assert words in shown


def test_no_color_leaves_colours_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    two_phases(ConsoleRun(stream))
    assert "\x1b[3" not in stream.getvalue().replace("\x1b[3A", "")


def test_a_phase_that_fails_says_so() -> None:
    stream = io.StringIO()
    run = ConsoleRun(stream)
    with pytest.raises(ValueError, match="no"), run.phase("read"):
        raise ValueError("no")
    assert "read stopped after 0.0 s" in stream.getvalue()


def test_progress_in_words() -> None:
    run = Run()
    assert progress_line(Phase("read", None, run, 1234), 61) == "read: 1,234 done in 1 min 01 s"
    assert progress_line(Phase("fit", 10, run, 0), 5) == "fit: 0% (0 of 10)"
    assert progress_line(Phase("fit", 10, run, 5), 30, "x") == "fit: 50% (5 of 10), 30 s left, x"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@given(st.floats(0, 1e6))
def test_durations_never_show_sixty(seconds: float) -> None:
    assert "60" not in duration(seconds).replace("60 h", "").replace("160", "").split(" h")[-1]


def test_a_function_is_called_for_every_step() -> None:
    seen: list[tuple[str, int, int | None]] = []
    run = progress.run_with(lambda *step: seen.append(step))
    two_phases(run)
    assert seen[:3] == [("read", 0, None), ("read", 0, None), ("[learn]", 0, 4)]
    assert seen[3:] == [("[learn]", done, 4) for done in (1, 2, 3, 4, 4)]


def test_what_progress_may_be() -> None:
    run = Run()
    assert progress.run_with(run) is run
    assert type(progress.run_with(None)) is type(progress.run_with(False)) is Run
    assert isinstance(progress.run_with(True), ConsoleRun)
    with pytest.raises(UsageError, match="progress must be True, False or a function"):
        progress.run_with("yes")


def test_a_warning_is_shown_once(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.StringIO()
    run = ConsoleRun(stream)
    run.warn("3 labels are cold")
    assert stream.getvalue() == "warning: 3 labels are cold\n"
    assert [record.levelname for record in caplog.records if record.levelno >= 30] == []
    assert run.messages == ["3 labels are cold"]
    # The tests have set up logging, as a program may.
    ConsoleRun(stream, logged=True).warn("4 labels are cold")
    assert stream.getvalue() == "warning: 3 labels are cold\n"
    assert [(record.name, record.getMessage()) for record in caplog.records if record.levelno >= 30] == [
        ("longtail", "4 labels are cold")
    ]
    ConsoleRun(stream, quiet=True).warn("5 labels are cold")
    assert "5 labels" not in stream.getvalue()
