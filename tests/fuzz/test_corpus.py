"""Cases that once ended in a crash, a raw exception, or took all time or memory."""

import io
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from longtail.data import stream
from tests.fuzz import models, numbers
from tests.fuzz.targets import GOLDEN, target_named

SETTINGS: list[tuple[str, str, tuple[str | int, ...], Any]] = [
    ("linear-format-2", "config.json", ("config", "beam"), 2**40),
    ("linear-format-2", "linear.json", ("width",), 2**62),
    ("knn-format-2", "config.json", ("config", "neighbours"), 10**9),
    ("knn-format-2", "config.json", ("config", "neighbours"), 2**63 - 1),
    ("ensemble-format-2", "config.json", ("config", "candidates"), 10**9),
    ("ensemble-format-2", "config.json", ("config", "candidates"), 2**63 - 1),
    ("galaxc-format-2", "config.json", ("config", "graph", "neighbours"), 10**6),
    ("galaxc-format-2", "config.json", ("config", "shortlist", "voters"), 2**40),
    ("gnnxml-format-2", "documents/documents.json", ("keywords",), 2**31),
    ("gnnxml-format-2", "documents/documents.json", ("entities",), 2**62),
    ("gnnxml-format-2", "documents/documents.json", ("window",), 2**63 - 1),
    ("gnnxml-format-2", "config.json", ("config", "network", "layers"), 10**9),
    ("dual-format-2", "config.json", ("config", "votes", "neighbours"), 10**9),
    ("dual-format-2", "encoder/config.json", ("pad_token_id",), -1),
    ("gudn-format-2", "encoder/config.json", ("num_hidden_layers",), 10**9),
    ("gudn-format-2", "encoder/config.json", ("vocab_size",), 10**9),
    ("gudn-format-2", "encoder/config.json", ("hidden_size",), 2**40),
]
"""A model, and the one number in it that is absurd."""


@pytest.mark.parametrize(("name", "file", "keys", "value"), SETTINGS)
def test_an_absurd_setting_is_refused_or_changes_nothing(
    tmp_path: Path, name: str, file: str, keys: tuple[str | int, ...], value: Any
) -> None:
    place = tmp_path / "model"
    shutil.copytree(GOLDEN / name, place)
    numbers.put(place, file, keys, value)
    texts = orjson.loads((GOLDEN / f"{name}.json").read_bytes())["texts"]
    assert models.outcome(place, texts[:4]) in (models.ANSWERED, models.REFUSED)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("galaxc-format-2", 101162),
        ("galaxc-format-2", 101658),
        ("gudn-format-2", 100620),
        ("gudn-format-2", 101869),
        ("xgrank-format-2", 100502),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path, name: str, seed: int) -> None:
    target = target_named(name)
    target.make(tmp_path / "model", seed)
    assert target.run(tmp_path / "model") == models.REFUSED


@pytest.mark.parametrize(
    "content",
    [
        b"a text\rand more, of it\n",  # a carriage return is no end of a line
        b"x" * 200_000 + b", y\n",  # more than the csv module takes for a cell
        b'"' + b"y," * 1000 + b"\n",
    ],
)
def test_a_first_line_of_a_pipe_that_is_no_row_is_a_text(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(content))))
    ((documents, _),) = stream("-")
    assert len(documents) == 1
