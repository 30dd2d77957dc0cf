"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from longtail.data import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])

LARGEST_SEED = 2**32 - 1
"""What every generator of random numbers takes."""

force = click.option("--force", is_flag=True, help="Replace the output if it is there already.")
seed = click.option(
    "--seed", type=click.IntRange(0, LARGEST_SEED), help="Same data, same settings, same seed: same result."
)
jobs = click.option("--jobs", "-j", type=click.IntRange(min=1), help="Threads to use.  [default: all cores]")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
config = click.option("--config", type=click.Path(), help="A TOML file of settings.")
assignments = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="One setting; may be repeated. Settings of a member of an ensemble: eclare.width=512.",
)
fields = click.option(
    "--fields", metavar="NAMES", help="Fields that make a document's text: title, text or title,text."
)
no_hold_out = click.option(
    "--no-hold-out",
    is_flag=True,
    help="Train on all documents: without a valid part, some are held out for metrics.",
)
vocabulary = click.option(
    "--labels",
    "vocabulary",
    metavar="FILE",
    type=click.Path(),
    help="Labels with their texts (SKOS, TSV, CSV, JSONL). Alone, without DATA, they give a zero-shot model.",
)

_COLUMNS = {
    "id": "The column (or JSON key) of the documents' ids.",
    "title": "The column of the titles.",
    "text": "The column of the texts; may be repeated: columns are joined in this order.",
    "label": "The column of the labels.",
}


def _limits(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> None:
    """Have the limits in force until the command ends."""
    if not given:
        return
    from longtail.data.limits import limit

    pairs = dict(pair.partition("=")[::2] for pair in given)
    context.with_resource(limit(**pairs))


def reading(command: F) -> F:
    """Add what a reader cannot always guess: columns, label separator, language, which split."""
    options = [
        click.option(
            f"--{name}-column", metavar="NAME", multiple=name == "text", help=f"{text}  [default: guessed]"
        )
        for name, text in _COLUMNS.items()
    ]
    options += [
        click.option(
            "--label-separator",
            metavar="TEXT",
            help="What stands between two labels in one string, or none.  [default: inferred]",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            default="utf-8",
            show_default=True,
            help="Of text files: utf-8, cp1252, latin-1, utf-16.",
        ),
        click.option(
            "--language", metavar="CODE", help="The language of label texts, where there are several."
        ),
        click.option(
            "--split", type=int, default=0, help="Which of the train/test splits of an XMC data set."
        ),
        click.option(
            "--limit",
            metavar="NAME=NUMBER",
            multiple=True,
            expose_value=False,
            callback=_limits,
            help="Raise a limit on what is read, as an error names it: line=1GB. May be repeated.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


label_file = click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(),
    help="Labels with their texts (SKOS, TSV, CSV, JSONL).  [default: labels.* beside the documents]",
)


def format_of(argument: str) -> Callable[[F], F]:
    """The option that names the format of an argument."""
    help_text = f"The format of {argument}.  [default: guessed]"
    return click.option("--format", "format_", metavar="NAME", help=help_text)


def read_options(given: dict[str, Any], **more: Any) -> ReadOptions:
    """The values of the options that ``reading`` added, and further ones."""
    from longtail.data import ReadOptions

    return ReadOptions(**{**given, "text_column": given.get("text_column") or None, **more})
