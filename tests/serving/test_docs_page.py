"""The description of the API as a plain page."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from longtail.serving.docs_page import docs_page, in_words


def test_every_route_is_described_without_scripts_and_other_hosts(served):
    answer = served.get("/docs")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    page = answer.body.decode()
    paths = served.get("/openapi.json").json["paths"]
    assert {"/v1/models/{name}/predict", "/v1/projects/{name}/suggest", "/metrics"} <= set(paths)
    for path, operations in paths.items():
        for method in operations:
            assert f"<code>{method.upper()} {path}</code>" in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "style=" not in page
    for link in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert served.get(urljoin("/docs", link)).status == 200, link
    assert "documents" in page
    assert "&quot;precision?&quot;" in page


def test_names_are_escaped():
    said = {"summary": "<b>", "parameters": [{"name": "<i>", "in": "query", "schema": {"type": "<u>"}}]}
    page = docs_page({"info": {"title": "<t>", "version": "1"}, "paths": {"/<p>": {"get": said}}})
    assert not {"<b>", "<i>", "<u>", "<t>", "<p>/"} & set(re.findall(r"<[^>]+>", page))


def test_schemas_are_shown_as_their_shape():
    parts = {"components": {"schemas": {"One": {"type": "object", "properties": {"a": {"type": "string"}}}}}}
    schema = {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/One"}, {"type": "null"}]}}
    assert in_words(parts, schema) == [{"a?": "string"}]
    assert in_words(parts, {"type": "integer", "default": 5}) == "integer, default 5"
    assert in_words(parts, {}) == "anything"
