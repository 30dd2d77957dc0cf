"""The path of a label has the score that the search gives it."""

import numpy as np
import pytest

from longtail.shortlist.tree_paths import log_link, path_scores
from longtail.shortlist.tree_search import TreeSearch
from longtail.systems import create
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS
from tests.planted import planted


@pytest.fixture(scope="module")
def tree_and_rows() -> tuple[TreeSearch, object]:
    data = planted(200, 30)
    system = create("linear", {"tree": {"leaf_size": 4, "arity": 3, "trees": 1}}).fit(data)
    return system.predictor_.trees[0], FeatureStore(data.documents[:20]).tfidf(system.features_, FIELDS)


@pytest.mark.parametrize("link", ["cubed_hinge", "squared_hinge", "logistic"])
def test_the_path_adds_up_to_the_score_of_the_search(tree_and_rows, link):
    tree, X = tree_and_rows
    labels, scores = tree.top_k(X, 5, beam=100, link=link)
    for row in range(X.shape[0]):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        for label, score in zip(labels[row], scores[row], strict=True):
            path = path_scores(tree, int(label), X.indices[entries], X.data[entries])
            assert np.isclose(log_link(path.raw, link).sum(), score, rtol=1e-4, atol=1e-5)


def test_a_label_without_documents_has_no_path(tree_and_rows):
    tree, X = tree_and_rows
    assert path_scores(tree, 29, X.indices[:3], X.data[:3]) is None


def test_features_that_the_tree_does_not_weigh_add_nothing(tree_and_rows):
    tree, _ = tree_and_rows
    path = path_scores(tree, 0, np.array([10**6]), np.array([1.0], np.float32))
    assert path.products.sum() == 0
    assert (path.raw == path.bias).all()
