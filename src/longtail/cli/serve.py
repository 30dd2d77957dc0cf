"""``longtail serve``: models behind HTTP, with a page to try them."""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longtail.cli import options
from longtail.cli.session import current, verbosity
from longtail.errors import MissingPackageError, UsageError

if TYPE_CHECKING:
    from longtail.serving.feedback import FeedbackStore

FEEDBACK_FILE = "feedback.sqlite"


@click.command()
@click.argument("models", metavar="MODEL [NAME=MODEL ...]", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    default=8100,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen at; 0: any free one.",
)
@click.option(
    "--feedback",
    metavar="FILE|URL",
    help="The database of feedback: an SQLite file, or an SQLAlchemy URL.  "
    "[default: feedback.sqlite beside the first model]",
)
@click.option("--no-feedback", is_flag=True, help="Take no feedback.")
@click.option(
    "--learn", is_flag=True, help="Let models with nearest neighbours (knn) learn from feedback at once."
)
@click.option("--log-texts", is_flag=True, help="Write the documents of requests to the log.")
@options.jobs
@verbosity
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    feedback: str | None,
    no_feedback: bool,
    learn: bool,
    log_texts: bool,
    jobs: int | None,
) -> None:
    """Serve models over HTTP: a page at /, the API below /v1, its description at /docs.

    The first model is the default. SIGHUP loads models that changed, SIGTERM answers what was asked and ends.
    """
    try:
        from longtail.serving import server
        from longtail.serving.app import create_app
    except ModuleNotFoundError as error:
        package = (error.name or "fastapi").partition(".")[0]
        raise MissingPackageError(package, extra="serve", purpose="longtail serve") from None
    from longtail.serving.feedback_intake import FeedbackIntake, replayed
    from longtail.serving.registry import Registry, named_paths
    from longtail.serving.service import Service

    session = current()
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING if session.quiet else logging.INFO,
        format="%(asctime)s %(message)s",
    )
    paths = named_paths(models)
    bound = server.bound_socket(host, port)
    store = feedback_store(feedback, next(iter(paths.values())), none=no_feedback, learn=learn)
    prepare = partial(replayed, store) if store is not None and learn else None
    registry = Registry(paths, jobs=jobs, prepare=prepare)
    intake = None if store is None else FeedbackIntake(registry, store, learn=learn)
    service = Service(registry, jobs=jobs, feedback=intake, log_texts=log_texts)
    for served in registry.models.values():
        session.say(f"{served.name}: {served.path}, version {served.version}")
    session.written = True
    session.say(f"serving at {server.url_of(bound)}")
    try:
        server.run(create_app(service), service, bound)
    finally:
        if store is not None:
            store.close()


def feedback_store(place: str | None, model: Path, *, none: bool, learn: bool) -> FeedbackStore | None:
    """The database of feedback that the options name; without a name it is a file beside the model."""
    from longtail.serving.feedback import FeedbackStore

    if none:
        if place is not None or learn:
            raise UsageError(f"--no-feedback and {'--learn' if learn else '--feedback'} exclude each other")
        return None
    try:
        return FeedbackStore(model.resolve().parent / FEEDBACK_FILE if place is None else place)
    except UsageError as error:
        if place is not None:
            raise
        raise UsageError(f"{error}; name another place with --feedback, or give --no-feedback") from None
