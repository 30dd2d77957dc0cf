"""``longtail feedback``: what users of the web service said of its predictions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.errors import MissingPackageError

if TYPE_CHECKING:
    from longtail.serving.feedback import FeedbackStore

database = click.argument("database", metavar="DB")
of_model = click.option("--model", metavar="NAME", help="Only feedback about the model of this name.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List feedback, or write it as training documents.

    DB is the file that longtail serve keeps (feedback.sqlite beside the first model), or the URL of a database.
    """


@command.command()
@database
@click.option(
    "-o", "--output", "target", default="-", show_default=True, help="The file to write, - is stdout."
)
@of_model
@options.force
@verbosity
def export(database: str, target: str, model: str | None, force: bool) -> None:
    """Write documents with their accepted and added labels as JSON lines, ready for longtail train.

    The latest feedback on a document counts. Documents with rejected labels only are left out.
    """
    import orjson

    from longtail.serving.feedback_export import training_records

    output.check_file_is_free(target, force=force, inputs=[database])
    written = 0
    with opened(database) as store:
        records = training_records(store, model)
        with output.opened(target, force=force) as handle:
            for record in records:
                handle.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                written += 1
    current().say(f"{'standard output' if target == output.STANDARD else target}: {written:,} documents")


@command.command("list")
@database
@of_model
@options.as_json
@verbosity
def list_(database: str, model: str | None, as_json: bool) -> None:
    """Show all entries, the oldest first; --json prints one JSON object per line, with the texts."""
    import orjson

    from longtail.serving.feedback_export import as_record

    with opened(database) as store:
        if as_json:
            for entry in store.entries(model):
                click.echo(orjson.dumps(as_record(entry)))
            return
        rows: list[tuple[str, ...]] = [("time", "model", "user", "document", "accepted", "rejected", "added")]
        rows += [
            (
                entry.time.strftime("%Y-%m-%d %H:%M:%S"),
                entry.model,
                entry.user or "-",
                entry.document.id or entry.document_key[:15],
                *(", ".join(labels) or "-" for labels in (entry.accepted, entry.rejected, entry.added)),
            )
            for entry in store.entries(model)
        ]
    output.print_table(rows)


@contextmanager
def opened(database: str) -> Iterator[FeedbackStore]:
    """The store, for reading."""
    try:
        from longtail.serving.feedback import FeedbackStore
    except ModuleNotFoundError as error:
        raise MissingPackageError(error.name or "sqlalchemy", extra="serve", purpose="feedback") from None
    store = FeedbackStore(database, writable=False)
    try:
        yield store
    finally:
        store.close()
