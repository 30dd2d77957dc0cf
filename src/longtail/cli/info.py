"""``longtail info``: the systems, the settings of one of them, or what a model folder has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from longtail.cli import options, output
from longtail.cli.session import verbosity

AUTO = "The default of longtail train: an ensemble of all systems that suit the data and fit the time (--budget)."


@click.command()
@click.argument("subject", metavar="[SYSTEM | MODEL]", required=False, type=click.Path())
@click.option("--all", "every", is_flag=True, help="All settings of SYSTEM, not only those worth changing.")
@options.as_json
@verbosity
def command(subject: str | None, every: bool, as_json: bool) -> None:
    """List the systems, show the settings of a SYSTEM, or describe a MODEL folder."""
    from longtail.systems import known, names

    if subject is None:
        found: dict[str, Any] = {name: _facts_or_problem(name) for name in names()}
        output.print_json(found) if as_json else _print_systems(found)
    elif known(subject) and not (Path(subject) / "config.json").is_file():
        found = system_facts(subject)
        output.print_json(found) if as_json else _print_system(subject, found, every)
    elif subject == "auto":
        output.print_json({"description": AUTO}) if as_json else click.echo(f"auto: {AUTO}")
    else:
        found = model_facts(subject)
        output.print_json(found) if as_json else _print_model(found)


def model_facts(path: str) -> dict[str, Any]:
    """The description of a model folder, which is verified first, and the sizes of its files."""
    from longtail import storage
    from longtail.systems import model_folder

    description = model_folder.describe(path)
    files = {name: entry.size for name, entry in storage.open_folder(path).files.items()}
    return {"path": str(Path(path)), **description, "bytes": sum(files.values()), "files": files}


def _facts_or_problem(name: str) -> dict[str, Any]:
    """The facts of a system; of another package's system that cannot be used, the reason."""
    from longtail.errors import PluginError

    try:
        return system_facts(name)
    except PluginError as error:
        return {"description": f"cannot be used: {error}", "problem": str(error)}


def system_facts(name: str) -> dict[str, Any]:
    """The one-line description, capabilities and settings of a system, and which settings are worth changing."""
    import dataclasses
    import inspect

    from longtail.cli.settings_table import highlights_of, settings_of
    from longtail.systems import REGISTRY, get, installed_plugins

    system, plugin = get(name), None if name in REGISTRY else installed_plugins()[name]
    return {
        **({} if plugin is None else {"package": plugin.package, "version": plugin.version}),
        "description": (inspect.getdoc(system) or "").split("\n\n")[0].replace("\n", " "),
        # Of an instance: what an ensemble can do depends on its members.
        "capabilities": dataclasses.asdict(system().capabilities),
        "settings": [dataclasses.asdict(setting) for setting in settings_of(system.Config)],
        "highlights": [setting.name for setting in highlights_of(system.Config)],
    }


def _print_systems(facts: dict[str, Any]) -> None:
    rows = [["auto", AUTO], *([name, system["description"]] for name, system in facts.items())]
    output.print_table(rows)
    click.echo("\nSettings of a system: longtail info SYSTEM. A model: longtail info MODEL.")


def _print_system(name: str, facts: dict[str, Any], every: bool) -> None:
    click.echo(f"{name}: {facts['description']}")
    if "package" in facts:
        click.echo(f"Package: {facts['package']} {facts['version']}")
    able = [key.replace("_", " ") for key, value in facts["capabilities"].items() if value]
    click.echo(f"Capabilities: {', '.join(able) or 'text only'}")
    by_name = {setting["name"]: setting for setting in facts["settings"]}
    names = list(by_name) if every else facts["highlights"]
    click.echo("Settings (name, default, meaning)")
    output.print_table(
        [[key, output.shown(by_name[key]["default"]), by_name[key]["doc"]] for key in names], indent="  "
    )
    if len(names) < len(by_name):
        click.echo(f"{len(by_name) - len(names)} more settings: longtail info {name} --all")
    click.echo("Change them with --set name=value, or in a TOML file with --config.")


def _print_model(facts: dict[str, Any]) -> None:
    data = facts["data"]
    click.echo(f"{facts['path']}: a model of the system '{facts['system']}', format {facts['format']}")
    rows = [
        ["training documents", f"{data['documents']:,}"],
        ["labels", f"{data['labels']:,} ({data['warm_labels']:,} with training documents)"],
        ["data fingerprint", data["fingerprint"]],
        ["seed", str(facts["seed"])],
        ["size", f"{output.size_in_words(facts['bytes'])} in {len(facts['files'])} files"],
        ["made with", ", ".join(f"{name} {version}" for name, version in facts["versions"].items())],
    ]
    output.print_table(rows, indent="  ")
    print_metrics(facts["metrics"])
    click.echo("Settings")
    output.print_table([[key, output.shown(value)] for key, value in _flat(facts["config"])], indent="  ")


def print_metrics(metrics: Mapping[str, Any]) -> None:
    """The validation metrics of a model with their intervals; nothing where there are none."""
    if not metrics:
        return
    click.echo("Metrics on the validation documents (95 % interval)")
    rows = [
        [name, f"{metric['value']:.2f}", f"{metric['low']:.2f} to {metric['high']:.2f}"]
        for name, metric in metrics.items()
    ]
    output.print_table(rows, indent="  ")


def _flat(config: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in config.items():
        flat += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", value)]
    return flat
