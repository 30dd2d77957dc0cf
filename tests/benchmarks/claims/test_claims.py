"""Claims: their data, runs on small data, verdicts and the page."""

import json
from pathlib import Path

import numpy as np
import orjson
import pytest

from benchmarks.__main__ import main
from benchmarks.claims import CLAIMS, command, page, runs
from benchmarks.claims.claim import CONFIGURATIONS, Claim, Sample, Side, against
from benchmarks.claims.runs import Run, drawn, execute
from benchmarks.claims.verdict import Outcome, interval, outcome
from benchmarks.claims.verdict import runs as runs_of
from benchmarks.errors import BenchmarkError
from longtail.data import read_folder
from tests.benchmarks.worlds import LABELS

SMALL = Sample("toy", ("title",), 60, 30, 20)


def claim(first=(), second=("tree.trees=1",), **changes):
    made = {
        "id": "TOY-1",
        "source": "a paper",
        "sentence": "Two trees are better than one.",
        "paper": "2 against 1",
        **against("linear", first, second),
        "sample": SMALL,
    }
    return Claim(**(made | changes))


def test_every_claim_has_a_name_of_its_own_and_two_sides_that_differ():
    assert len({c.id for c in CLAIMS}) == len(CLAIMS) >= 30
    for each in CLAIMS:
        for configuration in CONFIGURATIONS:
            sides = [
                (json.dumps(side.resolved(configuration)), side.system, side.metric) for side in each.sides()
            ]
            assert sides[0] != sides[1], each.id


def test_the_papers_are_all_there():
    prefixes = {each.id.split("-")[0] for each in CLAIMS}
    assert prefixes == {"ECLARE", "GALAXC", "XGRANK", "GUDN", "GNNXML"}


def test_sides_with_equal_settings_share_a_run():
    default = Side("linear").resolved("longtail")
    same = claim((), (f"tree.trees={default['tree']['trees']}",))
    assert len(runs_of(same, "longtail", [0])) == 1
    assert len(runs_of(claim(), "longtail", [0, 1])) == 4
    assert (
        Run(Side("linear", (), "P@5"), "longtail", SMALL, 0).path
        == Run(Side("linear"), "longtail", SMALL, 0).path
    )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runs, "FOLDER", tmp_path / "results")
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    for part, n in (("train", 120), ("valid", 60), ("test", 40)):
        rows = [
            {"id": f"{part}{i}", "title": f"word{i % LABELS} common", "labels": [f"l{i % LABELS}"]}
            for i in range(n)
        ]
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows) + b"\n")
    labels = [{"id": f"l{i}", "text": f"word{i}"} for i in range(LABELS + 5)]
    (folder / "labels.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in labels) + b"\n")
    return tmp_path / "data"


def test_a_sample_has_the_labels_of_its_documents_and_differs_by_seed(world):
    parts = read_folder(world / "toy")
    some = drawn(parts, SMALL, 0)
    assert [len(some[name]) for name in ("train", "valid", "test")] == [60, 30, 20]
    assert len(some["train"].labels) == LABELS, "five labels have no document"
    again, other = drawn(parts, SMALL, 0), drawn(parts, SMALL, 1)
    assert again["train"].documents.ids == some["train"].documents.ids != other["train"].documents.ids


def test_a_run_is_kept_and_counts(world):
    run = Run(Side("linear"), "longtail", SMALL, 0)
    assert run.metric() is None
    assert outcome(claim(), "longtail", [0]) is None
    execute(run, world, ["a", "command"])
    assert run.metric() == 100
    assert run.result()["command"] == ["a", "command"]
    assert {"PSP@5", "R@100", runs.RAREST} <= set(run.result()["metrics"])


def test_missing_runs_are_those_without_a_file(world, monkeypatch):
    monkeypatch.setattr(command, "CLAIMS", (claim(),))
    monkeypatch.setattr(page, "write", lambda: None)
    todo = command.missing([], ["longtail"], [0])
    assert len(todo) == 2
    assert command.run_claims(world, todo[:1], n_threads=1, command=[]) == 0
    assert command.missing(["TOY"], ["longtail"], [0]) == todo[1:]
    assert command.run_claims(world, todo[1:], n_threads=1, command=[], minutes=-1) == 0, "no time is left"
    assert command.missing([], ["longtail"], [0]) == todo[1:]


def test_unknown_names_are_said(capsys):
    with pytest.raises(BenchmarkError, match="'ECLAIR'"):
        command.missing(["ECLAIR"], ["paper"], [0])
    with pytest.raises(BenchmarkError, match="'mine'"):
        command.missing([], ["mine"], [0])
    assert main(["claims", "--only", "ECLAIR"]) == 1
    assert "no claim begins" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gain", "margin", "number", "verdict"),
    [
        (1.0, 0.5, 3, "reproduced"),
        (-1.0, 0.5, 3, "not reproduced"),
        (1.0, 1.5, 3, "inconclusive"),
        (1.0, 0.1, 2, "not run yet (2 of 3 seeds)"),
    ],
)
def test_verdicts(gain, margin, number, verdict):
    assert Outcome(0, 0, gain, margin, number).verdict == verdict


def test_the_interval_is_that_of_students_t():
    assert interval(np.array([1.0, 2.0, 3.0])) == pytest.approx(4.302653 / np.sqrt(3))
    assert interval(np.array([1.0])) == float("inf")


def test_less_is_better_turns_the_gain_around(world):
    for seed, trees, value in ((0, 2, 5.0), (0, 1, 7.0)):
        run = Run(Side("linear", (f"tree.trees={trees}",), "P@1"), "longtail", SMALL, seed)
        run.path.parent.mkdir(parents=True, exist_ok=True)
        run.path.write_text(json.dumps({"metrics": {"P@1": value}}))
    both = claim(("tree.trees=2",), ("tree.trees=1",))
    assert outcome(both, "longtail", [0]).gain == -2
    assert (
        outcome(claim(("tree.trees=2",), ("tree.trees=1",), lower_is_better=True), "longtail", [0]).gain == 2
    )


def test_the_page_has_the_measured_results():
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), "run python -m benchmarks claims"
