"""Models saved by earlier versions keep loading and keep their answers."""

from pathlib import Path

import numpy as np
import orjson
import pytest

import longtail

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["linear-format-1"])
def test_a_model_of_an_earlier_format_answers_as_it_did(name: str) -> None:
    expected = orjson.loads((HERE / f"{name}.json").read_bytes())
    labels = np.array(expected["labels"])
    answer = longtail.load(HERE / name).predict(expected["texts"], k=labels.shape[1])
    assert (answer.labels == labels).all()
    # Another processor's exp() may differ in the last bit.
    assert np.allclose(answer.scores, expected["scores"], rtol=1e-6, atol=0)
