"""``longtail info``: what a model folder holds, or which systems there are and what can be set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from longtail.cli import options, output
from longtail.cli.session import loudness


@click.command()
@click.argument("model", required=False, type=click.Path())
@options.as_json
@loudness
def command(model: str | None, as_json: bool) -> None:
    """Describe MODEL; without one, list the systems and their settings."""
    if model is None:
        facts = systems()
        output.print_json(facts) if as_json else _print_systems(facts)
    else:
        facts = model_facts(model)
        output.print_json(facts) if as_json else _print_model(facts)


def model_facts(path: str) -> dict[str, Any]:
    """The description of a model folder, which is verified first, and the sizes of its files."""
    from longtail import storage
    from longtail.systems import model_folder

    description = model_folder.describe(path)
    files = {name: entry.size for name, entry in storage.open_folder(path).files.items()}
    return {"path": str(Path(path)), **description, "bytes": sum(files.values()), "files": files}


def systems() -> dict[str, Any]:
    """Every system with its one-line description, capabilities and settings."""
    import dataclasses
    import inspect

    from longtail.cli.settings_table import settings_of
    from longtail.systems import REGISTRY, get

    facts = {}
    for name in REGISTRY:
        system = get(name)
        facts[name] = {
            "description": (inspect.getdoc(system) or "").split("\n\n")[0].replace("\n", " "),
            "capabilities": dataclasses.asdict(system.capabilities),
            "settings": [dataclasses.asdict(setting) for setting in settings_of(system.Config)],
        }
    return facts


def _print_systems(facts: dict[str, Any]) -> None:
    for name, system in facts.items():
        click.echo(f"{name}: {system['description']}")
        able = [key.replace("_", " ") for key, value in system["capabilities"].items() if value]
        click.echo(f"  can do: {', '.join(able) or 'text only'}")
        rows = [[s["name"], _shown(s["default"]), s["doc"]] for s in system["settings"]]
        output.print_table(rows, indent="  ")
        click.echo()
    click.echo("Set them with --set name=value, or in a TOML file with --config.")


def _print_model(facts: dict[str, Any]) -> None:
    data = facts["data"]
    click.echo(f"{facts['path']}: a model of the system '{facts['system']}', format {facts['format']}")
    rows = [
        ["training documents", f"{data['documents']:,}"],
        ["labels", f"{data['labels']:,} ({data['labels_seen']:,} with training documents)"],
        ["data fingerprint", data["fingerprint"]],
        ["seed", str(facts["seed"])],
        ["size", f"{output.size_in_words(facts['bytes'])} in {len(facts['files'])} files"],
        ["made with", ", ".join(f"{name} {version}" for name, version in facts["versions"].items())],
    ]
    output.print_table(rows, indent="  ")
    print_figures(facts["metrics"])
    click.echo("Settings")
    output.print_table([[key, _shown(value)] for key, value in _flat(facts["config"])], indent="  ")


def print_figures(metrics: dict[str, Any]) -> None:
    """The validation figures of a model with their intervals; nothing where there are none."""
    if not metrics:
        return
    click.echo("Figures on the validation documents (95 % interval)")
    rows = [
        [name, f"{figure['value']:.2f}", f"{figure['low']:.2f} to {figure['high']:.2f}"]
        for name, figure in metrics.items()
    ]
    output.print_table(rows, indent="  ")


def _flat(config: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in config.items():
        flat += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", value)]
    return flat


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_shown(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
