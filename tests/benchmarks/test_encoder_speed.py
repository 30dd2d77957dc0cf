import json

import numpy as np
import pytest

from benchmarks.encoder_speed import main, recorded
from longtail import threads
from tests.tiny_encoders import write_syllables

pytest.importorskip("transformers")


def test_what_an_encoder_reads_for_learning_is_recorded(tmp_path) -> None:
    from longtail.blocks.transformer import Transformer
    from longtail.text.pretrained import EncoderFolder
    from longtail.text.subwords import Padded

    encoder = Transformer.of(EncoderFolder.of(str(write_syllables(tmp_path))))
    tokens = Padded(np.zeros((1, 3), np.int64), np.ones((1, 3), bool))
    with recorded() as batches:
        encoder.eval()(tokens)
        encoder.train()(tokens)
    encoder(tokens)
    assert [batch is tokens for batch in batches] == [True]


@pytest.mark.parametrize("system", ["xgrank", "gudn"])
def test_a_line_a_system(system, tmp_path, capsys) -> None:
    small = {"labels": 60, "documents": 300, "trained": 100, "tokens": 12}
    arguments = [part for name, value in small.items() for part in (f"--{name}", str(value))]
    with threads.limit(1):
        main(["--systems", system, "--encoder", str(write_syllables(tmp_path)), *arguments])
    found = json.loads(capsys.readouterr().out)
    assert found.pop("system") == system
    assert found["train share"] == pytest.approx(found["bare train"] / found["train"], rel=1e-3)
    assert {"batch ms", "bare ms", "alone ms", "ONNX batch ms", "ONNX alone ms"} <= found.keys()
    assert all(value > 0 for value in found.values())
