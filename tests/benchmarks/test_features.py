import json
import lzma
import sys

import pytest

from benchmarks import features

TEXTS = [f"words of number {i % 7} and {i % 5}" for i in range(60)]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps({"title": "T", "text": text}) + "\n" for text in TEXTS))
    return path


def test_texts_are_read_plain_and_compressed(data):
    packed = data.with_suffix(".jsonl.xz")
    packed.write_bytes(lzma.compress(data.read_bytes()))
    assert features.read_texts(data, None) == features.read_texts(packed, None) == [f"T\n{t}" for t in TEXTS]
    assert features.read_texts(packed, 3) == [f"T\n{t}" for t in TEXTS[:3]]


def test_both_systems_make_the_same_columns(data):
    ours, theirs = (features.measure(system, 2, data, None) for system in ("longtail", "sklearn"))
    for name in ("documents", "characters", "columns", "nonzeros"):
        assert ours[name] == theirs[name] > 0
    assert ours.keys() == theirs.keys()


def test_one_system_is_printed_as_json(data, capsys, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["features", str(data), "--ngrams", "1", "--limit", "20", "--only", "sklearn"]
    )
    features.main()
    assert json.loads(capsys.readouterr().out)["documents"] == 20
