"""Reload by request: with the token, and not there without one."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import longtail
from longtail.errors import DataError, UsageError
from longtail.serving.admin import read_token
from longtail.serving.registry import Registry, version_of
from longtail.serving.service import Service
from tests.serving.running import running

TOKEN = "a token of this test"


def test_a_token_comes_from_a_file_or_the_environment(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert read_token(str(path), "another token of theirs") == TOKEN
    assert read_token(None, f" {TOKEN} ") == TOKEN
    assert read_token(None, None) is None
    with pytest.raises(UsageError, match="at least 16 characters, not 5"):
        read_token(None, "short")
    with pytest.raises(DataError, match="cannot be read"):
        read_token(str(tmp_path / "nothing"), None)


def test_without_a_token_there_is_no_such_route(registry):
    with running(Service(registry, jobs=1)) as server:
        assert server.post("/admin/reload", None).status == 404
        assert "/admin/reload" not in server.get("/openapi.json").json["paths"]


def test_models_are_reloaded_with_the_token_only(linear, knn, tmp_path):
    folder = Path(shutil.copytree(linear, tmp_path / "model"))
    service = Service(Registry({"m": folder}, jobs=1), jobs=1)
    with running(service, admin_token=TOKEN) as server:
        for wrong in ({}, {"Authorization": "Bearer a token of others"}, {"Authorization": f"Basic {TOKEN}"}):
            answer = server.post("/admin/reload", None, **wrong)
            assert answer.status == 401
            assert "admin token" in answer.detail
        asked = {"Authorization": f"Bearer {TOKEN}"}
        shutil.rmtree(folder)
        shutil.copytree(knn, folder)
        assert server.post("/admin/reload", None, **asked).json == {"models": {"m": version_of(knn)}}
        assert server.get("/v1/models/m").json["system"] == "knn"
        (folder / "manifest.json").write_bytes(b"{}")
        failed = server.post("/admin/reload", None, **asked)
        assert failed.status == 409
        assert failed.detail.startswith("the models stay as they are: ")
        assert server.get("/v1/models/m").json["version"] == version_of(knn)
        counted = server.get("/metrics").body.decode()
    assert 'longtail_reloads_total{result="done"} 1.0' in counted
    assert 'longtail_reloads_total{result="failed"} 1.0' in counted


def test_reloads_under_load_fail_no_request_and_mix_no_versions(linear, knn, tmp_path, tiny):
    folder = Path(shutil.copytree(linear, tmp_path / "model"))
    texts = tiny.test.documents.joined()[:6]
    expected = {version_of(path): longtail.load(path).predict(texts, k=3).labels for path in (linear, knn)}
    body = {"documents": [{"text": text} for text in texts], "k": 3}
    service = Service(Registry({"m": folder}, jobs=1), jobs=1)
    done = threading.Event()
    with running(service, admin_token=TOKEN) as server, ThreadPoolExecutor(4) as pool:

        def ask_on() -> list[tuple[int, str, list[list[str]]]]:
            found = []
            while not done.is_set():
                answer = server.post("/v1/models/m/predict", body)
                labels = [[one["id"] for one in row["labels"]] for row in answer.json["predictions"]]
                found.append((answer.status, answer.json["version"], labels))
            return found

        asking = [pool.submit(ask_on) for _ in range(4)]
        for other in [knn, linear] * 3:
            shutil.rmtree(folder)
            shutil.copytree(other, folder)
            asked = {"Authorization": f"Bearer {TOKEN}"}
            assert server.post("/admin/reload", None, **asked).json["models"]["m"] == version_of(other)
        done.set()
        answers = [answer for future in asking for answer in future.result(60)]
    assert {status for status, _, _ in answers} == {200}
    assert all(labels == expected[version] for _, version, labels in answers)
    assert len({version for _, version, _ in answers}) == 2
