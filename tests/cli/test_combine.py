from __future__ import annotations

import json
from pathlib import Path

from longtail import load
from tests.cli.conftest import Call, records, write_lines
from tests.cli.ensembles import ensemble, models, source

__all__ = ["ensemble", "models", "source"]


def test_models_are_combined_and_saved(call: Call, source: Path, models: list[Path], tmp_path: Path) -> None:
    answer = call("combine", *models[:2], "--valid", source, "-o", tmp_path / "m")
    assert answer.code == 0, answer.err
    assert answer.out.startswith(f"{tmp_path / 'm'}: an ensemble of linear, lexical; 6 labels\n")
    assert "Metrics on the validation documents" in answer.out
    combined = load(tmp_path / "m")
    assert combined.config.members == ("linear", "lexical")
    best = combined.predict(["a text about word3"], k=2).indices[0]
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
