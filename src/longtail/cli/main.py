"""The entry point: finds the command, runs it, and turns every error into one sentence and an exit code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from longtail import __version__
from longtail.cli.lazy_group import LazyGroup
from longtail.cli.session import Session, verbosity
from longtail.errors import LongtailError

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
READER_GONE = 141
"""128 + SIGPIPE, what a shell reports of any program whose reader went away."""

COMMANDS = {
    "train": "Train a model on tagged documents, or on label texts alone.",
    "predict": "Tag documents with a model.",
    "explain": "Show why a model gives a text its labels.",
    "evaluate": "Evaluate a model on tagged documents, also by label frequency.",
    "serve": "Serve models over HTTP, with a page to try them.",
    "combine": "Combine trained models into an ensemble.",
    "check": "Report sizes, label frequencies and problems of a data set.",
    "convert": "Write a data set in another format.",
    "split": "Divide a data set into train, valid and test.",
    "data": "Make a ready data set: synthetic, debian, wordnet.",
    "export": "Write a model again with its encoder in ONNX Runtime.",
    "feedback": "List feedback of a service, or write it as training documents.",
    "info": "List the systems, show the settings of one, or describe a model.",
    "doctor": "Report versions, optional packages, threads, memory, disk.",
}
"""Each one is ``command`` in the module of its name; the text is what ``longtail --help`` shows."""

OPTIONS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised like Ctrl-C so that temporary files are cleared away."""


@click.group(cls=LazyGroup, commands_help=COMMANDS, package="longtail.cli", context_settings=OPTIONS)
@click.version_option(__version__, prog_name="longtail")
@verbosity
def longtail() -> None:
    """Tag texts with the few right labels out of a very large set, the rare ones included.

    Start with: longtail data synthetic -o demo; longtail train demo -o model; longtail evaluate model demo.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 ok, 1 failed, 2 wrong usage, 130 interrupted."""
    if "_LONGTAIL_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(
            longtail, {}, "longtail", "_LONGTAIL_COMPLETE", os.environ["_LONGTAIL_COMPLETE"]
        )
    _open_closed_streams()
    session = Session()
    received: list[int] = []
    code = _run(list(sys.argv[1:] if arguments is None else arguments), session, received)
    if arguments is None:
        _end_with(code)
    return code


def _run(arguments: list[str], session: Session, received: list[int]) -> int:
    try:
        with _clean_termination(received):
            return _execute(arguments, session)
    except BaseException as caught:
        error = _cause(caught, received)
        code, sentence = exit_status(error, session)
        if session.verbose and code != WRONG_USAGE:
            traceback.print_exc()
        if sentence:
            print(f"longtail: {sentence}", file=sys.stderr)
        if code == READER_GONE:
            # The interpreter flushes stdout once more on its way out, which would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code


def _execute(arguments: list[str], session: Session) -> int:
    try:
        with longtail.make_context("longtail", arguments, obj=session) as context:
            longtail.invoke(context)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as empty:
        click.echo(empty.format_message(), err=True)
        return WRONG_USAGE
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


def exit_status(error: BaseException, session: Session) -> tuple[int, str]:
    """The exit code of an error and the sentence to show ('' for none)."""
    match error:
        case LongtailError():
            return error.exit_code, str(error)
        case click.UsageError():
            return WRONG_USAGE, _usage(error)
        case click.ClickException():
            return error.exit_code, error.format_message()
        case KeyboardInterrupt() | click.Abort():
            code, word = (
                (TERMINATED, "terminated") if isinstance(error, Terminated) else (INTERRUPTED, "interrupted")
            )
            return code, word if session.written else f"{word}; nothing was written"
        case BrokenPipeError():
            return READER_GONE, ""
        case MemoryError():
            return FAILED, ("there is not enough memory: use fewer documents at once or a larger machine")
        case OSError():
            return FAILED, _operating_system(error)
        case SystemExit():
            return error.code if isinstance(error.code, int) else FAILED, ""
        case _:
            hint = "" if session.verbose else "; run it again with -v to see where"
            return FAILED, f"this should not happen: {type(error).__name__}: {error}{hint}"


def _usage(error: click.UsageError) -> str:
    # Click's own wording ("Missing argument 'DATA'.") is clear; the lines around it are not needed.
    sentence = error.format_message().strip().rstrip(".")
    command = error.ctx.command_path if error.ctx else "longtail"
    return f"{sentence[:1].lower()}{sentence[1:]} (see {command} --help)"


def _operating_system(error: OSError) -> str:
    what = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        what = "no space is left on the disk"
    elif error.errno == errno.EFBIG:
        what = "the file would grow above the limit on file sizes"
    return f"{error.filename}: {what}" if error.filename else what


def _open_closed_streams() -> None:
    """Python has None for a stream that the caller closed; the empty device does as well and needs no care."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _end_with(code: int) -> None:
    """A signal while the interpreter clears up ends the process with the code of what was done."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: os._exit(code))
    # Where Ctrl-C came while a string was executed (modules define classes so), CPython remembers it and would end
    # the process with the signal in place of the code. Executing another string makes it forget.
    exec("")


@contextmanager
def _clean_termination(received: list[int]) -> Iterator[None]:
    """Let SIGTERM unwind the stack, so that temporary files go; without this the process would just stop.

    Signals are noted in ``received``: compiled code may turn the exception of a signal into another one.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def terminate(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise Terminated

    handlers: dict[int, Any] = {signal.SIGTERM: terminate}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # A shell that starts a job in the background has it ignore Ctrl-C, which stays so.
        handlers[signal.SIGINT] = interrupt
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cause(error: BaseException, received: list[int]) -> BaseException:
    """The interruption, where a signal came before the error; else the error."""
    if not received or isinstance(error, KeyboardInterrupt):
        return error
    return Terminated() if received[0] == signal.SIGTERM else KeyboardInterrupt()
