from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from longtail.data import write
from tests.cli.conftest import Call
from tests.planted import Parts

SEARCH = ("--system", "linear", "--search", "beam=1..20", "--metric", "P@1")


@pytest.fixture
def data(tiny: Parts, tmp_path: Path) -> Path:
    write(tiny._asdict(), tmp_path / "data")
    return tmp_path / "data"


def test_a_search_a_training_with_its_result_and_another_search(
    call: Call, data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "best.toml"
    answer = call("tune", data, "-o", target, "--trials", 2, *SEARCH, "--set", "tree.trees=1")
    assert answer.code == 0, answer.err
    assert "defaults: P@1" in answer.err
    assert "2 trials" in answer.out
    assert f"Train with them: longtail train {data} -o MODEL --config {target}" in answer.out
    written = tomllib.loads(target.read_text())
    assert written["system"] == "linear"
    assert written["tree"] == {"trees": 1}
    trained = call("train", data, "-o", tmp_path / "model", "--config", target, "--quiet")
    assert trained.code == 0, trained.err

    again = call("tune", data, "-o", target, "--trials", 1, *SEARCH, "--set", "tree.trees=1")
    assert again.code == 2, "neither the result nor the trials are overwritten"
    resumed = call(
        "tune", data, "-o", target, "--trials", 1, *SEARCH, "--set", "tree.trees=1", "--resume", "--json"
    )
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["trials"] == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "how long may the search take?"),
        (("--trials", 1, "--search", "beam"), "'beam' is neither of the form"),
        (("--trials", 1, "--system", "linear", "--search", "beans=1,2"), "there is no setting 'beans'"),
        (("--trials", 1, "--system", "linear", "--metric", "F7"), "there is no metric 'F7'"),
        (("--trials", 1, "--system", "dummy"), "which settings of 'dummy' are worth a search"),
        (("--budget", "soon"), "a budget must be a time"),
    ],
)
def test_wrong_usage_writes_nothing(
    call: Call, data: Path, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    before = sorted(tmp_path.iterdir())
    answer = call("tune", data, "-o", tmp_path / "best.toml", *options)
    assert answer.code == 2
    assert sentence in answer.err
    assert sorted(tmp_path.iterdir()) == before
