from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longtail import load
from longtail.cli.train import gather_settings
from longtail.errors import ConfigError
from tests.cli.conftest import Call, records, write_lines


@pytest.fixture
def train_only(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    write_lines(source / "train.jsonl", records(0, 20))
    return source


def test_trains_saves_and_reports(call: Call, train_only: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    answer = call("train", train_only, "-o", model, "--system", "dummy", "--seed", 3, "--jobs", 1)
    assert answer.code == 0, answer.err
    assert "'dummy' trained on 20 documents; 6 labels, 6 of them with training documents" in answer.out
    assert "model size" in answer.out
    assert re.search(r"per document +[0-9.]+ ms", answer.out)
    for phase in ("read", "count", "save"):
        assert f"{phase} ..." in answer.err
        assert f"{phase} took" in answer.err
    system = load(model)
    assert system.config.seed == 3
    assert system.labels_.ids[0] == "common"


def test_json_and_quiet(call: Call, train_only: Path, tmp_path: Path) -> None:
    answer = call(
        "train", train_only / "train.jsonl", "-o", tmp_path / "m", "--system", "dummy", "--json", "-q"
    )
    summary = json.loads(answer.out)
    assert (summary["documents"], summary["labels"], summary["system"]) == (20, 6, "dummy")
    assert set(summary["seconds"]) == {"read", "count", "save"}
    assert summary["ms_per_document"] > 0
    assert summary["bytes"] == sum(file.stat().st_size for file in (tmp_path / "m").iterdir())
    assert answer.err == ""
    silent = call("train", train_only, "-o", tmp_path / "n", "--system", "dummy", "-q")
    assert (silent.code, silent.out, silent.err) == (0, "", "")


def test_documents_are_held_out_to_measure_on(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "one.jsonl"
    write_lines(source, [{**row, "text": f"{row['text']} {row['id']}"} for row in records(0, 1200)])
    arguments = ("train", source, "--system", "dummy")
    answer = call(*arguments, "-o", tmp_path / "a")
    assert answer.code == 0, answer.err
    assert "no validation data: 100 of 1,200 training documents are held out to measure on\n" in answer.err
    assert "Metrics on the validation documents" in answer.out
    summary = json.loads(call(*arguments, "-o", tmp_path / "b", "--json").out)
    assert (summary["documents"], summary["validation_documents"]) == (1100, 100)
    assert summary["metrics"]["P@1"]["value"] == 100
    whole = call(*arguments, "-o", tmp_path / "c", "--json", "--no-hold-out")
    assert "held out" not in whole.err
    summary = json.loads(whole.out)
    assert (summary["documents"], summary["validation_documents"], summary["metrics"]) == (1200, 0, {})


def test_few_documents_are_not_held_out(call: Call, train_only: Path, tmp_path: Path) -> None:
    answer = call("train", train_only, "-o", tmp_path / "m", "--system", "dummy")
    assert (
        "no validation data, and fewer than 1,000 documents to hold some out: no metrics are shown"
        in answer.err
    )
    assert "Metrics" not in answer.out


def test_ids_of_a_file_of_labels_that_are_misspelled(call: Call, train_only: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("commonx\tthe common label\nl0\tthe first\n")
    named = call("train", train_only, "-o", tmp_path / "a", "--system", "lexical", "--labels", labels)
    beside = labels.rename(train_only / "labels.tsv")
    answer = call("train", train_only, "-o", tmp_path / "b", "--system", "lexical")
    for found, file in ((named, labels), (answer, beside)):
        assert f"label texts: {file}" in found.err
        assert found.err.count("warning: texts are given for labels that no document has: 1 ('commonx')") == 1
        assert "probably 'commonx' is 'common'" in found.err
        assert "labels without training documents, known by their texts only: 1 ('commonx')" in found.err


def test_labels_that_pandas_wrote_as_decimals_are_told(call: Call, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("text,label\n" + "".join(f"a text {n},{n % 3}.0\n" for n in range(9)))
    answer = call("train", table, "-o", tmp_path / "m", "--system", "dummy")
    assert answer.code == 0
    assert "warning: all labels are numbers like '0.0', as pandas writes whole numbers" in answer.err


def test_validation_documents_without_labels(call: Call, train_only: Path, tmp_path: Path) -> None:
    write_lines(train_only / "valid.jsonl", [{"text": "a text"}])
    answer = call("train", train_only, "-o", tmp_path / "m", "--system", "dummy", "-q")
    assert answer.code == 2
    assert "no validation document has a label" in answer.err
    assert not (tmp_path / "m").exists()


def test_an_existing_output_is_kept_unless_forced(call: Call, train_only: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    arguments = ("train", train_only, "-o", model, "--system", "dummy", "-q")
    assert call(*arguments).code == 0
    first = (model / "config.json").read_bytes()
    refused = call(*arguments, "--seed", 9)
    assert refused.code == 2
    assert (
        refused.err == f"longtail: {model} is there already: choose another name, or replace it with --force "
        "(force=True in Python)\n"
    )
    assert (model / "config.json").read_bytes() == first
    assert call(*arguments, "--seed", 9, "--force").code == 0
    assert load(model).config.seed == 9


def test_the_output_is_looked_at_before_the_data(call: Call, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").touch()
    answer = call("train", tmp_path / "no-data", "-o", tmp_path / "taken", "--system", "dummy", "--force")
    assert answer.code == 2
    assert "thesis.tex, which is not longtail's" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--system", "dumy"], "there is no system 'dumy': did you mean 'dummy'?"),
        (["--system", "dummy", "--set", "sed=1"], "unknown configuration key 'sed': did you mean 'seed'?"),
        (["--system", "dummy", "--set", "seed"], "'seed' is not of the form key=value"),
        (["--system", "dummy", "--fields", "title,body"], "'fields' must be some of title, text"),
        (["--system", "dummy", "--config", "none.toml"], "there is no configuration file none.toml"),
        (["--system", "dummy", "--format", "docx"], "there is no format 'docx'"),
    ],
)
def test_wrong_settings(call: Call, train_only: Path, tmp_path: Path, options: list[str], words: str) -> None:
    answer = call("train", train_only, "-o", tmp_path / "m", "-q", *options)
    assert answer.code == 2
    assert words in answer.err
    assert not (tmp_path / "m").exists()


def test_settings_come_from_the_file_then_set_then_options(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('system = "dummy"\nseed = 1\nfields = ["text"]\n[tree]\nleaf = 2\ndepth = 3\n')
    config = str(file)
    tree = {"leaf": 2, "depth": 3}
    assert gather_settings(None, config, (), None, None) == (
        "dummy",
        {"seed": 1, "fields": ["text"], "tree": tree},
    )
    name, settings = gather_settings("linear", config, ("seed=2", "tree.leaf=5"), "title, text", 7)
    assert name == "linear"
    assert settings == {"seed": 7, "fields": ["title", "text"], "tree": {"leaf": 5, "depth": 3}}
    assert gather_settings(None, None, (), None, None) == ("auto", {})
    file.write_text("system = 3")
    with pytest.raises(ConfigError, match="must be a system's name"):
        gather_settings(None, config, (), None, None)


def test_bad_data_names_file_and_line(call: Call, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "text": "t", "labels": ["a"]}\n{"id": "2", "text": \n')
    answer = call("train", bad, "-o", tmp_path / "m", "--system", "dummy", "-q")
    assert answer.code == 1
    assert f"{bad}, line 2" in answer.err
    assert not (tmp_path / "m").exists()


def test_validation_metrics_are_printed(call: Call, folder: Path, tmp_path: Path) -> None:
    answer = call("train", folder, "-o", tmp_path / "m", "--system", "dummy")
    assert answer.code == 0, answer.err
    assert "Metrics on the validation documents" in answer.out
    assert "P@1" in answer.out


def test_the_data_are_not_replaced_by_the_model(call: Call, train_only: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.jsonl").write_bytes((train_only / "train.jsonl").read_bytes())
    answer = call("train", data, "-o", data, "--system", "dummy", "--force", "-q")
    assert answer.code == 2
    assert "would replace the input" in answer.err
    assert [path.name for path in data.iterdir()] == ["train.jsonl"]
