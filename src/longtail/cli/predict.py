"""``longtail predict``: tag a file of any size, batch by batch, ids and order kept."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any, BinaryIO

import click

from longtail.cli import engines, label_choice, options, output
from longtail.cli import members as member_choice
from longtail.cli.session import current, verbosity
from longtail.errors import UnsupportedError, UsageError

OUTPUTS = ("jsonl", "csv", "parquet", "npz")


@click.command()
@click.argument("model", type=click.Path())
@click.argument("source", metavar="INPUT", type=click.Path())
@click.option(
    "-o", "--output", "target", default="-", type=click.Path(), help="The file to write.  [default: -]"
)
@click.option(
    "-k", default=5, show_default=True, type=click.IntRange(min=1), help="Labels per document at most."
)
@label_choice.options
@click.option(
    "--format", "format_", type=click.Choice(OUTPUTS), help="Of the output.  [default: by its ending]"
)
@click.option("--input-format", metavar="NAME", help="The format of INPUT.  [default: guessed]")
@click.option(
    "--edges", "links", metavar="FILE", type=click.Path(), help="Links of the documents, as in edges.tsv."
)
@member_choice.options
@engines.options("Where documents are tagged")
@click.option("--batch-size", default=4096, show_default=True, type=click.IntRange(min=1), hidden=True)
@options.reading
@options.jobs
@options.force
@verbosity
def command(
    model: str,
    source: str,
    target: str,
    k: int,
    format_: str | None,
    input_format: str | None,
    links: str | None,
    latency: float | None,
    members: str | None,
    engine: str,
    address: str | None,
    batch_size: int,
    jobs: int | None,
    force: bool,
    **columns: Any,
) -> None:
    """Tag the documents of INPUT with MODEL and write the K best labels of each (- is stdin and stdout).

    INPUT may be a folder of JSONL or Parquet files, which are read in the order of their names.
    """
    import longtail
    from longtail import threads
    from longtail.cli.prediction_engines import Tagged, answers
    from longtail.cli.prediction_files import BINARY, FORMATS, format_of
    from longtail.cli.prediction_sources import stream_all
    from longtail.cli.revealed_labels import RevealedLabels
    from longtail.data import read_edges
    from longtail.data.understood import as_trained
    from longtail.types import Documents

    member_choice.check(latency, members)
    choice = label_choice.chosen(columns)
    engines.check(engine, address)
    session = current()
    kind = format_ or format_of(target)
    if target == output.STANDARD and kind in BINARY and sys.stdout.isatty():
        raise UsageError(f"{kind} is not for a terminal: name a file with -o, or use --format jsonl")
    output.check_file_is_free(
        target, force=force, inputs=[model, source, *([] if links is None else [links])]
    )
    given = options.read_options(columns, with_labels=False)
    edges = None if links is None else read_edges(links, encoding=given.encoding)
    run = session.run()
    with threads.limit(jobs):
        with run.phase("load"):
            system = longtail.load(model)
        batches = stream_all(
            source,
            format=input_format,
            batch_size=batch_size,
            options=as_trained(given, system.facts_.reading),
            note=lambda found: session.say(found.line()),
        )
        known = RevealedLabels(system.labels_)
        if edges is not None and not system.capabilities.auxiliary_edges:
            raise UnsupportedError(f"the system '{system.name}' makes no use of edges: omit --edges")
        empty = 0
        first = next(batches, None)
        documents = first[0] if first is not None else Documents.of([])
        system = member_choice.chosen(system, documents, latency, members, session)
        label_choice.check(system, choice, session)
        with _handle(target, kind in BINARY, force) as handle, run.phase("predict") as phase:
            every = (
                Tagged(each, known.of(each)) for each, _ in chain([] if first is None else [first], batches)
            )
            with (
                closing(FORMATS[kind](handle, system.labels_)) as file,
                answers(engine, address, system, model, k, choice, edges, jobs) as answer,
            ):
                for documents, best in answer(every):
                    file.write(documents.ids, best)
                    phase.advance(len(documents))
                    if documents.features is None:
                        empty += sum(not text.strip() for text in documents.joined())
                file.finish()
            tagged = phase.done
    if not tagged:
        session.say(f"warning: there are no documents in {'standard input' if source == '-' else source}")
    if empty:
        session.say(f"warning: {empty:,} of {tagged:,} documents have no text")
    unknown = known.unknown_sentence(source)
    if unknown is not None:
        session.say(f"warning: {unknown}")
    if target != output.STANDARD:
        session.say(f"{target}: {tagged:,} documents tagged")


@contextmanager
def _handle(target: str, binary: bool, force: bool) -> Iterator[BinaryIO]:
    with output.opened(target, force=force) as handle:
        if target != output.STANDARD or not binary:
            yield handle
            return
        # These formats go back and forth in their file, which a pipe cannot do.
        with tempfile.TemporaryFile() as whole:
            yield whole
            whole.seek(0)
            shutil.copyfileobj(whole, handle)
