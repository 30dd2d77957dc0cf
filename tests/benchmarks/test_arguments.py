import pytest

from benchmarks.arguments import parser, plan_of
from benchmarks.errors import BenchmarkError
from longtail.errors import UsageError


def plan(*arguments):
    command = ["run", "--data", "somewhere", *arguments]
    return plan_of(parser().parse_args(command), command)


def test_systems_and_peers_become_contestants_in_order():
    made = plan("--systems", "linear, linear@text", "--peers", "omikuji,pecos")
    assert made.contestants == ["linear", "linear@text", "omikuji-parabel", "omikuji-bonsai", "pecos"]


def test_a_system_that_reads_text_makes_its_features_as_the_others_get_them():
    made = plan("--systems", "linear,linear@text,dummy@text", "--features", "ngrams=[1, 2]")
    assert made.settings == {"linear@text": {"text": {"ngrams": [1, 2]}}}


def test_one_contestant_of_a_peer_can_be_named():
    assert plan("--peers", "omikuji-bonsai,omikuji-bonsai").contestants == ["omikuji-bonsai"]


def test_settings_go_to_all_systems_or_to_one_contestant():
    made = plan(
        "--systems", "dummy", "--peers", "pecos", "--set", "tree.leaf=5", "--set", "pecos:beam_size=20",
        "--set", "a=x:y",
    )  # fmt: skip
    assert made.settings == {"": {"tree": {"leaf": 5}, "a": "x:y"}, "pecos": {"beam_size": 20}}


def test_fields_features_and_command_are_kept():
    made = plan("--systems", "dummy", "--fields", "title", "--features", "ngrams=[1, 2]", "--splits", "3")
    assert made.source.fields == ("title",)
    assert made.features == {"ngrams": [1, 2]}
    assert made.splits == 3
    assert list(made.command[:4]) == ["python", "-m", "benchmarks", "run"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to run"),
        (("--peers", "pekos"), "there is no peer 'pekos'"),
        (("--systems", "dummy", "--fields", "body"), "not 'body'"),
        (("--systems", "dummy", "--set", "pecos:k=1"), "'pecos' does not take part"),
        (("--systems", "dummy", "--splits", "0"), "at least 1"),
    ],
)
def test_what_is_wrong_is_said(arguments, words):
    with pytest.raises(BenchmarkError, match=words):
        plan(*arguments)


def test_an_unknown_system_is_named():
    with pytest.raises(UsageError, match="liner"):
        plan("--systems", "liner")
