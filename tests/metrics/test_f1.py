import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from longtail.metrics.f1 import f1
from tests.metrics.worlds import matrix, random_world, ranking


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_agrees_with_scikit_learn(seed, threshold):
    truth, predicted = random_world(seed)
    Y, labels = matrix(truth, 25), ranking(predicted, 7)
    scores = np.random.default_rng(seed).random(labels.shape, dtype=np.float32)
    dense = np.zeros((60, 25), int)
    for row in range(60):
        dense[
            row, [x for x, s in zip(labels[row], scores[row], strict=True) if x >= 0 and s >= threshold]
        ] = 1
    gold = (Y.toarray() > 0).astype(int)
    used = np.flatnonzero((gold + dense).any(axis=0))
    ours = f1(labels, scores, Y, threshold)
    assert ours["micro"] == pytest.approx(f1_score(gold, dense, average="micro", zero_division=0))
    assert ours["sample"] == pytest.approx(f1_score(gold, dense, average="samples", zero_division=0))
    # scikit-learn averages over all columns; we leave out labels that are neither in the truth nor predicted.
    assert ours["macro"] == pytest.approx(
        f1_score(gold[:, used], dense[:, used], average="macro", zero_division=0)
    )


def test_nothing_at_all_is_zero():
    ours = f1(ranking([[], []], 3), np.zeros((2, 3), np.float32), matrix([[], []], 4), 0.5)
    assert ours == {"micro": 0, "macro": 0, "sample": 0}
