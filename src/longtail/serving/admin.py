"""Administration: reload by request. The routes are there only with a token."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

from fastapi import APIRouter, Request, Response

from longtail.errors import DataError, UsageError
from longtail.serving.api_keys import bearer
from longtail.serving.json_body import JsonResponse
from longtail.serving.problem import Problem
from longtail.serving.service import Service

SHORTEST = 16
"""Characters of a token at least."""


def read_token(path: str | None, environment: str | None) -> str | None:
    """The token of a file, else of the environment; None if there is neither."""
    token = environment
    if path is not None:
        try:
            token = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"the admin token cannot be read: {reason}", path=path) from None
    if token is None:
        return None
    token = token.strip()
    if len(token) < SHORTEST:
        raise UsageError(f"the admin token must have at least {SHORTEST} characters, not {len(token)}")
    return token


def router(service: Service, token: str) -> APIRouter:
    """``/admin/reload``."""
    routes = APIRouter(prefix="/admin")
    expected = hashlib.sha256(token.encode()).digest()

    @routes.post("/reload", response_model=dict[str, dict[str, str]], summary="Load models that changed")
    async def reload(request: Request) -> Response:
        given = hashlib.sha256((bearer(request.scope) or "").encode()).digest()
        if not hmac.compare_digest(given, expected):
            detail = "this needs the admin token: Authorization: Bearer TOKEN"
            raise Problem(401, detail, headers={"WWW-Authenticate": "Bearer"})
        return JsonResponse({"models": await service.reload_everywhere()})

    return routes
