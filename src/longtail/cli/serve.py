"""``longtail serve``: models behind HTTP, with a page to try them."""

from __future__ import annotations

import ipaddress
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

import click

from longtail import threads
from longtail.cli import options
from longtail.cli.feedback_options import feedback_options, feedback_store
from longtail.cli.session import current, verbosity
from longtail.errors import MissingPackageError, UsageError
from longtail.serving.limits import Limits

F = TypeVar("F", bound=Callable[..., Any])

TOKEN = "LONGTAIL_ADMIN_TOKEN"
"""The environment variable with the admin token."""

LIMITS = {
    "body_bytes": ("--max-body", "Bytes of a request body."),
    "documents": ("--max-documents", "Documents of a request."),
    "explanations": ("--max-explanations", "Documents of a request that are explained."),
    "characters": ("--max-characters", "Characters of a document."),
    "k": ("--max-k", "Labels per document."),
    "batch": ("--batch", "Documents that are tagged in one go."),
    "queue": ("--queue", "Documents that may wait for a model; more are answered with status 429."),
    "requests": ("--max-requests", "Requests that may be under way at the same time."),
    "seconds": ("--timeout", "Seconds until a request is given up."),
    "drain_seconds": ("--drain", "Seconds that requests have left after SIGTERM."),
}
"""The option of each of the ``Limits``, and its help."""


def limit_options(command: F) -> F:
    """Add an option for each limit."""
    for field in reversed(fields(Limits)):
        option, text = LIMITS[field.name]
        values = click.FloatRange(min=0, min_open=True) if field.type == "float" else click.IntRange(min=1)
        add = click.option(
            option, field.name, type=values, default=field.default, show_default=True, help=text
        )
        command = add(command)
    return command


@click.command()
@click.argument("models", metavar="MODEL [NAME=MODEL ...]", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    default=8100,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen at; 0: any free one.",
)
@click.option("--api-keys", metavar="FILE", type=click.Path(), help="Answer only to the keys of this file.")
@click.option("--add-api-key", metavar="NAME", help="Add a key to the file of --api-keys, print it, and end.")
@click.option(
    "--admin-token-file",
    metavar="FILE",
    type=click.Path(),
    help=f"The token of /admin/reload.  [default: the environment's {TOKEN}; without one there is no such route]",
)
@feedback_options
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Processes that answer requests; each has the models in memory.",
)
@click.option("--worker", hidden=True, help="what a worker process inherits (internal)")
@click.option("--log-texts", is_flag=True, help="Write the documents of requests to the log.")
@limit_options
@options.jobs
@verbosity
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    api_keys: str | None,
    add_api_key: str | None,
    admin_token_file: str | None,
    feedback: str | None,
    no_feedback: bool,
    learn: bool,
    workers: int,
    worker: str | None,
    log_texts: bool,
    jobs: int | None,
    **limits: Any,
) -> None:
    """Serve models over HTTP: a page at /, the API below /v1, its description at /docs.

    The first model is the default. SIGHUP loads models that changed, SIGTERM answers what was asked and ends.
    """
    try:
        from longtail.serving import admin, server
        from longtail.serving.api_keys import ApiKeys, add_key
        from longtail.serving.app import create_app
        from longtail.serving.feedback_intake import FeedbackIntake, replayed
        from longtail.serving.registry import Registry, named_paths
        from longtail.serving.service import Service
        from longtail.serving.worker import Inherited, Worker
    except ModuleNotFoundError as error:
        package = (error.name or "fastapi").partition(".")[0]
        raise MissingPackageError(package, extra="serve", purpose="longtail serve") from None

    session = current()
    if add_api_key is not None:
        if api_keys is None:
            raise UsageError("--add-api-key needs the file: --api-keys FILE")
        click.echo(add_key(api_keys, add_api_key))
        return
    if not models:
        raise UsageError("name a model to serve: longtail serve MODEL")
    bounds = Limits(**limits)
    paths = named_paths(models)
    keys = None if api_keys is None else ApiKeys(api_keys)
    server.end_at_once_on_signals()
    token = admin.read_token(admin_token_file, os.environ.get(TOKEN))
    _log_to_stderr(session.quiet)
    if workers > 1 and worker is None:
        _serve_with_workers(workers, host, port, bounds.drain_seconds)
        return
    one = None if worker is None else Worker(Inherited.of(worker))
    bound = server.bound_socket(host, port) if one is None else one.bound
    store = feedback_store(feedback, next(iter(paths.values())), none=no_feedback, learn=learn)
    prepare = partial(replayed, store) if store is not None and learn else None
    jobs = jobs or max(threads.available() // workers, 1)
    registry = Registry(paths, jobs=jobs, prepare=prepare)
    intake = None if store is None else FeedbackIntake(registry, store, learn=learn, others=one)
    service = Service(registry, bounds, jobs=jobs, feedback=intake, log_texts=log_texts)
    if one is None or one.number == 0:
        for served in registry.models.values():
            session.say(f"{served.name}: {served.path}, version {served.version}")
        if keys is None and not _is_local(bound.getsockname()[0]):
            session.say("warning: everybody who can reach this address can use the service: see --api-keys")
    session.written = True
    app = create_app(service, api_keys=keys, admin_token=token)

    def listening() -> None:
        if one is None:
            session.say(f"serving at {server.url_of(bound)}")

    try:
        server.run(app, service, bound, listening, one)
    finally:
        if store is not None:
            store.close()


def _serve_with_workers(workers: int, host: str, port: int, drain_seconds: float) -> None:
    if sys.platform != "linux":
        raise UsageError("--workers needs Linux, where connections to one port are spread over processes")
    from longtail.serving.server import bound_socket
    from longtail.serving.supervisor import supervise

    session = current()
    # Another service at this port is refused here: workers would share the port with it.
    bound_socket(host, port).close()
    with bound_socket(host, port, shared=True) as reserved:
        arguments = [*session.arguments, f"--host={host}", f"--port={reserved.getsockname()[1]}"]
        session.written = True
        code = supervise(arguments, workers, reserved, drain_seconds=drain_seconds, say=session.say)
    raise click.exceptions.Exit(code)


def _is_local(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _log_to_stderr(quiet: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING if quiet else logging.INFO, format="%(asctime)s %(message)s"
    )
