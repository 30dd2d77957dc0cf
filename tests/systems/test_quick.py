"""Quick settings: valid, and each faster than the ones before."""

import pytest

from longtail.systems import create
from longtail.systems.cost import BFLOAT16, FLOAT32, DataSize, training_seconds
from longtail.systems.quick import quicker

TITLES = DataSize(39_653, 42_421, 208_239, 7.6, 16_490, 7.5)
LONG = DataSize(45_000, 4_271, 228_322, 593, 4_271, 2.0)


@pytest.mark.parametrize("size", [TITLES, LONG])
@pytest.mark.parametrize("pace", [FLOAT32, BFLOAT16])
def test_each_is_faster_than_the_one_before(size, pace):
    tables = [None, *(settings["xgrank"] for settings in quicker(size))]
    seconds = [training_seconds("xgrank", size, pace=pace, settings=table) for table in tables]
    assert seconds == sorted(seconds, reverse=True)
    assert len(set(seconds)) == len(seconds) > 1


@pytest.mark.parametrize("size", [TITLES, LONG])
def test_the_encoder_is_trained_where_documents_are_short(size):
    for settings in quicker(size):
        config = create("xgrank", settings["xgrank"]).config
        assert (config.encoder.pretrain > 0) == size.pairs_are_short
