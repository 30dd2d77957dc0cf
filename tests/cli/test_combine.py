from __future__ import annotations

import json
from pathlib import Path

import pytest

from longtail import load
from longtail.data import read_folder
from longtail.systems import create
from tests.cli.conftest import Call, records, write_lines


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 training documents and as many for validation as a re-ranker needs."""
    place = tmp_path_factory.mktemp("combine") / "data"
    place.mkdir()
    write_lines(place / "train.jsonl", records(0, 60))
    write_lines(place / "valid.jsonl", records(60, 110))
    write_lines(place / "test.jsonl", records(110, 120))
    write_lines(place / "labels.jsonl", [{"id": f"l{n}", "text": f"word{n}"} for n in range(5)])
    return place


@pytest.fixture(scope="module")
def models(source: Path) -> list[Path]:
    """Trained models of linear, lexical and dummy."""
    train = read_folder(source)["train"]
    places = []
    for name in ("linear", "lexical", "dummy"):
        places.append(source.parent / name)
        create(name).fit(train).save(places[-1])
    return places


@pytest.fixture(scope="module")
def ensemble(source: Path, models: list[Path]) -> Path:
    """All of them together."""
    from longtail.cli.main import main

    place = source.parent / "ensemble"
    assert main(["combine", *map(str, models), "--valid", str(source), "-o", str(place), "-q"]) == 0
    return place


def test_models_are_combined_and_saved(call: Call, source: Path, models: list[Path], tmp_path: Path) -> None:
    answer = call("combine", *models[:2], "--valid", source, "-o", tmp_path / "m")
    assert answer.code == 0, answer.err
    assert answer.out.startswith(f"{tmp_path / 'm'}: an ensemble of linear, lexical; 6 labels\n")
    assert "Metrics on the validation documents" in answer.out
    combined = load(tmp_path / "m")
    assert combined.config.members == ("linear", "lexical")
    best = combined.predict(["a text about word3"], k=2).labels[0]
    assert {combined.labels_.ids[label] for label in best} == {"common", "l3"}
    refused = call("combine", *models[:2], "--valid", source, "-o", tmp_path / "m", "-q")
    assert refused.code == 2
    assert "--force" in refused.err


def test_a_file_of_validation_documents_and_json(
    call: Call, source: Path, models: list[Path], tmp_path: Path
) -> None:
    answer = call(
        "combine", *models[:2], "--valid", source / "valid.jsonl", "-o", tmp_path / "m", "--json", "-q"
    )
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert summary["members"] == ["linear", "lexical"]
    assert summary["metrics"]["P@1"]["value"] > 50
    assert answer.err == ""


def test_a_zero_shot_model_may_come_first(
    call: Call, source: Path, models: list[Path], tmp_path: Path
) -> None:
    names = tmp_path / "names.jsonl"
    ids = load(models[0]).labels_.ids
    write_lines(names, [{"id": id_, "text": f"word{id_[1:]}"} for id_ in ids])
    assert call("train", "--labels", names, "-o", tmp_path / "z", "-q").code == 0
    answer = call("combine", tmp_path / "z", models[0], "--valid", source, "-o", tmp_path / "m", "-q")
    assert answer.code == 0, answer.err
    combined = load(tmp_path / "m")
    assert combined.facts_.documents == 60
    assert combined.label_counts_[0] > 0


def test_what_cannot_be_combined(call: Call, source: Path, models: list[Path], tmp_path: Path) -> None:
    def refused(*arguments: object) -> str:
        answer = call("combine", *arguments, "-o", tmp_path / "m", "-q")
        assert answer.code in (1, 2)
        assert not (tmp_path / "m").exists()
        assert len(answer.err.splitlines()) == 1
        return answer.err

    assert "there is no model folder" in refused(models[0], tmp_path / "none", "--valid", source)
    assert "missing option '--valid'" in refused(models[0])
    assert "missing argument 'MODEL...'" in refused("--valid", source)
    write_lines(tmp_path / "other.jsonl", [{"id": "1", "text": "t", "labels": ["else"]}])
    other = tmp_path / "other"
    assert call("train", tmp_path / "other.jsonl", "-o", other, "--system", "dummy", "-q").code == 0
    assert "was trained on other labels than model 1 ('linear', 6 labels)" in refused(
        models[0], other, "--valid", source
    )
    write_lines(tmp_path / "untagged.jsonl", [{"id": "1", "text": "t", "labels": []}])
    assert "has no validation documents with labels" in refused(
        models[0], "--valid", tmp_path / "untagged.jsonl"
    )
    (tmp_path / "folder").mkdir()
    write_lines(tmp_path / "folder" / "train.jsonl", records(0, 5))
    assert "there is no valid part" in refused(models[0], "--valid", tmp_path / "folder")
    assert "nowhere" in refused(models[0], "--valid", tmp_path / "nowhere")


# --- members of an ensemble in prediction -------------------------------------------------------------------


def test_members_by_name(call: Call, ensemble: Path, source: Path) -> None:
    subsets = load(ensemble).subsets_
    names = ",".join(subsets[0])
    few = call("predict", ensemble, source / "test.jsonl", "--members", names)
    assert few.code == 0, few.err
    assert f"members used: {names}\n" in few.err
    assert len(few.out.splitlines()) == 10
    whole = call("predict", ensemble, source / "test.jsonl", "-q")
    assert few.out != whole.out
    wrong = call("predict", ensemble, source / "test.jsonl", "--members", "eclare", "-q")
    assert wrong.code == 2
    assert "there is no re-ranker for the members eclare: there is one for" in wrong.err


def test_members_by_latency(call: Call, ensemble: Path, source: Path, tmp_path: Path) -> None:
    fast = call("predict", ensemble, source / "test.jsonl", "--latency", "1e-9")
    assert fast.code == 0, fast.err
    first = ", ".join(load(ensemble).subsets_[0])
    assert f"members used within 1e-09 ms per document: {first} (measured: linear " in fast.err
    assert "warning: even the fastest members take " in fast.err
    slow = call("predict", ensemble, source / "test.jsonl", "--latency", 1e6)
    assert "per document: linear, lexical, dummy (measured: " in slow.err
    assert "warning" not in slow.err
    assert slow.out == call("predict", ensemble, source / "test.jsonl").out
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert call("predict", ensemble, empty, "--latency", 1).out == ""


def test_evaluation_with_fewer_members(call: Call, ensemble: Path, source: Path) -> None:
    names = load(ensemble).subsets_[0]
    answer = call("evaluate", ensemble, source, "--members", ",".join(names), "--json", "-")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["meta"]["members"] == list(names)
    timed = call("evaluate", ensemble, source, "--latency", 1e6, "--json", "-")
    assert json.loads(timed.out)["meta"]["members"] == ["linear", "lexical", "dummy"]
    assert "members used within 1e+06 ms per document" in timed.err
    assert "members" not in json.loads(call("evaluate", ensemble, source, "--json", "-").out)["meta"]


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_members_are_for_ensembles(call: Call, source: Path, models: list[Path], command: str) -> None:
    data = source / "test.jsonl"
    for option, value in (("--latency", 5), ("--members", "linear")):
        answer = call(command, models[0], data, option, value, "-q")
        assert answer.code == 2
        assert f"{option} is for ensembles: the model is one of the system 'linear'" in answer.err
    both = call(command, models[0], data, "--latency", 5, "--members", "linear")
    assert both.code == 2
    assert "give one of them" in both.err
    for wrong in (0, -1, "fast", "nan"):
        assert call(command, models[0], data, "--latency", wrong, "-q").code == 2
