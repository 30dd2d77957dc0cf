"""Label vectors: where they start, what shrinks them, what is learned and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.run import Run
from longtail.systems.dual.config import LabelVectorConfig
from longtail.systems.dual.model import LabelVectorTask, document_means, learned_share
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train

X = np.eye(4, dtype=np.float32)
Y = csr_array(np.array([[1, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]], np.float32))
TEXT = np.array([[0, 0, 1, 0], [0, 0, 0, 0], [0.6, 0.8, 0, 0], [1, 0, 0, 0]], np.float32)
NOBODY = np.full(4, -1)


def task(**changes: object) -> LabelVectorTask:
    stage = TrainConfig(epochs=40, batch_size=4, lr=0.05)
    config = LabelVectorConfig(**{"shrinkage": 2.0, "hard": 2, "random": 2, "train": stage, **changes})
    return LabelVectorTask(X, TEXT, Y, Y, NOBODY, config)


def test_frequent_labels_are_learned_and_those_without_documents_are_not() -> None:
    share = learned_share(np.array([2, 2, 0, 1]), TEXT, 2.0)
    np.testing.assert_allclose(share, [0.5, 1, 0, 1 / 3])
    assert learned_share(np.array([0, 3]), np.zeros((2, 2), np.float32), 0.0).tolist() == [0, 1]


def test_means_of_documents() -> None:
    expected = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert document_means(X, Y).tolist() == expected


def test_vectors_start_from_text_and_documents() -> None:
    found = task().vectors()
    np.testing.assert_allclose(found[0], [0.25, 0.25, 1, 0])
    np.testing.assert_allclose(found[1], [0, 0, 0.5, 0.5])
    np.testing.assert_allclose(found[3], [1 + 1 / 3, 0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("loss", ["softmax", "grank"])
def test_training_ranks_the_labels_of_documents_first(loss: str) -> None:
    made = task(loss=loss)
    before = made.vectors()
    train(made, made.config.train, stage="labels", seed=0, run=Run())
    after = made.vectors()
    assert (after[2] == TEXT[2]).all()
    assert (after != before).any(axis=1).tolist() == [True, True, False, True]
    scores = X @ after.T
    truth = Y.toarray() > 0
    assert all(scores[i][truth[i]].min() > scores[i][~truth[i]].max() for i in range(4))
