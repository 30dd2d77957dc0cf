"""Saved models keep loading and predicting the same: one of every system in the current format, and older ones."""

import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest

import longtail
from longtail.errors import ModelVersionError
from longtail.storage.manifest import write_manifest
from longtail.systems import REGISTRY
from longtail.systems.model_folder import FORMAT

HERE = Path(__file__).parent
GOLDEN = sorted(path.stem for path in HERE.glob("*-format-*.json"))


def test_every_system_has_a_golden_model() -> None:
    assert {f"{name}-format-{FORMAT}" for name in REGISTRY} | {"linear-format-1"} == set(GOLDEN)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_saved_model_predicts_as_it_did(name: str) -> None:
    expected = orjson.loads((HERE / f"{name}.json").read_bytes())
    labels = np.array(expected["labels"])
    answer = longtail.load(HERE / name).predict(expected["texts"], k=labels.shape[1])
    # Another processor adds up a transformer's products in another order, and its exp() may differ in the last bit.
    exact = not name.startswith(("xgrank", "gudn", "dual"))
    np.testing.assert_allclose(answer.scores, expected["scores"], rtol=1e-5 if exact else 1e-3, atol=1e-6)
    assert (answer.indices == labels).mean() >= (1 if exact else 0.95)


@pytest.mark.parametrize("name", ["eclare", "galaxc", "gnnxml", "xgrank", "gudn"])
def test_a_neural_model_of_format_1_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(HERE / f"{name}-format-{FORMAT}", folder)
    described = orjson.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_bytes(orjson.dumps({**described, "format": 1}))
    write_manifest(folder)
    with pytest.raises(ModelVersionError, match=f"'{name}' in format 1, .*: train it again"):
        longtail.load(folder)
