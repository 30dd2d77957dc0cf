from __future__ import annotations

from importlib import import_module

import click
import pytest

from longtail.cli.main import COMMANDS, longtail


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_of_the_table_is_there_and_explains_itself(name: str) -> None:
    command = import_module(f"longtail.cli.{name}").command
    assert isinstance(command, click.Command)
    assert command.help
    for one in command.commands.values() if isinstance(command, click.Group) else [command]:
        assert one.help
        flags = {flag for option in one.params for flag in option.opts}
        assert {"--quiet", "--verbose"} <= flags
        missing = [
            option.name for option in one.params if isinstance(option, click.Option) and not option.help
        ]
        assert not [option for option in missing if option != "batch_size"]


def test_a_name_outside_the_table_is_no_command() -> None:
    context = click.Context(longtail)
    assert longtail.get_command(context, "session") is None
    assert longtail.list_commands(context) == list(COMMANDS)
