"""The options of ``longtail serve`` about feedback, and the database that they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from longtail.errors import UsageError

if TYPE_CHECKING:
    from longtail.serving.feedback import FeedbackStore

F = TypeVar("F", bound=Callable[..., Any])

FILE = "feedback.sqlite"
"""The default name, beside the first model."""


def feedback_options(command: F) -> F:
    """Add ``--feedback``, ``--no-feedback`` and ``--learn``."""
    place = click.option(
        "--feedback",
        metavar="FILE|URL",
        help="The database of feedback: an SQLite file, or an SQLAlchemy URL.  "
        f"[default: {FILE} beside the first model]",
    )
    none = click.option("--no-feedback", is_flag=True, help="Take no feedback.")
    learn = click.option(
        "--learn", is_flag=True, help="Let models with nearest neighbours (knn) learn from feedback at once."
    )
    return place(none(learn(command)))


def feedback_store(place: str | None, model: Path, *, none: bool, learn: bool) -> FeedbackStore | None:
    """The database that the options name; without a name it is a file beside the model."""
    from longtail.serving.feedback import FeedbackStore

    if none:
        if place is not None or learn:
            raise UsageError(f"--no-feedback and {'--learn' if learn else '--feedback'} exclude each other")
        return None
    try:
        return FeedbackStore(model.resolve().parent / FILE if place is None else place)
    except UsageError as error:
        if place is not None:
            raise
        raise UsageError(f"{error}; name another place with --feedback, or give --no-feedback") from None
