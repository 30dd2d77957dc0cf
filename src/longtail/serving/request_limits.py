"""The layer that bounds what a request may send: bytes of its body, time to send it, requests at the same time."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longtail.serving.http_head import WHOLE_BODY
from longtail.serving.limits import Limits
from longtail.serving.problem import Problem
from longtail.serving.problems import ProblemResponse

UNLIMITED = ("/health/", "/metrics", "/static/")
"""Paths that are answered also when there are too many requests; the page itself says then that there are."""


class RequestLimits:
    """Answers 413 to a body that is too long, 408 to one that is too slow, 429 when there are too many requests."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a bounded body, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._under_way >= self.limits.requests and not _unlimited(scope["path"]):
            detail = f"{self._under_way:,} requests are under way already: try again later"
            await ProblemResponse(429, detail, {"Retry-After": "1"})(scope, receive, send)
            return
        self._under_way += 1
        try:
            body = await self._body(scope, receive)
            await self.app(scope, _once(body, receive), send)
        except Problem as problem:
            # The rest of the body has not been read, so the connection cannot be used again.
            headers = {**problem.headers, "Connection": "close"}
            await ProblemResponse(problem.status, str(problem), headers)(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, which is never longer in memory than it may be."""
        longest = self.limits.body_bytes
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if told.isdigit() and (len(told) > 18 or int(told) > longest):
            raise _too_long(longest)
        if WHOLE_BODY in scope.get("extensions", ()):
            whole: bytes = (await receive()).get("body", b"")
            if len(whole) > longest:
                raise _too_long(longest)
            return whole
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        break
                    part = message.get("body", b"")
                    size += len(part)
                    if size > longest:
                        raise _too_long(longest)
                    parts.append(part)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Problem(408, f"the body did not come within {self.limits.seconds:g} seconds") from None
        return b"".join(parts)


def _unlimited(path: str) -> bool:
    return path == "/" or path.startswith(UNLIMITED)


def _too_long(longest: int) -> Problem:
    return Problem(413, f"the body is longer than {longest:,} bytes")


def _once(body: bytes, receive: Receive) -> Receive:
    """Gives the body in one piece, then whatever comes."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message
