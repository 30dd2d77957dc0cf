"""Saved models of each kind to load, copy and damage."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longtail.systems import create

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "dummy": ("dummy", {}),
    "linear": ("linear", {"tree": {"leaf_size": 8, "arity": 4}}),
    "lexical": ("lexical", {"text": {"kind": "word"}}),
    "knn": ("knn", {"text": {"kind": "word"}}),
    "pieces": (
        "linear",
        {
            "tree": {"leaf_size": 8, "arity": 4, "trees": 2},
            "text": {"kind": "wordpiece", "wordpiece_vocab_size": 200, "char_ngrams": [3, 3]},
        },
    ),
}


@pytest.fixture(scope="module", params=sorted(MODELS))
def saved(request, tiny, tmp_path_factory) -> Path:
    """A saved model, never to be changed."""
    name, settings = MODELS[request.param]
    place = tmp_path_factory.mktemp("saved") / "model"
    create(name, settings).fit(tiny.train, valid=tiny.valid).save(place)
    return place


@pytest.fixture
def copy(saved, tmp_path) -> Callable[[], Path]:
    """Gives a fresh copy of the saved model at each call, at the same place."""

    def make() -> Path:
        place = tmp_path / "model"
        shutil.rmtree(place, ignore_errors=True)
        return Path(shutil.copytree(saved, place))

    return make


@pytest.fixture
def model(copy) -> Path:
    return copy()


@pytest.fixture
def dummy(tiny, tmp_path) -> Path:
    create("dummy").fit(tiny.train, valid=tiny.valid).save(tmp_path / "dummy")
    return tmp_path / "dummy"
