from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from longtail.cli.settings_table import highlights_of, settings_of
from longtail.systems import REGISTRY, get
from tests.cli.conftest import Call


def test_a_model_in_words_and_as_json(call: Call, model: Path) -> None:
    words = call("info", model)
    assert words.code == 0
    for part in ("a model of the system 'dummy'", "training documents  40", "6 (6 with training documents)"):
        assert part in words.out
    facts = json.loads(call("info", model, "--json").out)
    assert facts["data"]["documents"] == 40
    assert facts["config"]["fields"] == ["title", "text"]
    assert facts["bytes"] == sum((model / name).stat().st_size for name in facts["files"])


def test_a_damaged_model_is_an_error(call: Call, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "m")
    (tmp_path / "m" / "labels.jsonl").write_text("")
    answer = call("info", tmp_path / "m")
    assert answer.code == 1
    assert "labels.jsonl" in answer.err


def test_the_systems_in_one_line_each(call: Call) -> None:
    words = call("info")
    assert words.code == 0, words.err
    systems = json.loads(call("info", "--json").out)
    assert list(systems) == list(REGISTRY)
    lines = words.out.splitlines()
    assert lines[0].startswith("auto ")
    assert lines[-1].startswith("Settings of a system: longtail info SYSTEM.")
    for line, (name, system) in zip(lines[1:], systems.items(), strict=False):
        assert line.split() == [name, *system["description"].split()]
        undocumented = [setting["name"] for setting in system["settings"] if not setting["doc"]]
        assert not undocumented
    seed = next(setting for setting in systems["dummy"]["settings"] if setting["name"] == "seed")
    assert seed == {"name": "seed", "default": 0, "doc": "Same data, same settings, same seed: same model."}


def test_the_settings_of_a_system(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = json.loads(call("info", "linear", "--json").out)
    few, every = call("info", "linear").out, call("info", "linear", "--all").out
    names = [setting["name"] for setting in facts["settings"]]
    assert few.startswith(f"linear: {facts['description']}\n")
    assert [line.split()[0] for line in few.splitlines() if line.startswith("  ")] == facts["highlights"]
    assert [line.split()[0] for line in every.splitlines() if line.startswith("  ")] == names
    assert f"{len(names) - len(facts['highlights'])} more settings: longtail info linear --all" in few
    assert "more settings" not in every
    assert re.search(r"tree\.leaf_size +200 +Labels per leaf", few)
    assert call("info", "dummy").out.count("\n  ") == 3
    assert "longtail train" in call("info", "auto").out
    # A data folder of that name is no model; a model of that name is.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linear").mkdir()
    assert call("info", "linear").out == few


def test_a_model_named_like_a_system(
    call: Call, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "linear")
    monkeypatch.chdir(tmp_path)
    assert call("info", "linear").out.startswith("linear: a model of the system 'dummy'")


@pytest.mark.parametrize("name", REGISTRY)
def test_settings_worth_changing_exist_and_are_few(name: str) -> None:
    config = get(name).Config
    names = [setting.name for setting in settings_of(config)]
    assert set(config.highlights) <= set(names)
    assert len(set(config.highlights)) == len(config.highlights)
    assert len(highlights_of(config)) <= 20
