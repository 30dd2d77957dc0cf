"""The ASGI app: routes of a service, the page, and the layers that every request passes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import longtail
from longtail.serving import health, problems, v1
from longtail.serving.metrics import Measured
from longtail.serving.request_limits import RequestLimits
from longtail.serving.security_headers import SecurityHeaders
from longtail.serving.service import Service

STATIC = Path(__file__).parent / "static"


def create_app(service: Service) -> ASGIApp:
    """The app of a service."""
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
    app.include_router(health.router(service))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    layered: ASGIApp = RequestLimits(app, service.limits)
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
