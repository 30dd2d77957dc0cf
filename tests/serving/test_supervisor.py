"""Several workers at one address: signals, reload, feedback, metrics, and a worker that dies; real processes."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from longtail.serving.registry import version_of
from longtail.serving.supervisor import worker_command
from tests.serving.learning_service import saved_model
from tests.serving.test_server import BODY, Process, process

TOKEN = "a token of this test"
PREDICT = "/v1/models/m/predict"


def children(server: Process) -> set[int]:
    path = Path(f"/proc/{server.popen.pid}/task/{server.popen.pid}/children")
    return set(map(int, path.read_text().split()))


@pytest.fixture(scope="module")
def folder(linear: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(linear, tmp_path_factory.mktemp("workers") / "model"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Process]:
    with process(f"m={folder}", "--workers", 2, "--no-feedback", LONGTAIL_ADMIN_TOKEN=TOKEN) as made:
        yield made


def count(server: Process, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(server.ask("GET", "/metrics").body.decode())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def both_answer(server: Process) -> set[str]:
    """The versions that many connections find, which the kernel spreads over the workers."""
    return {server.ask("POST", PREDICT, BODY).json["version"] for _ in range(30)}


def test_all_workers_answer_and_metrics_are_those_of_all(server: Process, linear: Path):
    assert len(children(server)) == 2
    before = count(server, "longtail_requests_total", route="/v1/models/{name}/predict")
    assert both_answer(server) == {version_of(linear)}
    after = count(server, "longtail_requests_total", route="/v1/models/{name}/predict")
    assert after - before == 30
    assert count(server, "longtail_model_info", model="m") == 1


def test_a_reload_is_for_all_or_for_none(server: Process, folder: Path, linear: Path, knn: Path):
    done = count(server, "longtail_reloads_total", result="done")
    shutil.rmtree(folder)
    shutil.copytree(knn, folder)
    answer = server.ask("POST", "/admin/reload", Authorization=f"Bearer {TOKEN}")
    for _ in range(2):
        server.wait_for("models reloaded")
    assert (answer.status, answer.json) == (200, {"models": {"m": version_of(knn)}})
    assert both_answer(server) == {version_of(knn)}
    assert count(server, "longtail_reloads_total", result="done") == done + 1
    (folder / "manifest.json").write_text("{}")
    refused = server.ask("POST", "/admin/reload", Authorization=f"Bearer {TOKEN}")
    assert refused.status == 409
    assert "the models stay as they are" in refused.detail
    assert both_answer(server) == {version_of(knn)}
    shutil.rmtree(folder)
    shutil.copytree(linear, folder)
    server.popen.send_signal(signal.SIGHUP)
    server.wait_for("models reloaded")
    server.wait_for("models reloaded")
    assert both_answer(server) == {version_of(linear)}


def test_a_worker_that_dies_is_replaced(server: Process):
    before = children(server)
    os.kill(min(before), signal.SIGKILL)
    server.wait_for(r"worker \d ended with code -9")
    assert server.ask("POST", PREDICT, BODY).status == 200
    server.wait_for("models reloaded")
    server.wait_for("models reloaded")
    assert len(children(server)) == 2 != len(children(server) & before)
    assert len(both_answer(server)) == 1


def test_sigterm_drains_all_workers_and_ends_with_0(linear: Path):
    with process(f"m={linear}", "--workers", 2) as server:
        place = urlsplit(server.url)
        connections = []
        for _ in range(8):
            connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
            connection.putrequest("POST", PREDICT)
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(BODY)))
            connection.endheaders()
            connection.send(BODY[:10])
            connections.append(connection)
        assert server.ask("GET", "/health/ready").status == 200
        server.popen.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.popen.poll() is None
        for connection in connections:
            connection.send(BODY[10:])
            assert connection.getresponse().status == 200
        assert server.popen.wait(60) == 0


def test_workers_end_with_their_supervisor(linear: Path):
    with process(f"m={linear}", "--workers", 2, "--drain", 1) as server:
        workers = children(server)
        server.popen.kill()
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_feedback_to_one_worker_is_learned_by_all_before_it_is_acknowledged(tmp_path: Path):
    model = saved_model(tmp_path / "knn")
    with process(f"animals={model}", "--workers", 2, "--learn") as server:
        for number, label in enumerate(("hen", "owl", "ant", "fox", "hen", "owl")):
            text = f"the number3 of a text and number{number}"
            given = {"document": {"text": text}, "added": [label]}
            answer = server.ask("POST", "/v1/models/animals/feedback", given)
            assert (answer.status, answer.json["learned"]) == (201, True)
            asked = {"documents": [{"text": text}], "k": 1}
            answers = [server.ask("POST", "/v1/models/animals/predict", asked) for _ in range(12)]
            assert {each.json["predictions"][0]["labels"][0]["id"] for each in answers} == {label}
            versions = {each.json["version"] for each in answers}
            assert len(versions) == 1
            assert re.fullmatch(rf"\w+\+{number + 1}", versions.pop())


def test_a_model_that_cannot_be_loaded_is_said_once(tmp_path: Path):
    with pytest.raises(AssertionError) as caught, process(tmp_path / "none", "--workers", 3):
        pass
    assert str(caught.value).count("is no model folder") == 1


def test_a_worker_finds_the_modules_of_its_supervisor(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", "")
    command = worker_command(["serve", "m"])
    assert command[1:] == ["-P", "-m", "longtail", "serve", "m"]
    assert os.environ["PYTHONPATH"]
