import click
import pytest
from click.testing import CliRunner

from longtail.cli.session import Session, current, verbosity
from longtail.run import LOGGER


@click.group()
@verbosity
def outer():
    pass


@outer.command()
@verbosity
def inner():
    session = current()
    click.echo(f"{session.quiet} {session.verbose} {session.written}")
    session.say("for the user")


@pytest.mark.parametrize(
    ("arguments", "quiet", "verbose"),
    [
        (["inner"], False, False),
        (["-q", "inner"], True, False),
        (["inner", "--quiet"], True, False),
        (["--verbose", "inner"], False, True),
        (["inner", "-v"], False, True),
        (["-q", "inner", "-v"], True, True),
        (["-v", "inner", "-v"], False, True),
    ],
)
def test_loudness_is_the_same_before_and_behind_the_command(arguments, quiet, verbose):
    answer = CliRunner().invoke(outer, arguments)
    assert answer.exit_code == 0
    assert answer.stdout == f"{quiet} {verbose} False\n"
    assert answer.stderr == ("" if quiet else "for the user\n")


def test_the_callers_session_learns_what_the_options_said():
    session = Session()
    with outer.make_context("outer", ["-q", "inner", "-v"], obj=session) as context:
        outer.invoke(context)
    assert (session.quiet, session.verbose) == (True, True)


def test_commands_share_one_session():
    session = Session()
    with click.Context(outer, obj=session), click.Context(inner, parent=click.get_current_context()):
        current().written = True
    assert session.written


def test_two_calls_do_not_share_a_session():
    assert CliRunner().invoke(outer, ["-q", "inner"]).stdout == "True False False\n"
    assert CliRunner().invoke(outer, ["inner"]).stdout == "False False False\n"


def test_sentences_go_to_stderr(capsys):
    Session().say("loud")
    Session(quiet=True).say("silent")
    assert capsys.readouterr() == ("", "loud\n")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_run_shows_itself_on_stderr_unless_quiet(capsys, quiet):
    run = Session(quiet=quiet).run()
    with run.phase("counting"):
        run.say("something was found")
    out, err = capsys.readouterr()
    assert out == ""
    assert ("counting" in err, "something was found" in err) == (not quiet, not quiet)
    assert run.messages == ["something was found"]
    assert run.seconds.keys() == {"counting"}


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_of_the_library_are_those_of_the_command(quiet, capsys, caplog):
    session = Session(quiet=quiet)
    with session.library_warnings():
        LOGGER.warning("too few %s", "documents")
        LOGGER.info("a fact")
    assert capsys.readouterr().err == ("" if quiet else "warning: too few documents\n")
    assert caplog.records == []
    LOGGER.warning("later")
    assert [record.message for record in caplog.records] == ["later"]
