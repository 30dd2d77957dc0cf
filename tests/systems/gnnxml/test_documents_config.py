"""Settings of documents: defaults, and values that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from longtail.config import from_dict, to_dict
from longtail.errors import ConfigError
from longtail.systems.gnnxml.documents_config import DocumentsConfig


def test_settings_survive_being_written() -> None:
    config = DocumentsConfig(keywords=3, stem="english", encoder="some/folder", cache="kept")
    assert from_dict(DocumentsConfig, to_dict(config)) == config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keywords": 0}, "'keywords' must be at least 1"),
        ({"entities": -1}, "'entities' must be at least 0"),
        ({"window": 1}, "'window' must be at least 2"),
        ({"damping": 1.0}, "'damping' must be from 0 to below 1"),
        ({"common_above": 0.0}, "'common_above' is a share"),
        ({"min_documents": 0}, "'min_documents' must be at least 1"),
        ({"max_words": 0}, "'max_words' must be at least 1"),
        ({"width": 0}, "'width' must be at least 1"),
        ({"encoder": ""}, "'encoder' must be light or"),
        ({"cache": "kept"}, "'cache' keeps the vectors of a transformer"),
        ({"stem": "klingon"}, "'stem' must be one of"),
    ],
)
def test_values_that_do_not_fit(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DocumentsConfig(**settings)
