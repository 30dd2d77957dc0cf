"""The planted data are what the tests that use them rely on."""

import numpy as np

from tests.planted import planted


def test_the_awkward_cases_are_there(tiny):
    train = tiny.train
    assert [len(part) for part in tiny] == [180, 60, 60]
    assert all(len(part.labels) == 40 and part.labels is train.labels for part in tiny)
    assert all(part.label_counts[-1] == 0 for part in tiny)
    assert train.Y[[1]].nnz == 0
    assert train.documents.joined()[1]
    assert train.documents.joined()[2] == ""
    assert train.Y[[2]].nnz > 0
    assert train.labels.has_text


def test_words_tell_the_labels(tiny):
    train = tiny.train
    words_of = [set(text.split()) for text in train.labels.texts]
    assert all(2 <= len(words) <= 3 for words in words_of)
    assert len(set.union(*words_of)) == sum(len(words) for words in words_of)
    for row, text in enumerate(train.documents.joined()):
        told = [label for label, words in enumerate(words_of) if words <= set(text.split())]
        assert row == 2 or told == sorted(train.Y[[row]].indices)


def test_a_seed_is_a_data_set():
    assert planted(seed=1).fingerprint() == planted(seed=1).fingerprint()
    assert planted(seed=1).fingerprint() != planted(seed=2).fingerprint()
    assert np.diff(np.sort(planted().label_counts)).max() > 1
