"""The training of an encoder before a system uses it: on texts alone, in place, the same as that of dual."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.transformer import Transformer
from longtail.run import Run
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.training.encoder_pretraining import only_some, pretrain
from longtail.training.matrices import positives, self_labels
from longtail.types import Dataset
from tests.planted import Parts
from tests.tiny_encoders import write_syllables


def trained(place: Path, data: Dataset, run: Run, epochs: float) -> tuple[Transformer, int]:
    encoder = Transformer.of(EncoderFolder.of(place))
    found = pretrain(
        encoder,
        FeatureStore(data.documents),
        [text or "" for text in data.labels.texts],
        positives(data),
        self_labels(data),
        fields=("title", "text"),
        tokens=8,
        epochs=epochs,
        device="cpu",
        seed=0,
        run=run,
    )
    assert found.transformer is encoder
    return encoder, found.subwords.limit


def test_the_encoder_learns_in_place_and_the_seed_decides(tmp_path: Path, tiny: Parts) -> None:
    place, run = write_syllables(tmp_path), Run()
    before = Transformer.of(EncoderFolder.of(place)).arrays()
    encoder, limit = trained(place, tiny.train, run, 1)
    assert limit == 8
    assert "dual encoder" in run.seconds
    after = encoder.arrays()
    assert any((before[name] != after[name]).any() for name in before)
    again, _ = trained(place, tiny.train, Run(), 1)
    assert all(np.array_equal(array, after[name]) for name, array in again.arrays().items())


def test_without_label_texts_the_encoder_stays(tmp_path: Path, tiny: Parts) -> None:
    silent, run = Dataset.from_texts(["red tree", "pear"], [["a"], ["b"]]), Run()
    place = write_syllables(tmp_path)
    before = Transformer.of(EncoderFolder.of(place))
    before.round_weights()
    encoder, _ = trained(place, silent, run, 1)
    assert "no document has a label with a text" in " ".join(run.messages)
    known = before.arrays()
    assert all(np.array_equal(array, known[name]) for name, array in encoder.arrays().items())


def test_a_share_of_the_documents_is_read_once(tmp_path: Path, tiny: Parts) -> None:
    place = write_syllables(tmp_path)
    part, whole = (trained(place, tiny.train, Run(), epochs)[0].arrays() for epochs in (0.25, 1))
    before = Transformer.of(EncoderFolder.of(place)).arrays()
    assert any((before[name] != part[name]).any() for name in before)
    assert any((whole[name] != part[name]).any() for name in before)


def test_the_documents_of_a_share_keep_their_labels() -> None:
    Y = csr_array(np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]], np.float32))
    some = only_some(Y, 0.5, seed=0)
    assert some.shape == Y.shape
    kept = [row for row in range(5) if (some.toarray()[row] == Y.toarray()[row]).all()]
    gone = [row for row in range(5) if not some.toarray()[row].any()]
    assert set(kept) | set(gone) == set(range(5))
    assert len(set(gone) - {3}) in (2, 3)
    assert len(kept) >= 2
    assert (only_some(Y, 0.5, seed=0) != some).nnz == 0
    assert (only_some(Y, 0.99, seed=0) != Y).nnz == 0
