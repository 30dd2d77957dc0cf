"""The entry point: finds the command, runs it, and turns every error into one sentence and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

import click

from longtail import __version__
from longtail.cli import process
from longtail.cli.lazy_group import LazyGroup
from longtail.cli.process import Interrupted, Signals
from longtail.cli.session import Session, verbosity
from longtail.errors import LongtailError

FAILED = 1
WRONG_USAGE = 2
READER_GONE = 141
"""128 + SIGPIPE, what a shell reports of any program whose reader went away."""

COMMANDS = {
    "train": "Train a model on tagged documents, or on label texts alone.",
    "tune": "Search settings on validation documents.",
    "prepare": "Write features of training data once, for training in little memory.",
    "estimate": "Estimate memory, disk and time of a training.",
    "predict": "Tag documents with a model.",
    "explain": "Show why a model gives a text its labels.",
    "evaluate": "Evaluate a model on tagged documents, also by label frequency.",
    "serve": "Serve models over HTTP, with a page to try them.",
    "combine": "Combine trained models into an ensemble.",
    "check": "Report sizes, label frequencies and problems of a data set.",
    "convert": "Write a data set in another format.",
    "split": "Divide a data set into train, valid and test.",
    "data": "Write a ready data set: sample, synthetic, debian, wordnet.",
    "export": "Write a model again with its encoder in ONNX Runtime.",
    "feedback": "List feedback of a service, or write it as training documents.",
    "info": "List the systems, show the settings of one, or describe a model.",
    "doctor": "Report versions, optional packages, threads, memory, disk.",
}
"""Each one is ``command`` in the module of its name; the text is what ``longtail --help`` shows."""

OPTIONS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=LazyGroup, commands_help=COMMANDS, package="longtail.cli", context_settings=OPTIONS)
@click.version_option(__version__, prog_name="longtail")
@verbosity
def longtail() -> None:
    """Tag texts with the few right labels out of a very large set, the rare ones included.

    Start with: longtail data sample -o demo; longtail train demo -o model; longtail evaluate model demo.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 ok, 1 failed, 2 wrong usage, 130 interrupted.

    Without ``arguments`` it runs those of this process, and ends it.
    """
    if arguments is None:
        process.run(lambda signals: run(sys.argv[1:], signals))
    signals = Signals()
    try:
        signals.catch()
        return run(arguments, signals)
    finally:
        signals.restore()


def run(arguments: Sequence[str], signals: Signals) -> int:
    """Run one command; whatever happens becomes a sentence on stderr and an exit code."""
    session = Session()
    try:
        code = _execute(list(arguments), session)
        signals.raising = False
        return code
    except BaseException as caught:
        signals.raising = False
        code, sentence = exit_status(signals.cause(caught), session)
        if session.verbose and code != WRONG_USAGE:
            with suppress(OSError):
                traceback.print_exc()
        if sentence:
            process.say(f"{_process()}{sentence}")
        if code == READER_GONE:
            # The interpreter flushes stdout once more on its way out, which would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code


def _process() -> str:
    """Which one of the processes of torchrun is speaking; the first one need not say so."""
    rank = os.environ.get("RANK", "0")
    return "" if rank == "0" or "WORLD_SIZE" not in os.environ else f"process with rank {rank}: "


def _execute(arguments: list[str], session: Session) -> int:
    if "_LONGTAIL_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(
            longtail, {}, "longtail", "_LONGTAIL_COMPLETE", os.environ["_LONGTAIL_COMPLETE"]
        )
    session.arguments = tuple(arguments)
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
        case Interrupted():
            return (
                error.exit_code,
                error.word if session.has_written() else f"{error.word}; nothing was written",
            )
        case KeyboardInterrupt() | click.Abort():
            return exit_status(Interrupted(), session)
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
