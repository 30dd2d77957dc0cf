"""Predictions past the web framework.

Nearly all requests of a busy service ask for labels. Routing, dependencies and middleware of FastAPI take
several times as long as such a request needs otherwise, so a layer before it answers them itself: in the same
way, by the same functions as the routes that FastAPI describes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import orjson
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from longtail.errors import LongtailError
from longtail.serving import problems
from longtail.serving.annif import FORM_TYPE, suggestions
from longtail.serving.json_body import dumps
from longtail.serving.problem import Problem
from longtail.serving.schemas import PredictIn
from longtail.serving.service import Service
from longtail.serving.v1 import predictions


class _Route(NamedTuple):
    """A route as metrics name it, and what answers it from the name of a model and the body."""

    path: str
    media_type: bytes
    answer: Callable[[Service, str, bytes], Awaitable[Any]]


async def _predict(service: Service, name: str, body: bytes) -> Any:
    if not body:
        raise Problem(422, "body: Field required")
    try:
        asked = PredictIn.model_validate(orjson.loads(body), from_attributes=True)
    except orjson.JSONDecodeError as error:
        raise problems.not_json(error) from None
    except ValidationError as error:
        raise Problem(422, problems.in_words(error.errors(), "body")) from None
    return await predictions(service, name, asked)


ROUTES = {
    ("models", "predict"): _Route("/v1/models/{name}/predict", b"application/json", _predict),
    ("projects", "suggest"): _Route("/v1/projects/{name}/suggest", FORM_TYPE.encode(), suggestions),
}
"""By the second and the last part of the path."""


class Direct:
    """Answers requests for labels; passes all others on."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        asks = scope["type"] == "http" and scope["method"] == "POST"
        parts: list[str] = scope["path"].split("/") if asks else []
        route = ROUTES.get((parts[2], parts[4])) if len(parts) == 5 and parts[1] == "v1" else None
        if route is None or not parts[3]:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        try:
            _check_media_type(scope, route.media_type)
            body = (await receive()).get("body", b"")
            content = dumps(await route.answer(self.service, parts[3], body))
        except LongtailError as error:
            await problems.response(error)(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(content)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def _check_media_type(scope: Scope, wanted: bytes) -> None:
    given = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    # A page of another origin may send other types without asking first.
    if given != wanted and given.partition(b";")[0].strip().lower() != wanted:
        raise Problem(415, f"the body must be of the type {wanted.decode()}")
