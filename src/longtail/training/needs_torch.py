"""Imports that need torch; where it is missing, the error says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from longtail import threads
from longtail.errors import MissingPackageError


@contextmanager
def needs_torch(purpose: str, extra: Literal["neural", "encoders"] = "neural") -> Iterator[None]:
    """Around imports: ``with needs_torch("training 'eclare'"): from ... import ...``.

    Args:
        purpose: what torch is needed for.
        extra: the extra of this package that brings it.
    """
    # Must be said before torch is there.
    threads.wait_without_spinning()
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingPackageError("torch", extra=extra, purpose=purpose) from None
