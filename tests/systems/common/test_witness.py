"""The linear tree beside ECLARE: what it says, when it is there, and that it is kept with the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.run import Run
from longtail.storage import open_folder
from longtail.storage.manifest import write_manifest
from longtail.systems.common.witness import BEST, Witness
from longtail.systems.eclare.system import Eclare
from longtail.systems.linear import LinearTree
from tests.planted import Parts
from tests.systems.eclare.worlds import config_of, settings


def test_it_says_what_the_tree_says(tiny: Parts) -> None:
    witness = Witness.learn(tiny.train, config_of(), Run())
    tree = LinearTree().fit(tiny.train).predict(tiny.test, k=BEST)
    found = witness(tiny.test.documents).top_k(BEST)
    there = tree.labels >= 0
    assert np.array_equal(found.labels[:, 0], tree.labels[:, 0])
    np.testing.assert_allclose(
        np.sort(found.scores[there]), np.sort(np.log(np.maximum(tree.scores[there], 1e-6))), rtol=1e-6
    )


def test_it_comes_back(tiny: Parts, tmp_path: Path) -> None:
    witness = Witness.learn(tiny.train, config_of(fields=["title"]), Run())
    (tmp_path / "model").mkdir()
    witness.save(tmp_path / "model" / "linear")
    write_manifest(tmp_path / "model")
    folder = open_folder(tmp_path / "model")
    again = Witness.load(folder.sub("linear"), tiny.train.labels)
    assert again is not None
    one, two = (w(tiny.test.documents) for w in (witness, again))
    assert np.array_equal(one.ids, two.ids)
    assert np.array_equal(one.scores, two.scores)
    assert again.tree.config == witness.tree.config
    assert Witness.load(folder.sub("nowhere"), tiny.train.labels) is None


@pytest.mark.parametrize(
    ("changes", "valid", "there"),
    [
        ({"linear": True}, True, True),
        ({"linear": False}, True, False),
        ({"linear": True, "score": "product"}, True, False),
        ({"linear": True}, False, False),
    ],
)
def test_it_is_there_where_a_learnt_score_can_use_it(
    tiny: Parts, tmp_path: Path, changes: dict[str, object], valid: bool, there: bool
) -> None:
    model = Eclare(**settings(epochs=1, **changes)).fit(tiny.train, valid=tiny.valid if valid else None)
    assert (model.witness_ is not None) == there
    model.save(tmp_path / "model")
    assert (tmp_path / "model" / "linear").exists() == there
    assert (Eclare.load(tmp_path / "model").witness_ is not None) == there
