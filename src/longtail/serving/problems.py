"""Errors as ``application/problem+json`` (RFC 9457): every answer of status 400 and above is one."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longtail.errors import LongtailError
from longtail.serving.problem import Problem

MEDIA_TYPE = "application/problem+json"
SHOWN_ERRORS = 5
"""Faults of a request body that one answer names at most."""

log = logging.getLogger("longtail.serving")


class ProblemResponse(Response):
    """The body of a problem: type, title, status, detail."""

    media_type = MEDIA_TYPE

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        title = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Error"
        # Names of keys come from the client and may have halves of surrogate pairs, which no UTF-8 has.
        detail = detail.encode("utf-8", "backslashreplace").decode()
        body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        super().__init__(orjson.dumps(body), status, dict(headers or {}))


SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    # FastAPI describes 422 in its own form unless told otherwise.
    422: {"description": "The request is not valid.", "content": {MEDIA_TYPE: {"schema": SCHEMA}}},
    "4XX": {"description": "The request cannot be answered.", "content": {MEDIA_TYPE: {"schema": SCHEMA}}},
    "5XX": {"description": "The service cannot answer.", "content": {MEDIA_TYPE: {"schema": SCHEMA}}},
}
"""What the OpenAPI description says of errors, for every route."""


def install(app: FastAPI) -> None:
    """Let every error of the app become a problem."""
    app.add_exception_handler(LongtailError, _longtail_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)


def response(error: LongtailError) -> ProblemResponse:
    """The answer to a request that raised this."""
    if isinstance(error, Problem):
        return ProblemResponse(error.status, str(error), error.headers)
    return ProblemResponse(error.http_status, str(error))


def not_json(error: ValueError) -> Problem:
    """A body that is no JSON; the error says what is wrong, not what is there."""
    return Problem(400, f"the body is not JSON: {getattr(error, 'msg', '')}")


async def _longtail_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LongtailError)
    return response(error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = f"there is nothing at {request.url.path}"
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.url.path} does not take {request.method}"
    return ProblemResponse(error.status_code, detail, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(fault.get("type") == "json_invalid" for fault in faults):
        reason = faults[0].get("ctx", {}).get("error", "")
        return ProblemResponse(400, f"the body is not JSON: {reason}")
    return ProblemResponse(422, in_words(faults))


def in_words(faults: Sequence[Any], *within: str) -> str:
    """Where each fault of a request is and what is wrong there; what the client sent is not repeated."""
    sentences = []
    for fault in faults[:SHOWN_ERRORS]:
        place = ".".join(str(part)[:100] for part in (*within, *fault.get("loc", ())))
        what = str(fault.get("msg", "is not valid")).removeprefix("Value error, ")
        sentences.append(f"{place}: {what}")
    more = [f"and {len(faults) - SHOWN_ERRORS} more"] if len(faults) > SHOWN_ERRORS else []
    return "; ".join([*sentences, *more])


async def _unexpected(request: Request, error: Exception) -> Response:
    return ProblemResponse(500, "something went wrong in the service; its log says where")


class NoErrorEscapes:
    """The outermost layer: logs an unexpected error by place and type, without what it was about."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with status 500 where the app raised before it answered."""
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            if scope["type"] != "http":
                raise
            # The message may quote a document, so it is left out.
            place = "".join(traceback.format_tb(error.__traceback__)[-3:])
            log.error("%s %r: %s at\n%s", scope["method"], scope["path"], type(error).__name__, place)
            if not started:
                await ProblemResponse(500, "something went wrong in the service; its log says where")(
                    scope, receive, send
                )
