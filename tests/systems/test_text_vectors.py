from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from longtail.errors import ConfigError, ModelError, TrainingError
from longtail.systems.text_vectors import TextVectors
from longtail.types import Dataset
from tests.planted import Parts

WORDS = ("cat", "dog", "fish", "park")


class Words(TextVectors):
    """Counts of four words."""

    name: ClassVar[str] = "words"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], np.float64)


class Letters(TextVectors):
    """Counts of letters."""

    name: ClassVar[str] = "letters"

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count(chr(97 + i)) for i in range(26)] for text in texts])


@pytest.fixture
def pets() -> Dataset:
    return Dataset.from_texts(
        ["cat cat", "cat dog", "park"],
        [["cats"], ["cats", "dogs"], ["places"]],
        label_texts={"fishes": "fish"},
    )


def test_label_vectors_are_means_of_documents_and_text(pets: Dataset) -> None:
    model = Words(calibrate="none").fit(pets)
    vectors = dict(zip(model.labels_.ids, model.label_vectors_.vectors, strict=True))
    half = np.sqrt(0.5)
    # cats: (1, 0) and (1, 1) / sqrt(2) summed, then of length 1.
    assert vectors["cats"] == pytest.approx(np.array([1 + half, half, 0, 0]) / np.hypot(1 + half, half))
    assert vectors["dogs"] == pytest.approx([half, half, 0, 0])
    assert vectors["fishes"] == pytest.approx([0, 0, 1, 0])
    best = model.predict(["fish", "dog", "nothing known"], k=4)
    assert best[0] == [("fishes", pytest.approx(1))]
    assert [label for label, _ in best[1]] == ["dogs", "cats"]
    assert best[2] == []
    without = Words(calibrate="none", label_text=0).fit(pets)
    assert without.predict(["fish"], k=4)[0] == []


def test_one_document_alone_has_the_scores_that_it_has_among_others(tiny: Parts) -> None:
    model = Letters().fit(tiny.train, valid=tiny.valid)
    together = model.predict(tiny.test, k=5)
    for row in range(0, len(tiny.test), 7):
        alone = model.predict(tiny.test.documents[row], k=5)
        assert np.array_equal(alone.indices[0], together.indices[row])
        assert np.array_equal(alone.scores[0], together.scores[row])
    candidates = model.candidates(tiny.test, k=5)
    assert np.array_equal(candidates.features[:, 0], candidates.candidates.scores)


def test_a_saved_model_gives_the_same_answers(tiny: Parts, tmp_path: Path) -> None:
    model = Letters().fit(tiny.train, valid=tiny.valid)
    model.save(tmp_path / "model")
    again = Letters.load(tmp_path / "model").predict(tiny.test, k=3)
    assert np.array_equal(again.scores, model.predict(tiny.test, k=3).scores)


def test_vectors_that_do_not_fit_are_refused(pets: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Words(calibrate="none").fit(pets)
    monkeypatch.setattr(Words, "vectors", lambda self, texts: np.ones((len(texts), 7)))
    with pytest.raises(ModelError, match="gives vectors of 7 numbers, but the model was trained with 4"):
        model.predict("a text")
    monkeypatch.setattr(Words, "vectors", lambda self, texts: np.ones(len(texts)))
    with pytest.raises(
        TrainingError, match=r"a finite vector for each of 3 texts, not an array of the shape \(3,\)"
    ):
        Words().fit(pets)
    monkeypatch.setattr(Words, "vectors", lambda self, texts: np.full((len(texts), 2), np.nan))
    with pytest.raises(TrainingError, match="not finite"):
        Words().fit(pets)


def test_a_wrong_weight_is_refused() -> None:
    with pytest.raises(ConfigError, match="'label_text' must be a number of at least 0"):
        Words(label_text=-1.0)
