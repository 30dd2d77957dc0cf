"""The ASGI app: routes of a service, the page, and the layers that every request passes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import longtail
from longtail.serving import admin, annif, health, problems, v1
from longtail.serving.api_keys import ApiKeys, KeyRequired
from longtail.serving.direct import Direct
from longtail.serving.docs_page import docs_page
from longtail.serving.metrics import Measured
from longtail.serving.request_limits import RequestLimits
from longtail.serving.security_headers import SecurityHeaders
from longtail.serving.service import Service

STATIC = Path(__file__).parent / "static"


def create_app(
    service: Service, *, api_keys: ApiKeys | None = None, admin_token: str | None = None
) -> ASGIApp:
    """The app of a service; with keys the API asks for one, with a token there are routes of administration."""
    app = FastAPI(
        title="longtail",
        version=longtail.__version__,
        description="Tags texts with the few right labels out of a very large set.",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan(service),
        responses=problems.RESPONSES,
    )
    problems.install(app)
    app.include_router(v1.router(service))
    app.include_router(annif.router(service))
    app.include_router(health.router(service))
    if admin_token is not None:
        app.include_router(admin.router(service, admin_token))

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(docs_page(app.openapi()))

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    layered: ASGIApp = RequestLimits(Direct(app, service), service.limits)
    if api_keys is not None:
        service.on_reload(api_keys.reload)
        layered = KeyRequired(layered, api_keys)
    layered = Measured(layered, service.metrics)
    layered = problems.NoErrorEscapes(layered)
    return SecurityHeaders(layered)


def _lifespan(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        # Requests under way have been answered by now, unless the time to do so is over.
        service.close()

    return lifespan
