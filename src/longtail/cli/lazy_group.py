"""A group of commands that imports a command's module only when that command is invoked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Lists its commands from a table, so that ``--help`` costs no import."""

    def __init__(self, *args: Any, commands_help: Mapping[str, str], package: str, **kwargs: Any) -> None:
        """``commands_help``: name -> one line; the command is ``package.name.command``."""
        super().__init__(*args, **kwargs)
        self.commands_help = commands_help
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table, which is the order of use."""
        return list(self.commands_help)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command, or None if there is none of that name."""
        if cmd_name not in self.commands_help:
            return None
        command = import_module(f"{self.package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the one that was probably meant."""
        name = args[0]
        if name not in self.commands_help and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.commands_help, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.commands_help)}"
            raise click.UsageError(f"there is no command '{name}': {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table itself, without asking the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.commands_help.items()))
