"""JSON bodies: read by orjson (strict UTF-8, no NaN, bounded depth) and written by it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute

from longtail.serving.problem import Problem


class JsonRequest(Request):
    """A request whose JSON is read by orjson, whose errors are those of the standard library."""

    async def json(self) -> Any:
        """The body; keys and strings have no halves of surrogate pairs."""
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class JsonRoute(APIRoute):
    """A route that takes bodies of the media type ``application/json`` only."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with bodies read by orjson."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if self.body_field is not None:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                # A page of another origin may send other types without asking first.
                if kind != "application/json":
                    raise Problem(415, "the body must be of the type application/json")
            return await handler(JsonRequest(request.scope, request.receive))

        return handle


class JsonResponse(Response):
    """An answer written by orjson."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return dumps(content)


def dumps(content: Any) -> bytes:
    """An answer as JSON; scores may be numpy's float32."""
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
