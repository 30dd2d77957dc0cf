"""The page at ``/docs``: the OpenAPI description as plain HTML, without scripts and without other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")


def docs_page(openapi: Mapping[str, Any]) -> str:
    """The whole page."""
    info = openapi["info"]
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(info['title'])} API</title>",
        '<link rel="stylesheet" href="static/docs.css"></head><body><main>',
        f"<h1>{escape(info['title'])} API {escape(info['version'])}</h1>",
        f'<p>{escape(info.get("description", ""))} The description for programs: <a href="openapi.json">',
        'openapi.json</a>. Errors are <code>application/problem+json</code>. <a href="./">The page</a></p>',
    ]
    for path, operations in openapi["paths"].items():
        for method in METHODS:
            if method in operations:
                parts.extend(_operation(openapi, path, method, operations[method]))
    return "".join([*parts, "</main></body></html>"])


def _operation(openapi: Mapping[str, Any], path: str, method: str, said: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section><h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(said['summary'])}</p>"
    parameters = said.get("parameters", [])
    if parameters:
        yield "<table><thead><tr><th>parameter</th><th>in</th><th>type</th></tr></thead><tbody>"
        for one in parameters:
            kind = in_words(openapi, one.get("schema", {}))
            shown = kind if isinstance(kind, str) else json.dumps(kind)
            yield f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
            yield f"<td>{escape(shown)}</td></tr>"
        yield "</tbody></table>"
    for media, content in said.get("requestBody", {}).get("content", {}).items():
        yield f"<h3>Body: {escape(media)}</h3>{_example(openapi, content)}"
    for status, answer in said.get("responses", {}).items():
        if status.startswith("2"):
            for media, content in answer.get("content", {}).items():
                yield f"<h3>Answer {escape(status)}: {escape(media)}</h3>{_example(openapi, content)}"
    yield "</section>"


def _example(openapi: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    shown = json.dumps(in_words(openapi, content.get("schema", {})), indent=2, ensure_ascii=False)
    return f'<pre tabindex="0">{escape(shown)}</pre>'


def in_words(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """A schema as an example of its shape: types stand where values would."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return in_words(openapi, openapi["components"]["schemas"][name])
    if "anyOf" in schema:
        # Optional values: what they are when they are there.
        kinds = [one for one in schema["anyOf"] if one.get("type") != "null"]
        return in_words(openapi, kinds[0]) if kinds else "null"
    kind = schema.get("type", "anything")
    if kind == "object" and "properties" in schema:
        required = schema.get("required", [])
        return {
            name if name in required else f"{name}?": in_words(openapi, one)
            for name, one in schema["properties"].items()
        }
    if kind == "array":
        return [in_words(openapi, schema.get("items", {}))]
    default = schema.get("default")
    return kind if default in (None, "") else f"{kind}, default {json.dumps(default)}"
