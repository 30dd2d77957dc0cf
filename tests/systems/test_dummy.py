import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.shortlist.candidates import Candidates
from longtail.systems import load
from longtail.systems.dummy import Dummy
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset, Documents

LABELS = "abcde"


def test_every_document_gets_the_most_frequent_labels_with_their_shares():
    train = Dataset.from_texts(["", "x", "y", "z"], [["b"], ["a", "b"], ["c", "b"], []], {"never": ""})
    answer = Dummy().fit(train).predict(["anything", ""], k=5)
    assert train.labels.ids == ["never", "b", "a", "c"]
    assert answer.indices.tolist() == [[1, 2, 3, -1, -1]] * 2
    assert answer.scores.tolist() == [[0.75, 0.25, 0.25, 0, 0]] * 2


def test_it_takes_feature_rows_of_any_width():
    fitted = Dummy().fit(Dataset.from_matrix(np.eye(2), np.array([[1, 1], [0, 1]])))
    answer = fitted.predict(Dataset.from_matrix(np.eye(7), np.zeros((7, 2))), k=2)
    assert answer.indices.tolist() == [[1, 0]] * 7
    assert answer.scores.tolist() == [[1, 0.5]] * 7


@given(st.lists(st.sets(st.sampled_from(LABELS)), min_size=1).filter(any), st.integers(1, 7))
def test_scores_are_shares_in_falling_order_with_ties_by_column(tags, k):
    train = Dataset.from_texts([""] * len(tags), tags, dict.fromkeys(LABELS, ""))
    answer = Dummy().fit(train).predict(["a"], k=k)
    counts = {i: sum(label in row for row in tags) for i, label in enumerate(LABELS)}
    best = sorted((i for i in counts if counts[i]), key=lambda i: (-counts[i], i))[:k]
    assert answer.indices[0].tolist() == best + [-1] * (k - len(best))
    shares = [counts[i] / len(tags) for i in best] + [0] * (k - len(best))
    assert answer.scores[0].tolist() == pytest.approx(shares)


def test_the_feature_of_any_candidate_is_its_share():
    train = Dataset.from_texts(["", "x", "y", "z"], [["b"], ["a", "b"], ["c", "b"], []], {"never": ""})
    found = Dummy().fit(train).candidates(["anything", ""], k=2)
    assert found.names == ("share",)
    assert found.candidates.ids.tolist() == [1, 2] * 2
    assert found.candidates.scores.tolist() == [0.75, 0.25] * 2
    assert found.features.tolist() == [[0.75], [0.25]] * 2
    documents = Documents.of(["one", "two"])
    encoded = Dummy().fit(train)._encode(documents, FeatureStore(documents))
    others = Candidates.from_counts(np.array([1, 2]), np.array([0, 0, 3], np.int32), np.zeros(3, np.float32))
    assert encoded.features(others).tolist() == [[0], [0], [0.25]]
    assert encoded.readable.all()


@pytest.mark.parametrize("size", [1, 2, 9])
def test_scores_do_not_depend_on_the_size_of_the_shortlist(size):
    train = Dataset.from_texts(["", "x", "y"], [["b"], ["a", "b"], ["c", "b"]])
    documents = Documents.of(["x"])
    found = Dummy().fit(train)._encode(documents, FeatureStore(documents)).shortlist(size)
    assert found.ids.tolist() == [0, 1, 2][:size]
    assert found.scores.tolist() == pytest.approx([1, 1 / 3, 1 / 3][:size])


def test_the_label_counts_are_all_that_is_saved(tmp_path):
    Dummy().fit(Dataset.from_texts(["", "", ""], [["b"], ["a", "b"], []])).save(tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"config.json", "labels.jsonl", "label_counts.safetensors", "README.md", "manifest.json"}
    again = load(tmp_path / "model")
    assert isinstance(again, Dummy)
    assert again.prior_.tolist() == pytest.approx([2 / 3, 1 / 3])
