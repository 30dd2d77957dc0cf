import click
import pytest
from click.testing import CliRunner, Result

from longtail.cli import options
from longtail.data import ReadOptions, limits
from longtail.errors import UsageError


@click.command()
@options.force
@options.seed
@options.jobs
@options.as_json
@options.reading
def probe(force, seed, jobs, as_json, **columns):
    click.echo(repr((force, seed, jobs, as_json)))
    click.echo(repr(options.read_options(columns)))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(probe, arguments)


def test_what_is_not_given_is_left_to_the_command_and_the_reader():
    assert run().output == f"{(False, None, None, False)!r}\n{ReadOptions()!r}\n"


def test_every_option_arrives():
    answer = run(
        *("--force", "--seed", "0", "-j", "2", "--json"),
        *("--id-column", "a", "--title-column", "b", "--text-column", "c", "--label-column", "d"),
        *("--label-separator", ";", "--language", "de", "--split", "9"),
    )
    expected = ReadOptions(
        id_column="a",
        title_column="b",
        text_column=("c",),
        label_column="d",
        label_separator=";",
        language="de",
        split=9,
    )
    assert answer.output == f"{(True, 0, 2, True)!r}\n{expected!r}\n"


def test_reading_offers_all_that_a_reader_can_be_told_and_nothing_else():
    offered = {parameter.name for parameter in probe.params} - {"force", "seed", "jobs", "as_json", "limit"}
    # The others are set by commands: labels has an option of its own.
    assert offered == set(ReadOptions.__dataclass_fields__) - {
        "labels",
        "with_labels",
        "remembered",
        "remembered_labels",
        "trained_separator",
    }


def test_help_lists_the_options_in_the_order_in_which_one_needs_them():
    output = run("--help").output
    places = [output.index(f"--{name}-column") for name in ("id", "title", "text", "label")]
    assert places == sorted(places)
    assert max(places) < output.index("--label-separator") < output.index("--split")


@pytest.mark.parametrize(
    "arguments", [("--seed", "-1"), ("--seed", "4294967296"), ("--jobs", "0"), ("-j", "x"), ("--split", "a")]
)
def test_wrong_numbers_are_wrong_usage(arguments):
    answer = run(*arguments)
    assert answer.exit_code == 2
    assert "Invalid value" in answer.output


def test_values_that_only_the_reader_can_judge_are_judged_by_it():
    assert isinstance(run("--split", "10").exception, UsageError)
    assert isinstance(run("--label-separator", "").exception, UsageError)


@click.command()
@options.reading
def limited(**columns):
    click.echo(repr(limits.current()))


def test_limits_hold_while_the_command_runs():
    answer = CliRunner().invoke(limited, ["--limit", "line=1GB", "--limit", "rows=7"])
    assert answer.output == f"{limits.Limits(line=2**30, rows=7)!r}\n"
    assert limits.current() == limits.Limits()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("lines=1", "there is no limit 'lines'; the limits are line, ratio"),
        ("line", "the limit 'line' must be a whole number"),
        ("line=many", "the limit 'line' must be a whole number"),
    ],
)
def test_a_wrong_limit_is_an_error_that_says_so(given, says):
    answer = CliRunner().invoke(limited, ["--limit", given])
    assert isinstance(answer.exception, UsageError)
    assert str(answer.exception).startswith(says)
