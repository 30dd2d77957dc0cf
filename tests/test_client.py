"""The client gives what the model itself gives."""

from __future__ import annotations

import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from subprocess import run

import numpy as np
import pytest

from longtail import client as module
from longtail.client import Client
from longtail.errors import ServiceError, UsageError
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from longtail.systems import create
from longtail.types import Document
from tests.planted import Parts
from tests.serving.running import running


@pytest.fixture(scope="module")
def served(tiny: Parts, tmp_path_factory):
    place = tmp_path_factory.mktemp("served") / "linear"
    create("linear").fit(tiny.train, valid=tiny.valid).save(place)
    with running(Service(Registry({"linear": place}, jobs=1), jobs=1)) as server:
        yield server


@pytest.fixture
def client(served):
    with Client(served.url) as made:
        yield made


@pytest.fixture
def model(served):
    return served.service.registry.get("linear").system


@pytest.mark.parametrize(
    "options",
    [{}, {"k": 2}, {"k": 10, "threshold": 0.3}, {"precision": 0.5}, {"max_f1": True}],
    ids=str,
)
def test_predictions_are_those_of_the_model(client, model, tiny, monkeypatch, options):
    monkeypatch.setattr(module, "DOCUMENTS", 7)  # several requests
    texts = tiny.test.documents.joined()
    there, here = client.predict(texts, **options), model.predict(texts, **options)
    assert there.labels == here.labels
    np.testing.assert_array_equal(there.scores, here.scores)
    assert client.version is not None


def test_documents_and_revealed_labels_are_sent(client, model, tiny):
    documents = tiny.test.documents[:5]
    known = [answer[:1] for answer in model.predict(documents).labels]
    assert client.predict(documents, revealed=known).labels == model.predict(documents, revealed=known).labels
    with pytest.raises(UsageError, match="5 documents but 1 lists"):
        client.predict(documents, revealed=[[]])
    with pytest.raises(UsageError, match="feature rows"):
        client.predict(tiny.test.Y)


def test_no_documents_make_no_request():
    assert len(Client("http://127.0.0.1:9", model="any").predict([])) == 0


def test_explanations_are_those_of_the_model(client, model, tiny):
    document = tiny.test.documents[3]
    assert client.explain(document).to_dict() == model.explain(document).to_dict()
    one = client.explain(document, "label-1", revealed=[["label-2"]])
    assert [label.id for label in one.labels] == ["label-1"]
    assert "<html" in one.to_html()


def test_labels_models_and_their_description(client, tiny):
    assert client.model == "linear"
    assert client.info()["system"] == "linear"
    assert [model["name"] for model in client.models()] == ["linear"]
    text = tiny.train.labels.texts[4]
    assert client.labels(text, limit=1)[0]["id"] == "label-4"
    assert client.label("label-4")["text"] == text


def test_errors_are_those_of_the_service(client):
    with pytest.raises(ServiceError, match=r"404.*no label 'a/b'") as caught:
        client.label("a/b")
    assert caught.value.status == 404
    with pytest.raises(ServiceError, match="takes no feedback"):
        client.feedback(Document("d", text="a"), accepted=["label-1"])
    with pytest.raises(UsageError, match="is not the address"):
        Client("127.0.0.1:8100")


def test_a_service_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ServiceError, match="does not answer") as caught:
            Client(f"http://127.0.0.1:{taken.getsockname()[1]}").models()
    assert caught.value.status is None


def test_threads_may_share_a_client(client, model, tiny):
    texts = tiny.test.documents.joined()[:24]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda text: client.predict(text).labels[0], texts))
    assert found == model.predict(texts).labels


class Busy(BaseHTTPRequestHandler):
    """Busy twice, then it answers and closes the connection."""

    protocol_version = "HTTP/1.1"
    left = 2

    def do_GET(self):
        status, body = (429, b'{"detail": "busy"}') if Busy.left else (200, b'{"models": []}')
        Busy.left -= bool(Busy.left)
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        # Without saying so, as a service does with connections that were idle for long.
        self.close_connection = True

    def log_message(self, *arguments):
        pass


def test_a_busy_service_is_asked_again_also_on_a_connection_that_it_closed():
    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            client = Client(f"http://127.0.0.1:{server.server_port}")
            assert client.models() == []
            Busy.left = 1
            with pytest.raises(ServiceError, match="429: busy"):
                Client(f"http://127.0.0.1:{server.server_port}", retries=0).models()
        finally:
            server.shutdown()
            thread.join()


def test_the_client_needs_neither_the_service_nor_the_kernels():
    code = "import sys, longtail.client; print(sorted({'fastapi', 'numba', 'scipy'} & set(sys.modules)))"
    assert run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
