from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_check_in_words_and_as_json(call: Call, folder: Path) -> None:
    words = call("check", folder)
    assert words.code == 0, words.err
    assert "40" in words.out
    data = call("check", folder, "--json")
    assert data.code == 0
    assert isinstance(json.loads(data.out), dict)


def test_oddities_are_no_failure_but_what_cannot_be_read_is(call: Call, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"id": "a", "text": "", "labels": []}\n{"id": "a", "text": "t", "labels": ["x", "x"]}\n')
    assert call("check", odd).code == 0
    odd.write_text('{"id": "a", "text": "t", "labels": ["x"]}\nnot json\n')
    broken = call("check", odd)
    assert broken.code == 1
    assert f"{odd}, line 2" in broken.out
    missing = call("check", tmp_path / "nothing")
    assert missing.code == 1
    assert "nothing" in missing.err
