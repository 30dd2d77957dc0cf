"""Health and metrics: whether the process lives, whether it answers, what it has done."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from longtail.serving.json_body import JsonResponse
from longtail.serving.problem import Problem
from longtail.serving.service import Service


def router(service: Service) -> APIRouter:
    """``/health/live``, ``/health/ready`` and ``/metrics``."""
    routes = APIRouter()

    @routes.get("/health/live", summary="Whether the process runs", response_model=dict[str, str])
    async def live() -> Response:
        return JsonResponse({"status": "live"})

    @routes.get("/health/ready", summary="Whether requests are answered", response_model=dict[str, Any])
    async def ready() -> Response:
        if service.draining:
            raise Problem(503, "the service is shutting down", headers={"Retry-After": "5"})
        versions = {name: served.version for name, served in service.registry.models.items()}
        return JsonResponse({"status": "ready", "models": versions})

    @routes.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    async def metrics() -> Response:
        # Prometheus reads this version of its text format from every client.
        return Response(await service.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return routes
