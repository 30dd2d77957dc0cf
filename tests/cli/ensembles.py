"""A small data set, models trained on it and their ensemble, for the commands that combine and choose members."""

from __future__ import annotations

from pathlib import Path

import pytest

from longtail.data import read_folder
from longtail.systems import create
from tests.cli.conftest import records, write_lines


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
