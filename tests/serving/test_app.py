"""The app: the page, its files, and a description of every route."""

from __future__ import annotations

import re

from longtail.serving.app import STATIC


def test_the_page_is_at_the_root_and_its_files_are_below_static(served):
    page = served.get("/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.body == (STATIC / "index.html").read_bytes()
    for link in re.findall(r'(?:href|src)="(static/[^"#]+)"', page.body.decode()):
        assert served.get(f"/{link}").status == 200, link


def test_the_description_names_models_and_problems(served):
    said = served.get("/openapi.json").json
    assert said["info"]["title"] == "longtail"
    for path, operations in said["paths"].items():
        for operation in operations.values():
            assert "application/problem+json" in operation["responses"]["4XX"]["content"], path
            assert "HTTPValidationError" not in str(operation)
    assert {"/v1/models", "/v1/models/{name}/labels/{label}", "/admin/reload"} <= set(said["paths"])
