"""Health and metrics over HTTP."""

from longtail.serving.service import Service
from tests.serving.running import running


def test_a_running_service_is_live_and_ready(registry):
    service = Service(registry, jobs=1)
    with running(service) as server:
        assert server.get("/health/live").json == {"status": "live"}
        ready = server.get("/health/ready").json
        assert ready["status"] == "ready"
        assert ready["models"] == {name: served.version for name, served in registry.models.items()}
        service.draining = True
        answer = server.get("/health/ready")
        assert (answer.status, answer.detail) == (503, "the service is shutting down")
        assert server.get("/health/live").status == 200


def test_metrics_are_in_the_format_of_prometheus(served):
    answer = served.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE longtail_requests_total counter" in answer.body
