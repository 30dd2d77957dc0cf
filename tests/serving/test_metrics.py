"""Metrics count requests, times, batches, queues and versions; the access log has no query and no text."""

from __future__ import annotations

import logging

from prometheus_client.parser import text_string_to_metric_families

from longtail.serving.metrics import Metrics, route_of, together
from longtail.serving.service import Service
from tests.serving.running import Running, running


def samples(server: Running) -> dict[tuple[str, ...], float]:
    text = server.get("/metrics").body.decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_service_counts_what_it_does(registry, caplog):
    caplog.set_level(logging.INFO)
    with running(Service(registry, jobs=1)) as server:
        body = {"documents": [{"text": "a secret"}, {"text": "b"}]}
        for _ in range(3):
            server.post("/v1/models/linear/predict", body)
        server.get("/v1/models/linear/labels?q=secret")
        for path in ("/nothing", "/more/of/nothing"):
            server.get(path)
        found = samples(server)
    predict = "/v1/models/{name}/predict"
    assert found["longtail_requests_total", predict, "200"] == 3
    assert found["longtail_request_seconds_count", predict] == 3
    assert found["longtail_requests_total", "other", "404"] == 2
    assert found["longtail_documents_total", "linear"] == 6
    assert found["longtail_batch_documents_count", "linear"] == 3
    assert found["longtail_batch_documents_bucket", "2.0", "linear"] == 3
    assert found["longtail_queue_documents", "linear"] == 0
    assert found["longtail_model_info", "linear", registry.get("linear").version] == 1
    assert "POST '/v1/models/linear/predict' 200" in caplog.text
    assert "GET '/v1/models/linear/labels' 200" in caplog.text
    assert "secret" not in caplog.text


def test_two_services_do_not_mix():
    one, other = Metrics(), Metrics()
    one.requests.labels("/", 200).inc()
    assert b'route="/"' in one.text()
    assert b'route="/"' not in other.text()


def test_an_unknown_path_has_no_series_of_its_own():
    assert route_of({"type": "http", "path": "/x"}) == "other"


def test_metrics_of_several_processes_are_added_up():
    one = '# TYPE a counter\na_total{x="1 {"} 2.0\na_created 7.0\nlongtail_model_info{v="b"} 1.0\n'
    two = '# TYPE a counter\na_total{x="1 {"} 3.5\na_total{x="2"} 1.0\na_created 6.0\n'
    two += 'longtail_model_info{v="b"} 1.0\n'
    assert together([one, two]).decode().splitlines() == [
        "# TYPE a counter",
        'a_total{x="1 {"} 5.5',
        "a_created 6.0",
        'longtail_model_info{v="b"} 1.0',
        'a_total{x="2"} 1.0',
    ]
