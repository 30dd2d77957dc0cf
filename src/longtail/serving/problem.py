"""The error of a request that has an HTTP status of its own."""

from __future__ import annotations

from collections.abc import Mapping

from longtail.errors import LongtailError


class Problem(LongtailError):
    """What is wrong with a request, with the status and headers of its answer."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.headers = status, dict(headers or {})
