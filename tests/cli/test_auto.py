"""``longtail train`` without a system, with a budget, and with a file of labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longtail import load
from tests.cli.conftest import Call, records, write_lines


@pytest.fixture(autouse=True)
def usual_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longtail.systems.auto.speed_here", lambda: 1.0)
    monkeypatch.setattr("longtail.threads.jobs", lambda: 1)


@pytest.fixture
def validated(tmp_path: Path) -> Path:
    """So few documents that only linear and lexical are considered, with enough for a re-ranker."""
    place = tmp_path / "source"
    place.mkdir()
    write_lines(place / "train.jsonl", records(0, 60))
    write_lines(place / "valid.jsonl", records(60, 110))
    write_lines(place / "labels.jsonl", [{"id": f"l{n}", "text": f"word{n}"} for n in range(5)])
    return place


def test_auto_is_the_default_and_says_why(call: Call, validated: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    answer = call("train", validated, "-o", model, "--set", "linear.tree.leaf_size=3", "--seed", 4)
    assert answer.code == 0, answer.err
    assert (
        "The system is an ensemble of linear and lexical: about 2 seconds of training. More mem" in answer.err
    )
    assert "'ensemble' trained on 60 documents; 6 labels, 6 of them with training documents" in answer.out
    assert answer.out.startswith(f"{model}: 'ensemble' trained on 60 documents")
    trained = load(model)
    assert trained.config.members == ("linear", "lexical")
    assert trained.config.seed == 4
    assert [m.system.config.seed for m in trained.members_] == [4, 4]
    assert trained.members_[0].system.config.tree.leaf_size == 3


def test_a_configuration_file_may_name_auto(call: Call, validated: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('system = "auto"\n[linear.tree]\nleaf_size = 3\n')
    answer = call("train", validated, "-o", tmp_path / "m", "--config", config, "--json", "-q")
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert summary["system"] == "ensemble"
    assert summary["reason"].startswith("The system is an ensemble of linear and lexical")
    assert (summary["labels"], summary["warm_labels"]) == (6, 6)
    assert answer.err == ""


def test_a_named_system_is_that_system_and_nothing_else(call: Call, validated: Path, tmp_path: Path) -> None:
    answer = call("train", validated, "-o", tmp_path / "m", "--system", "linear", "--json")
    assert json.loads(answer.out)["reason"] is None
    assert "The system is" not in answer.err
    assert load(tmp_path / "m").name == "linear"


def test_a_budget(call: Call, validated: Path, tmp_path: Path) -> None:
    answer = call("train", validated, "-o", tmp_path / "m", "--budget", "1.3s")
    assert answer.code == 0, answer.err
    assert "The system is linear: about 1 second of training. No other system fits" in answer.err
    small = call("train", validated, "-o", tmp_path / "n", "--budget", "0.1", "--json")
    assert "The budget of 1 second is too small" in json.loads(small.out)["reason"]
    assert load(tmp_path / "n").config.tree.trees == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--budget", "soon"],
            "a budget must be a time like 90s, 30m or 2h (or a number of seconds), not 'soon'",
        ),
        (["--budget", "5m", "--system", "linear"], "--budget is for --system auto"),
        (["--set", "leaf_size=5"], "'tree.leaf_size' is one of linear, so set linear.tree.leaf_size"),
        (
            ["--set", "linear.tree.leef=5"],
            "settings of the member 'linear': unknown configuration key 'tree.leef'",
        ),
        (
            ["--system", "ensemble", "--set", "members=linear", "--set", "eclare.width=5"],
            "which is no member",
        ),
    ],
)
def test_wrong_options_are_found_before_data_are_read(
    call: Call, tmp_path: Path, options: list[str], words: str
) -> None:
    answer = call("train", tmp_path / "no-data", "-o", tmp_path / "m", *options)
    assert answer.code == 2
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1


def test_settings_of_a_member_that_is_not_chosen(call: Call, validated: Path, tmp_path: Path) -> None:
    answer = call("train", validated, "-o", tmp_path / "m", "--set", "eclare.width=8", "-q")
    assert answer.code == 2
    assert "there are settings of 'eclare', which is not chosen: The system is an ensemble" in answer.err
    assert "set members=linear,lexical,eclare" in answer.err


# --- labels -------------------------------------------------------------------------------------------------

SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix t: <http://example.org/> .
t:fox a skos:Concept ; skos:prefLabel "red fox"@en ; skos:altLabel "vulpes vulpes"@en .
t:sea a skos:Concept ; skos:prefLabel "Baltic sea"@en .
"""


def test_labels_alone_make_a_zero_shot_model(call: Call, tmp_path: Path) -> None:
    vocabulary, texts = tmp_path / "vocabulary.ttl", tmp_path / "in.txt"
    vocabulary.write_text(SKOS)
    texts.write_text("a vulpes in the garden\nthe sea\n")
    answer = call("train", "--labels", vocabulary, "-o", tmp_path / "m")
    assert answer.code == 0, answer.err
    assert "The system is lexical" in answer.err
    assert "'lexical' trained on 0 documents; 2 labels, 0 of them with training documents" in answer.out
    assert "per document" not in answer.out
    tagged = call("predict", tmp_path / "m", texts, "-k", 1, "-q")
    assert [json.loads(line)["labels"][0]["id"] for line in tagged.out.splitlines()] == [
        "http://example.org/fox",
        "http://example.org/sea",
    ]
    other = call("train", "--labels", vocabulary, "-o", tmp_path / "n", "--system", "linear", "-q")
    assert other.code == 2
    assert "there is no document to train on" in other.err


def test_labels_of_a_file_with_documents(call: Call, tmp_path: Path) -> None:
    source, names = tmp_path / "train.jsonl", tmp_path / "names.tsv"
    write_lines(source, records(0, 20))
    names.write_text("<l1>\tfirst of all\n<new>\tan unused one\n")
    answer = call("train", source, "--labels", names, "-o", tmp_path / "m", "--system", "dummy", "-q")
    assert answer.code == 0, answer.err
    labels = load(tmp_path / "m").labels_
    assert (labels.texts[labels.index["l1"]], labels.texts[labels.index["l2"]]) == ("first of all", "")
    assert labels.ids[-1:][0] == "new"
    names.write_text("<other>\tname\n")
    warned = call("train", source, "--labels", names, "-o", tmp_path / "n", "--system", "dummy")
    assert f"warning: no label of {source} is in {names}" in warned.err


def test_a_file_of_labels_that_is_missing_or_the_output(call: Call, tmp_path: Path) -> None:
    missing = call("train", "--labels", tmp_path / "none.tsv", "-o", tmp_path / "m", "-q")
    assert missing.code == 1
    assert "none.tsv" in missing.err
    assert len(missing.err.splitlines()) == 1
    names = tmp_path / "names.tsv"
    names.write_text("<a>\tname\n")
    assert call("train", "--labels", names, "-o", tmp_path, "--force", "-q").code == 2
