"""``longtail serve``: models behind HTTP, with a page to try them."""

from __future__ import annotations

import logging
import sys

import click

from longtail.cli import options
from longtail.cli.session import current, verbosity
from longtail.errors import MissingPackageError


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
@click.option("--log-texts", is_flag=True, help="Write the documents of requests to the log.")
@options.jobs
@verbosity
def command(models: tuple[str, ...], host: str, port: int, log_texts: bool, jobs: int | None) -> None:
    """Serve models over HTTP: a page at /, the API below /v1, its description at /docs.

    The first model is the default. SIGHUP loads models that changed, SIGTERM answers what was asked and ends.
    """
    try:
        from longtail.serving import server
        from longtail.serving.app import create_app
    except ModuleNotFoundError as error:
        package = (error.name or "fastapi").partition(".")[0]
        raise MissingPackageError(package, extra="serve", purpose="longtail serve") from None
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
    registry = Registry(paths, jobs=jobs)
    service = Service(registry, jobs=jobs, log_texts=log_texts)
    for served in registry.models.values():
        session.say(f"{served.name}: {served.path}, version {served.version}")
    session.written = True
    session.say(f"serving at {server.url_of(bound)}")
    server.run(create_app(service), service, bound)
