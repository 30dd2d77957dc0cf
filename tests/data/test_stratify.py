import numpy as np

from longtail.data.stratify import fill_parts, stratify


def test_whole_needs_are_met_exactly():
    n = 10  # ten documents of one label, 0.6 / 0.4
    parts = stratify(
        np.arange(n + 1),
        np.zeros(n, np.int64),
        np.array([0, n]),
        np.arange(n),
        np.array([0]),
        np.array([0.6, 0.4]),
        np.array([6, 4]),
        np.full(n, 0.5),
    )
    assert np.bincount(parts).tolist() == [6, 4]


def test_what_is_less_than_a_document_is_drawn():
    labels = 50  # fifty labels of two documents, 0.75 / 0.25
    draws = np.random.default_rng(0).random(100)
    parts = stratify(
        np.arange(101),
        np.repeat(np.arange(labels), 2),
        np.arange(0, 101, 2),
        np.arange(100),
        np.arange(labels),
        np.array([0.75, 0.25]),
        np.array([75, 25]),
        draws,
    )
    per_label = parts.reshape(labels, 2).sum(axis=1)
    assert set(per_label) == {0, 1}  # never both documents outside training
    assert np.bincount(parts).tolist() == [75, 25]


def test_groups_go_where_they_fit():
    parts = fill_parts(
        np.array([8, 1, 1]), np.array([0, 1, 2]), np.array([8.0, 2.0]), np.array([0.99, 0.5, 0.5])
    )
    assert parts.tolist() == [0, 1, 1]
    too_large = fill_parts(np.array([9, 1]), np.array([0, 1]), np.array([6.0, 4.0]), np.array([0.9, 0.9]))
    assert too_large.tolist() == [0, 1]
