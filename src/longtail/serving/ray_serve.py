"""The web service as a deployment of Ray Serve: replicas of the app on the workers of a Ray cluster.

from longtail.serving.ray_serve import deployment
ray.serve.run(deployment({"news": "models/news"}, replicas=2))
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from longtail.engines.ray_cluster import ray_module
from longtail.errors import MissingPackageError, UsageError


def deployment(
    models: Mapping[str, str | Path], *, replicas: int = 1, jobs: int = 1, name: str = "longtail"
) -> Any:
    """An application for ``ray.serve.run``, which answers as ``longtail serve`` does; without feedback.

    Args:
        models: model folders by name; they must be at the same path on every machine.
        replicas: copies of the service, each with its own models.
        jobs: threads of a replica, which are the processors that it asks Ray for.
    """
    if replicas < 1 or jobs < 1:
        raise UsageError(f"replicas and jobs must be at least 1, not {replicas} and {jobs}")
    paths = {model: str(Path(path).resolve()) for model, path in models.items()}
    missing = next((path for path in paths.values() if not Path(path).is_dir()), None)
    if missing is not None or not paths:
        raise UsageError(
            "there is no model to serve" if missing is None else f"there is no model folder {missing}"
        )
    serve = _serve()
    replica = serve.deployment(
        name=name,
        num_replicas=replicas,
        ray_actor_options={"num_cpus": jobs},
        max_ongoing_requests=1000,
    )(serve.ingress(_app_of(paths, jobs))())
    return replica.bind()


def _app_of(paths: dict[str, str], jobs: int) -> Any:
    """A function that makes the app in the replica, where its models are loaded."""

    def build() -> Any:
        from longtail.serving.app import create_app
        from longtail.serving.registry import Registry
        from longtail.serving.service import Service

        registry = Registry({name: Path(path) for name, path in paths.items()}, jobs=jobs)
        return create_app(Service(registry, jobs=jobs))

    return build


def _serve() -> Any:
    ray_module("serving with Ray Serve")
    try:
        return import_module("ray.serve")
    except ImportError:
        raise MissingPackageError("ray[serve]", extra="ray", purpose="serving with Ray Serve") from None
