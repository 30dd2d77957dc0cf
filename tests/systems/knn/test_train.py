"""What documents are compared by, and which index they are in."""

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.knn.config import KnnConfig
from longtail.systems.knn.neighbours import AnnNeighbours, TermNeighbours, VectorNeighbours
from longtail.systems.knn.train import train
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset
from tests.planted import Parts
from tests.tiny_encoders import write_syllables


def test_the_vocabulary_is_that_of_the_neural_systems(tiny: Parts) -> None:
    store, config = FeatureStore(tiny.train.documents), KnnConfig()
    representation, _ = train(tiny.train, config, Run(), store)
    shared = TrainingMatrices.of(tiny.train, config.text, config.fields, Run(), store)
    assert representation.features is shared.features
    assert representation.width == shared.X.shape[1]


def test_each_kind_of_rows_has_its_index(tiny: Parts, tmp_path: Path) -> None:
    encoder = str(write_syllables(tmp_path))
    matrix = Dataset.from_matrix(np.random.default_rng(0).random((len(tiny.train), 7)), tiny.train.Y)
    for data, settings, kind, width in (
        (tiny.train, KnnConfig(), TermNeighbours, None),
        (matrix, KnnConfig(), TermNeighbours, 7),
        (tiny.train, KnnConfig(vectors="encoder", encoder=encoder), VectorNeighbours, 16),
        (tiny.train, KnnConfig(vectors="encoder", encoder=encoder, search="ann"), AnnNeighbours, 16),
    ):
        representation, training = train(data, settings, Run(), FeatureStore(data.documents))
        assert type(training.neighbours) is kind
        assert width in (None, representation.width)
        assert len(training.neighbours) == len(training.ids) == len(data)


def test_documents_without_labels_are_mentioned(tiny: Parts) -> None:
    run = Run()
    train(tiny.train, KnnConfig(), run, FeatureStore(tiny.train.documents))
    assert run.messages == ["documents without labels, which are never neighbours: 1"]
    assert list(run.seconds) == ["features", "index"]


def test_an_encoder_needs_texts(tiny: Parts) -> None:
    matrix = Dataset.from_matrix(np.ones((len(tiny.train), 7)), tiny.train.Y)
    with pytest.raises(UsageError, match="has no text for the encoder"):
        train(matrix, KnnConfig(vectors="encoder"), Run(), FeatureStore(matrix.documents))
