"""Bytes of a training: they grow with what they are made of, by as much as the arrays do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longtail.systems import create
from longtail.systems.cost import DataSize
from longtail.systems.memory import FORMULAS, POOL, QUERIES, compared_pairs, data_bytes, label_bytes
from longtail.systems.shape import Shape

SHAPE = Shape(DataSize(10_000, 2_000, 30_000, 20.0, 2_000), 1_000_000, 50_000, 0, 30_000, 60.0)


@pytest.mark.parametrize("system", FORMULAS)
def test_more_of_anything_takes_no_less(system: str) -> None:
    config = create(system).config
    formula = FORMULAS[system]
    small = formula(SHAPE, config)
    assert small.base > 0
    assert small.training > 0
    assert small.model > 0
    for large in (
        replace(SHAPE, size=replace(SHAPE.size, documents=100_000, pairs=300_000)),
        replace(SHAPE, size=replace(SHAPE.size, labels=20_000)),
        replace(SHAPE, columns=300_000, terms=100.0),
    ):
        more = formula(large, config)
        assert more.training >= small.training
        assert more.model >= small.model
        assert more.checkpoints >= small.checkpoints


def test_rows_of_labels_have_weights_and_moments() -> None:
    config = create("eclare", {"width": 100}).config
    more = replace(SHAPE, size=replace(SHAPE.size, labels=3_000))
    difference = FORMULAS["eclare"](more, config).training - FORMULAS["eclare"](SHAPE, config).training
    assert difference >= 3 * 4 * 100 * 1_000


def test_pieces_divide_what_a_batch_takes() -> None:
    settings = {"encoder": {"frozen": None}, "train": {"batch_size": 64, "accumulate": 1}}
    whole = FORMULAS["gudn"](SHAPE, create("gudn", settings).config)
    settings["train"]["accumulate"] = 4
    parts = FORMULAS["gudn"](SHAPE, create("gudn", settings).config)
    assert parts.batch == pytest.approx(whole.batch / 4)
    assert parts.training == whole.training


def test_compared_documents_are_bounded() -> None:
    assert compared_pairs(SHAPE) == 0
    assert compared_pairs(replace(SHAPE, both_fields=100)) == 10_000
    assert compared_pairs(replace(SHAPE, both_fields=10**7)) == QUERIES * POOL


def test_data_and_labels() -> None:
    assert data_bytes(SHAPE) > SHAPE.characters
    assert label_bytes(SHAPE) > SHAPE.label_characters
