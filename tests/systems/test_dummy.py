import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.systems import load
from longtail.systems.dummy import Dummy
from longtail.types import Dataset

LABELS = "abcde"


def test_every_document_gets_the_most_frequent_labels_with_their_shares():
    train = Dataset.from_texts(["", "x", "y", "z"], [["b"], ["a", "b"], ["c", "b"], []], {"never": ""})
    answer = Dummy().fit(train).predict(["anything", ""], k=5)
    assert train.labels.ids == ["never", "b", "a", "c"]
    assert answer.labels.tolist() == [[1, 2, 3, -1, -1]] * 2
    assert answer.scores.tolist() == [[0.75, 0.25, 0.25, 0, 0]] * 2


def test_it_takes_feature_rows_of_any_width():
    fitted = Dummy().fit(Dataset.from_matrix(np.eye(2), np.array([[1, 1], [0, 1]])))
    answer = fitted.predict(Dataset.from_matrix(np.eye(7), np.zeros((7, 2))), k=2)
    assert answer.labels.tolist() == [[1, 0]] * 7
    assert answer.scores.tolist() == [[1, 0.5]] * 7


@given(st.lists(st.sets(st.sampled_from(LABELS)), min_size=1).filter(any), st.integers(1, 7))
def test_scores_are_shares_in_falling_order_with_ties_by_column(tags, k):
    train = Dataset.from_texts([""] * len(tags), tags, dict.fromkeys(LABELS, ""))
    answer = Dummy().fit(train).predict(["a"], k=k)
    counts = {i: sum(label in row for row in tags) for i, label in enumerate(LABELS)}
    best = sorted((i for i in counts if counts[i]), key=lambda i: (-counts[i], i))[:k]
    assert answer.labels[0].tolist() == best + [-1] * (k - len(best))
    shares = [counts[i] / len(tags) for i in best] + [0] * (k - len(best))
    assert answer.scores[0].tolist() == pytest.approx(shares)


def test_the_label_counts_are_all_that_is_saved(tmp_path):
    Dummy().fit(Dataset.from_texts(["", "", ""], [["b"], ["a", "b"], []])).save(tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"config.json", "labels.jsonl", "label_counts.safetensors", "README.md", "manifest.json"}
    again = load(tmp_path / "model")
    assert isinstance(again, Dummy)
    assert again.prior_.tolist() == pytest.approx([2 / 3, 1 / 3])
