"""Generated pages of the documentation: the command line from click, all settings, and the Python API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import click

from longtail.cli.main import COMMANDS
from longtail.cli.settings_table import settings_of
from longtail.systems import REGISTRY, get
from longtail.text.config import TextConfig

API = {
    "Start": (
        "longtail.fit",
        "longtail.load",
        "longtail.create",
        "longtail.data.reading.read",
        "longtail.data.reading.read_folder",
    ),
    "Data and predictions": ("longtail.types.Dataset", "longtail.types.Document", "longtail.topk.TopK"),
    "Systems": ("longtail.systems.base.System", "longtail.systems.text_vectors.TextVectors"),
    "Evaluation": ("longtail.evaluation.report.Report",),
    "scikit-learn": ("longtail.sklearn.LongtailClassifier",),
    "Client of the service": ("longtail.client.Client",),
    "Errors": ("longtail.errors",),
}
"""What the page of the Python API describes, by heading."""


def command_line() -> str:
    """The page of all commands and options."""
    parts = [
        "# Command line",
        "",
        "Generated from the commands themselves; `longtail COMMAND --help` shows the same.",
    ]
    for name, line in COMMANDS.items():
        command = import_module(f"longtail.cli.{name}").command
        parts += ["", f"## longtail {name}", "", line]
        if isinstance(command, click.Group):
            for inner, subcommand in command.commands.items():
                parts += [
                    "",
                    f"### longtail {name} {inner}",
                    *_command(subcommand, f"longtail {name} {inner}"),
                ]
        else:
            parts += _command(command, f"longtail {name}")
    return "\n".join(parts) + "\n"


def _command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from ("", "```text", f"{name} {pieces}", "```", "", *(command.help or "").splitlines(), "")
    yield from ("| option | meaning |", "|---|---|")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield f"| `{_cell(record[0])}` | {_cell(record[1])} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def settings() -> str:
    """The page of all settings of all systems."""
    shared = {"Text features (`text.*`)": TextConfig}
    parts = [
        "# Settings",
        "",
        "All settings of all systems with their defaults, generated from the code. Change them with",
        "`--set name=value`, in a TOML file with `--config`, or as arguments of",
        "`longtail.fit` and `longtail.create`.",
    ]
    for heading, config in {**{name: get(name).Config for name in REGISTRY}, **shared}.items():
        parts += ["", f"## {heading}", "", "| setting | default | meaning |", "|---|---|---|"]
        for setting in settings_of(config):
            default = "none" if setting.default is None else json.dumps(setting.default)
            parts.append(f"| `{setting.name}` | `{default}` | {_cell(setting.doc)} |")
    return "\n".join(parts) + "\n"


def api() -> str:
    """The page of the Python API; mkdocstrings fills it from the docstrings."""
    parts = ["# Python API", "", "Generated from the docstrings. A walk through it: [Python](python.md)."]
    for heading, names in API.items():
        parts += ["", f"## {heading}"]
        for name in names:
            parts += ["", f"::: {name}"]
    return "\n".join(parts) + "\n"


PAGES = {"cli.md": command_line, "settings.md": settings, "api.md": api}
