"""``longtail explain``: why a model gives a text its labels."""

from __future__ import annotations

import sys

import click

from longtail.cli import options, output
from longtail.cli.session import current, verbosity
from longtail.errors import UsageError


@click.command()
@click.argument("model", type=click.Path())
@click.option("--text", metavar="TEXT", default="", help="The text to explain; - is stdin.")
@click.option("--title", metavar="TEXT", default="", help="Its title, if it has one.")
@click.option("--label", "labels", metavar="ID", multiple=True, help="The label to explain; may be repeated.")
@click.option(
    "-k", default=3, show_default=True, type=click.IntRange(min=1), help="Best labels, if none is named."
)
@click.option("--revealed", metavar="ID", multiple=True, help="A label known already; may be repeated.")
@click.option("--html", "page", metavar="FILE", type=click.Path(), help="Write an HTML page.")
@options.as_json
@options.jobs
@options.force
@verbosity
def command(
    model: str,
    text: str,
    title: str,
    labels: tuple[str, ...],
    k: int,
    revealed: tuple[str, ...],
    page: str | None,
    as_json: bool,
    jobs: int | None,
    force: bool,
) -> None:
    """Show which words raised and lowered the scores of labels, and what else MODEL can say about them."""
    import longtail
    from longtail import threads
    from longtail.types import Document

    if text == output.STANDARD:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    # What is not UTF-8 on the command line cannot be written as JSON.
    text, title = (given.encode("utf-8", "replace").decode() for given in (text, title))
    if not (text or title):
        raise UsageError("there is nothing to explain: give a text with --text, or - to read it from stdin")
    if page is not None:
        output.check_file_is_free(page, force=force, inputs=[model])
    with threads.limit(jobs):
        system = longtail.load(model)
        found = system.explain(
            Document("", title=title, text=text),
            list(labels) or None,
            k=k,
            revealed=[list(revealed)] if revealed else None,
        )
    if page is not None:
        with output.opened(page, force=force) as handle:
            handle.write(found.to_html().encode("utf-8", "replace"))
        explained = "1 label" if len(found.labels) == 1 else f"{len(found.labels)} labels"
        current().say(f"{page}: {explained} explained")
    if as_json:
        output.print_json(found.to_dict())
    elif page is None:
        output.console().print(found.to_terminal())
