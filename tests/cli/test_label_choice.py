"""--threshold, --precision and --max-f1 in predict and evaluate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longtail import data
from longtail.systems import create
from tests.cli.conftest import Call
from tests.planted import Parts, parts_of, planted


@pytest.fixture(scope="module")
def parts() -> Parts:
    return parts_of(planted(n_documents=500, n_labels=30))


@pytest.fixture(scope="module")
def place(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, and a calibrated model."""
    found = tmp_path_factory.mktemp("calibrated")
    data.write({"train": parts.train, "valid": parts.valid, "test": parts.test}, found / "data")
    create("linear").fit(parts.train, valid=parts.valid).save(found / "model")
    return found


def labels_per_document(out: str) -> float:
    rows = [json.loads(line) for line in out.splitlines()]
    return sum(len(row["labels"]) for row in rows) / len(rows)


def test_predict_chooses_labels(call: Call, place: Path) -> None:
    source = next((place / "data").glob("test.jsonl*"))
    every = call("predict", place / "model", source, "-q")
    assert labels_per_document(every.out) == 5
    for option in (["--max-f1"], ["--precision", 0.8], ["--threshold", 0.5]):
        answer = call("predict", place / "model", source, "-q", *option)
        assert answer.code == 0, answer.err
        assert 1 <= labels_per_document(answer.out) < 4


def test_what_a_precision_needs_is_said(call: Call, place: Path) -> None:
    source = next((place / "data").glob("test.jsonl*"))
    answer = call(
        "predict", place / "model", source, "-o", place / "out.jsonl", "--precision", 0.8, "--force"
    )
    assert "precision 0.8: labels of a probability of at least 0." in answer.err
    assert "100 validation documents" in answer.err


def test_a_precision_that_cannot_be_had(call: Call, place: Path) -> None:
    source = next((place / "data").glob("test.jsonl*"))
    answer = call("predict", place / "model", source, "-o", place / "none.jsonl", "--precision", 0.9999)
    assert answer.code == 2
    assert "the highest that can be had is 0." in answer.err
    assert not (place / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--precision", 0.9, "--max-f1"], "--precision and --max-f1 exclude each other"),
        (["--threshold", 0, "--precision", 0.9], "--threshold and --precision exclude each other"),
        (["--precision-by", "frequency"], "--precision-by says how --precision is kept"),
        (["--precision", 90], "write 0.9 for 90 %"),
        (
            ["--threshold", 50],
            "--threshold must be a number from 0 to 1, as scores are, not 50: write 0.5 for 50 %",
        ),
        (["--precision", "nan"], "'nan' is not a score"),
    ],
)
def test_wrong_options(call: Call, place: Path, options: list[object], message: str) -> None:
    for command, source in (
        ("predict", next((place / "data").glob("test.jsonl*"))),
        ("evaluate", place / "data"),
    ):
        answer = call(command, place / "model", source, *options)
        assert answer.code == 2
        assert message in answer.err


def test_a_model_without_probabilities(call: Call, model: Path, folder: Path) -> None:
    answer = call("predict", model, folder / "test.jsonl", "--max-f1")
    assert answer.code == 2
    assert "max_f1 needs probabilities" in answer.err


def test_evaluate_measures_the_chosen_labels(call: Call, place: Path) -> None:
    found = {}
    for name, option in {"f1": ["--max-f1"], "precision": ["--precision", 0.8], "default": []}.items():
        answer = call("evaluate", place / "model", place / "data", "--json", "-", "-q", *option)
        assert answer.code == 0, answer.err
        found[name] = json.loads(answer.out)
    assert found["f1"]["chosen"]["by"] == "highest expected F1"
    assert found["precision"]["chosen"]["by"] == "precision 0.8"
    assert found["default"]["chosen"]["by"] == "threshold 0.5"
    assert found["f1"]["other"]["sample F1"] > 80
    assert found["f1"]["calibration"]["before"] is not None
    answer = call("evaluate", place / "model", place / "data", "--max-f1")
    assert "Precision, recall and F1 are of the labels chosen by highest expected F1: " in answer.out
    assert "; before calibration " in answer.out
