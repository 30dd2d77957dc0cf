"""``longtail data``: data sets to try things with, shipped or made on this machine."""

from __future__ import annotations

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError

NAMES = ("sample", "synthetic", "debian", "wordnet")

FOREIGN = {
    "sample": ("n_labels", "n_documents", "folder", "seed"),
    "synthetic": ("folder",),
    "debian": ("n_labels", "n_documents"),
    "wordnet": ("n_labels", "n_documents"),
}
"""Options that a data set does not have."""


@click.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("-o", "--output", "target", required=True, type=click.Path(), help="The folder to write.")
@click.option("--labels", type=click.IntRange(min=1), help="How many labels (synthetic).")
@click.option("--documents", type=click.IntRange(min=1), help="How many documents (synthetic).")
@click.option("--folder", type=click.Path(), help="Where the sources are (debian: apt's lists, wordnet).")
@click.option("--to", default="jsonl", show_default=True, metavar="FORMAT", help="The format to write.")
@options.seed
@options.force
@verbosity
def command(
    name: str,
    target: str,
    labels: int | None,
    documents: int | None,
    folder: str | None,
    to: str,
    seed: int | None,
    force: bool,
) -> None:
    """Write a data set: sample (12,000 Debian packages, comes with longtail) or synthetic (planted words).

    From what is installed on this machine: debian (all package descriptions) or wordnet (glosses).
    """
    from longtail import data
    from longtail.data import catalogue

    session = current()
    given = {"n_labels": labels, "n_documents": documents, "folder": folder, "seed": seed}
    wanted = {key: value for key, value in given.items() if value is not None}
    for key in [key for key in FOREIGN[name] if key in wanted]:
        raise UsageError(f"--{key.removeprefix('n_')} is not for the data set {name}")
    output.check_folder_is_free(target, force=force)
    run = session.run()
    with run.phase("make"):
        parts = catalogue.build(name, **wanted)
    with run.phase("write"):
        data.write(parts, target, format=to, force=force)
    session.written = True
    session.say(f"{target}: {', '.join(f'{len(part):,} documents in {key}' for key, part in parts.items())}")
