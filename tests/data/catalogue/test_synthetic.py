import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from longtail.data.catalogue import build
from longtail.errors import UsageError


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 300), st.integers(3, 200), st.integers(0, 5), st.booleans(), st.integers(3, 20))
def test_any_size_can_be_had(n_labels, n_documents, seed, shared, words):
    parts = build(
        "synthetic",
        n_labels=n_labels,
        n_documents=n_documents,
        seed=seed,
        shared_space=shared,
        words_per_document=words,
    )
    assert sum(len(part) for part in parts.values()) == n_documents
    ids = [i for part in parts.values() for i in part.documents.ids]
    assert len(set(ids)) == n_documents
    for part in parts.values():
        assert len(part.labels) == n_labels
        assert all(len(text.split()) == 3 for text in part.labels.texts)
        assert all(part.documents.titles)
        assert set(part.Y.data) <= {1.0}
        for row, name in enumerate(part.documents.ids):
            own = part.labels.index.get(name)
            assert own is None or (part.Y[row, own] == 0 and part.filtered[row, own] == 1)


def test_the_same_seed_gives_the_same_data():
    a, b, c = (build("synthetic", n_labels=200, seed=seed)["train"].fingerprint() for seed in (1, 1, 2))
    assert a == b
    assert a != c


def test_sizes_are_as_asked_and_frequencies_have_a_tail():
    parts = build("synthetic", n_labels=2000, words_per_document=15, labels_per_document=4)
    train = parts["train"]
    assert len(train) == 3200
    words = [len(text.split()) for text in train.documents.joined()]
    assert 14 < np.mean(words) < 16
    assert 3.3 < train.Y.nnz / len(train) < 4.3
    counts = np.sort(train.label_counts)[::-1]
    assert counts[-1] == 0
    assert (counts <= 5).mean() > 0.5
    assert counts[0] > 20 * np.median(counts)
    unseen = (train.label_counts[parts["test"].Y.indices] == 0).mean()
    assert 0.005 < unseen < 0.2


def test_most_labels_are_documents_in_a_shared_space():
    parts = build("synthetic", n_labels=500, shared_space=True)
    documents = {d.id: d for part in parts.values() for d in part.documents}
    labels = parts["train"].labels
    both = set(documents) & set(labels.ids)
    assert len(both) == 300
    for name in sorted(both)[:50]:
        assert documents[name].title.startswith(labels.texts[labels.index[name]])


def scores(parts):
    """P@1 of label centroids and label text by themselves and together, and recall@10 of rare labels by text."""
    train, test = parts["train"], parts["test"]
    words = TfidfVectorizer(sublinear_tf=True).fit([*train.documents.joined(), *train.labels.texts])
    X = words.transform(test.documents.joined())
    centroids = normalize(train.Y.T @ words.transform(train.documents.joined()))
    texts = words.transform(train.labels.texts)
    truth = test.Y.toarray()

    def p_at_1(weights):
        best = (X @ weights.T).toarray().argmax(axis=1)
        return truth[np.arange(len(test)), best].mean()

    best = np.argsort(-(X @ texts.T).toarray(), axis=1)[:, :10]
    rare = truth * (train.label_counts <= 2)
    return (
        p_at_1(centroids),
        p_at_1(normalize(centroids + texts)),
        np.take_along_axis(rare, best, 1).sum() / rare.sum(),
    )


def test_it_can_be_learnt_and_rare_labels_are_found_by_their_text():
    by_documents, by_both, rare = scores(build("synthetic", n_labels=1000))
    assert by_documents > 0.6
    assert by_both > by_documents
    assert rare > 0.5


@pytest.mark.parametrize(
    "bad", [{"n_labels": 1}, {"n_documents": 2}, {"words_per_document": 2}, {"labels_per_document": 0.5}]
)
def test_sizes_that_make_no_sense_are_refused(bad):
    with pytest.raises(UsageError, match="synthetic data set needs"):
        build("synthetic", **bad)
