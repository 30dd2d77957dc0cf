"""Labels after training: found by their text at once, and by their examples."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np

import longtail
from longtail.systems.dual.system import Dual
from longtail.types import Dataset
from tests.planted import Parts


def test_a_new_label_is_found_by_its_text_and_others_keep_their_scores(
    trained: Dual, tiny: Parts, tmp_path: Path
) -> None:
    model = copy.copy(trained)
    text = tiny.train.labels.texts[0]
    before = trained.candidates(tiny.test, k=40)
    model.add_labels({"twin": text})
    after = model.candidates(tiny.test, k=41)
    kept = after.candidates.where(after.candidates.ids < len(trained.labels_))
    assert (kept.ids == before.candidates.ids).all()
    assert (kept.scores == before.candidates.scores).all()
    assert model.predict([text], k=5).labels[0].count("twin") == 1
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.predict([text], k=5).labels == model.predict([text], k=5).labels


def test_examples_replace_a_text_that_is_missing(trained: Dual, tiny: Parts) -> None:
    model = copy.copy(trained)
    documents = tiny.test.documents.joined()[:3]
    model.add_labels(["nameless"], examples=Dataset.from_texts(documents, [["nameless"]] * 3))
    predictor = model.predictor_
    assert not predictor.labels.text[-1].any()
    x = predictor.encoder(predictor.encoder.subwords(documents))
    np.testing.assert_allclose(predictor.labels.learned[-1], x.mean(axis=0), atol=1e-3)
    assert trained.predictor_ is not predictor
