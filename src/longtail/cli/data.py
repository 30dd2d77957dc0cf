"""``longtail data``: data sets that are made on this machine, to try things with."""

from __future__ import annotations

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError

NAMES = ("synthetic", "debian", "wordnet")


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
    """Make a data set: synthetic (planted words), debian (package descriptions) or wordnet (glosses)."""
    from longtail import data
    from longtail.data import catalogue

    session = current()
    given = {"n_labels": labels, "n_documents": documents, "folder": folder, "seed": seed}
    wanted = {key: value for key, value in given.items() if value is not None}
    foreign = {"folder"} if name == "synthetic" else {"n_labels", "n_documents"}
    for key in foreign & set(wanted):
        raise UsageError(f"--{key.removeprefix('n_')} is not for the data set {name}")
    output.check_folder_is_free(target, force=force)
    run = session.run()
    with run.phase("make"):
        parts = catalogue.build(name, **wanted)
    with run.phase("write"):
        data.write(parts, target, format=to, force=force)
    session.written = True
    session.say(f"{target}: {', '.join(f'{len(part):,} documents in {key}' for key, part in parts.items())}")
