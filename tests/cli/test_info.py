from __future__ import annotations

import json
from pathlib import Path

from longtail.systems import REGISTRY
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
    import shutil

    shutil.copytree(model, tmp_path / "m")
    (tmp_path / "m" / "labels.jsonl").write_text("")
    answer = call("info", tmp_path / "m")
    assert answer.code == 1
    assert "labels.jsonl" in answer.err


def test_systems_and_their_settings(call: Call) -> None:
    words = call("info")
    assert words.code == 0, words.err
    systems = json.loads(call("info", "--json").out)
    assert list(systems) == list(REGISTRY)
    for name, system in systems.items():
        assert f"{name}: {system['description']}" in words.out
        undocumented = [setting["name"] for setting in system["settings"] if not setting["doc"]]
        assert not undocumented
    seed = next(setting for setting in systems["dummy"]["settings"] if setting["name"] == "seed")
    assert seed == {"name": "seed", "default": 0, "doc": "Same data, same settings, same seed: same model."}
