from __future__ import annotations

import re

from longtail.cli.main import COMMANDS
from longtail.cli.settings_table import settings_of
from longtail.systems import REGISTRY, get
from tools.docs_reference import API, api, command_line, settings


def test_every_command_and_its_options() -> None:
    page = command_line()
    assert re.findall(r"^## longtail (\w+)$", page, re.MULTILINE) == list(COMMANDS)
    assert "### longtail feedback export" in page
    assert "| `--budget TIME` | Training time that auto may use: 90s, 30m, 2h. |" in page
    assert "longtail train [OPTIONS] [DATA]" in page


def test_every_setting() -> None:
    page = settings()
    for name in REGISTRY:
        table = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == [
            s.name for s in settings_of(get(name).Config)
        ]


def test_what_the_page_of_the_api_names_exists() -> None:
    import importlib

    for name in (name for names in API.values() for name in names):
        module, _, attribute = name.rpartition(".")
        assert name == "longtail.errors" or hasattr(importlib.import_module(module), attribute), name
        assert f"\n::: {name}\n" in api()
