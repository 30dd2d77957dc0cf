"""The examples of docs/serving.md run against a real server, and its tables are those of the code."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from longtail.cli.serve import LIMITS
from longtail.data import catalogue
from longtail.serving.limits import Limits
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from longtail.systems import create
from tests.docs.test_docs import ROOT, blocks
from tests.serving.running import running

PAGE = ROOT / "docs" / "serving.md"
URL = "http://127.0.0.1:8100"
TOKEN = "a token of this test"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "demo"
    data = catalogue.build("synthetic", n_labels=100, n_documents=400)
    create("linear").fit(data["train"], valid=data["valid"]).save(folder)
    service = Service(Registry({"demo": folder}, jobs=1), jobs=1)
    with running(service, admin_token=TOKEN) as made:
        yield made


def test_python_of_the_page_runs(server, capsys):
    for block in blocks(PAGE, "python"):
        exec(block.replace(URL, server.url), {})
    assert "demo" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_requests_of_the_page_are_answered(server):
    lines = [line for block in blocks(PAGE, "sh") for line in block.splitlines() if line.startswith("curl")]
    assert len(lines) == 4
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line.replace(URL, server.url)],
            capture_output=True,
            text=True,
            env={"LONGTAIL_ADMIN_TOKEN": TOKEN, "PATH": "/usr/bin:/bin:/usr/local/bin"},
        )
        assert done.stdout.startswith("{"), line
        assert '"status"' not in done.stdout, done.stdout


def test_the_table_of_limits_is_true():
    rows = dict(re.findall(r"^\| `(--[a-z-]+)` \| ([\d,]+) ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    defaults = {LIMITS[field.name][0]: f"{field.default:,.0f}" for field in fields(Limits)}
    assert rows == defaults


def test_every_route_and_metric_is_named(server):
    text = PAGE.read_text(encoding="utf-8")
    for path in server.get("/openapi.json").json["paths"]:
        wanted = path.replace("{label}", "{id}").replace("projects/{name}", "projects/{id}").rstrip("/")
        assert wanted in text, path
    for name in re.findall(r"^# TYPE (\S+) \w+$", server.get("/metrics").body.decode(), re.MULTILINE):
        if not name.endswith("_created"):
            assert f"`{name}`" in text, name


def test_the_container_and_the_unit_call_options_that_exist():
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert Path(PAGE).exists()
    unit = blocks(ROOT / "docs" / "operations.md", "ini")
    assert any("longtail serve" in block and "ExecReload" in block for block in unit)
    assert '"longtail", "serve"' in text
