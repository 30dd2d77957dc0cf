from __future__ import annotations

import pickle
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn import exceptions
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from longtail.errors import ConfigError, NotFittedError, UsageError
from longtail.sklearn import DEFAULT_THRESHOLD, LongtailClassifier

TEXTS = ["red fox", "red sea", "blue sea", "blue fox"]
TAGS = [["red", "fox"], ["red", "sea"], ["sea"], ["fox", "red"]]
Y = csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]], np.float32))


def dummy(**settings: object) -> LongtailClassifier:
    return LongtailClassifier("dummy", **{"k": 2, **settings})


def test_lists_of_tags() -> None:
    classifier = dummy().fit(TEXTS, TAGS)
    assert classifier.classes_.tolist() == ["red", "fox", "sea"]
    scores = classifier.predict_proba(["x", "y"])
    assert scores.shape == (2, 3)
    assert scores.toarray().tolist() == [[0.75, 0.5, 0.0]] * 2
    chosen = classifier.predict(["x"])
    assert isinstance(chosen, csr_array)
    assert chosen.toarray().tolist() == [[1, 1, 0]]


@pytest.mark.parametrize("target", [Y, csr_matrix(Y), Y.tocoo(), Y.toarray(), Y.toarray().astype(bool)])
def test_label_matrices_of_every_kind(target: object) -> None:
    classifier = dummy().fit(np.array(TEXTS, dtype=object), target)
    assert classifier.predict(TEXTS).shape == Y.shape
    assert classifier.predict_proba(["x"]).toarray().tolist() == [[0.75, 0.5, 0]]
    assert classifier.score(TEXTS, target) == classifier.score(TEXTS, Y)


@pytest.mark.parametrize("kind", [object, "str", "string"])
def test_missing_texts_are_empty(kind: str | type) -> None:
    column = pd.Series(["red fox", None, np.nan, "blue fox"], dtype=kind)
    classifier = LongtailClassifier(k=1, tree__leaf_size=2, tree__arity=2).fit(column, TAGS)
    empty = classifier.predict_proba(["", ""]).toarray()
    assert (classifier.predict_proba(column[1:3]).toarray() == empty).all()
    assert (classifier.predict_proba([None, float("nan")]).toarray() == empty).all()
    with_words = LongtailClassifier(k=1, tree__leaf_size=2, tree__arity=2).fit(
        ["red fox", "", "", "blue fox"], TAGS
    )
    assert (
        with_words.predict_proba(["nan None"]).toarray() == classifier.predict_proba(["nan None"]).toarray()
    ).all()


def test_stored_zeros_are_no_labels() -> None:
    target = Y.copy()
    target.data[0] = 0
    before = target.nnz
    assert dummy(k=1).fit(TEXTS, target).system_.label_counts_.tolist() == [2, 2, 2]
    assert target.nnz == before


def test_feature_rows() -> None:
    X = random_array((4, 10), density=0.5, rng=np.random.default_rng(0), format="csr")
    for rows in (X, X.toarray()):
        assert dummy().fit(rows, Y).predict(rows).shape == (4, 3)
        assert dummy().fit(rows, TAGS).predict(rows).shape == (4, 3)


def test_threshold() -> None:
    assert dummy(threshold=None).fit(TEXTS, TAGS).predict(["x"]).toarray().tolist() == [[1, 1, 0]]
    assert dummy(threshold=0.6).fit(TEXTS, TAGS).predict(["x"]).toarray().tolist() == [[1, 0, 0]]
    assert dummy(threshold=1.0).fit(TEXTS, TAGS).predict(["x"]).nnz == 0


def test_the_threshold_is_chosen_on_held_out_documents() -> None:
    texts, tags = TEXTS * 20, TAGS * 20
    classifier = LongtailClassifier(k=3, tree__leaf_size=2, tree__arity=2).fit(texts, tags)
    assert 0 < classifier.threshold_ < 1
    assert classifier.predict(TEXTS).toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert classifier.predict_proba(TEXTS).nnz == 12, "scores do not depend on the threshold"
    assert classifier.system_.facts_.documents == 80, "the model is trained on all documents"


def test_enough_documents_have_probabilities() -> None:
    # Copies stay together, so that texts of the same words could not be held out.
    texts, tags = [f"{text} copy{number}" for number, text in enumerate(TEXTS * 250)], TAGS * 250
    settings = {"k": 3, "tree__leaf_size": 2, "tree__arity": 2}
    classifier = LongtailClassifier(**settings).fit(texts, tags)
    assert classifier.threshold_ is None
    assert classifier.system_.calibrated_
    assert classifier.predict(TEXTS).toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert classifier.predict_proba(TEXTS).nnz == 12
    precise = LongtailClassifier(precision=0.9, **settings).fit(texts, tags)
    assert precise.predict(TEXTS).toarray().tolist() == [[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]]
    with pytest.raises(UsageError, match="the highest that can be had is"):
        LongtailClassifier(precision=1.0, **settings).fit(texts, tags)


def test_a_precision_needs_probabilities_and_no_threshold() -> None:
    with pytest.raises(UsageError, match="precision needs probabilities"):
        dummy(precision=0.5).fit(TEXTS, TAGS)
    with pytest.raises(UsageError, match="threshold and precision exclude each other"):
        dummy(precision=0.5, threshold=0.5).fit(TEXTS, TAGS)
    with pytest.raises(UsageError, match="precision must be above 0"):
        dummy(precision=0).fit(TEXTS, TAGS)


def test_few_documents_have_a_default_threshold() -> None:
    assert dummy().fit(TEXTS, TAGS).threshold_ == DEFAULT_THRESHOLD
    assert dummy(threshold=0.25).fit(TEXTS, TAGS).threshold_ == 0.25
    for wrong in ("best", float("nan"), True, 2, -0.1):
        with pytest.raises(UsageError, match="threshold must be a number from 0 to 1, 'auto' or None"):
            dummy(threshold=wrong).fit(TEXTS, TAGS)


def test_score_is_one_when_the_right_labels_come_first() -> None:
    classifier = dummy().fit(TEXTS, TAGS)
    assert classifier.score(["x"], [["fox", "red"]]) == pytest.approx(1)
    assert classifier.score(["x"], [["never seen"]]) == 0
    assert 0 < classifier.score(TEXTS, TAGS) < 1


def test_parameters_and_clones() -> None:
    classifier = dummy(seed=3)
    assert classifier.get_params() == {
        "system": "dummy",
        "k": 2,
        "threshold": "auto",
        "precision": None,
        "seed": 3,
    }
    assert classifier.set_params(k=1, seed=4) is classifier
    copy = clone(classifier.fit(TEXTS, TAGS))
    assert copy.get_params() == {"system": "dummy", "k": 1, "threshold": "auto", "precision": None, "seed": 4}
    assert not hasattr(copy, "system_")
    copy.set_params(seed=5)
    assert classifier.get_params()["seed"] == 4
    assert (
        repr(classifier)
        == "LongtailClassifier(system='dummy', k=1, threshold='auto', precision=None, seed=4)"
    )
    assert classifier.system_.config.seed == 4
    assert is_classifier(classifier)


def test_within_scikit_learn() -> None:
    texts, target = TEXTS * 5, csr_array(np.tile(Y.toarray(), (5, 1)))
    assert cross_val_score(dummy(), texts, target.toarray(), cv=2).shape == (2,)
    assert cross_val_score(dummy(), texts, TAGS * 5, cv=KFold(2)).shape == (2,)
    search = GridSearchCV(make_pipeline(dummy()), {"longtailclassifier__k": [1, 2]}, cv=2).fit(texts, target)
    assert search.best_params_["longtailclassifier__k"] in (1, 2)
    assert search.predict(texts).shape == target.shape


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(NotFittedError, match=r"call fit\(\)"):
        dummy().predict(TEXTS)
    with pytest.raises(UsageError, match="X has 3 documents, but Y has 4"):
        dummy().fit(TEXTS[:3], TAGS)
    with pytest.raises(UsageError, match="one string"):
        dummy().fit("text", TAGS)
    for k in (0, "x", 1.5, True, None):
        with pytest.raises(UsageError, match="k must be a whole number"):
            dummy(k=k).fit(TEXTS, TAGS)
    with pytest.raises(UsageError, match="the tags of document 0 are"):
        dummy().fit(TEXTS, np.arange(len(TEXTS)))
    for wrong in (None, pd.DataFrame({"text": TEXTS})):
        with pytest.raises(UsageError, match="documents must be texts"):
            dummy().fit(wrong, TAGS)
    with pytest.raises(ConfigError, match="unknown configuration key 'tree'"):
        dummy(tree__leaf=3).fit(TEXTS, TAGS)
    with pytest.raises(UsageError, match="there is no system"):
        LongtailClassifier("dumy").fit(TEXTS, TAGS)


def test_the_linear_system_learns_words() -> None:
    texts, target = TEXTS * 5, csr_array(np.tile(Y.toarray(), (5, 1)))
    classifier = LongtailClassifier(k=2, tree__leaf_size=2, tree__arity=2).fit(texts, target)
    assert classifier.system_.name == "linear"
    assert classifier.predict(["a red sea"]).toarray().tolist() == [[1, 0, 1]]
    assert classifier.score(texts, target) > 0.95


def test_auto_chooses_the_system() -> None:
    classifier = LongtailClassifier("auto", k=2, linear__tree__leaf_size=2).fit(TEXTS * 5, TAGS * 5)
    assert classifier.system_.name == "linear"
    assert classifier.system_.config.tree.leaf_size == 2
    assert classifier.get_params()["system"] == "auto"


SPARSE = "predictions are a sparse matrix, documents x labels: a dense one of a million labels fits no memory"
ONE_CLASS = "the target is one class per document; the estimator takes a set of labels per document"
CANNOT_APPLY = {
    "check_no_attributes_set_in_init": "the settings of a system are parameters, kept in one dict",
    "check_estimator_sparse_array": "predict_proba has a column per label, here 1 and not 2",
    "check_estimator_sparse_matrix": "predict_proba has a column per label, here 1 and not 2",
    "check_classifier_data_not_an_array": SPARSE,
    "check_classifier_multioutput": SPARSE,
    "check_classifiers_multilabel_representation_invariance": SPARSE,
    "check_classifiers_multilabel_output_format_predict": SPARSE,
    "check_classifiers_multilabel_output_format_predict_proba": SPARSE,
    "check_classifiers_one_label": ONE_CLASS,
    "check_classifiers_classes": ONE_CLASS,
    "check_classifiers_train": ONE_CLASS,
    "check_classifier_not_supporting_multiclass": ONE_CLASS,
}
"""The estimator checks of scikit-learn that cannot apply, and why."""


@pytest.mark.filterwarnings("ignore")
def test_the_estimator_checks_of_scikit_learn() -> None:
    passed = 0
    for estimator, check in estimator_checks_generator(LongtailClassifier("dummy")):
        name = getattr(check, "func", check).__name__
        if name in CANNOT_APPLY:
            continue
        try:
            check(estimator)
        except SkipTest:
            continue
        passed += 1
    assert passed > 40


def test_wrong_input_is_a_value_error_too() -> None:
    for X in (np.array([[np.nan]]), np.array([[1j]]), np.array([1.0]), np.empty((1, 0))):
        with pytest.raises(ValueError, match=r"NaN|Complex|Reshape|0 feature"):
            dummy().fit(X, [["a"]])
    with pytest.raises(ValueError, match="requires y to be passed"):
        dummy().fit(TEXTS, None)
    classifier = dummy().fit(np.eye(4), TAGS)
    assert classifier.n_features_in_ == 4
    assert dummy().fit(np.eye(4).tolist(), TAGS).n_features_in_ == 4
    with pytest.raises(ValueError, match="X has 3 features, but LongtailClassifier is expecting 4 features"):
        classifier.predict(np.eye(3))
    assert not hasattr(classifier.fit(TEXTS, TAGS), "n_features_in_")


def test_an_untrained_estimator_raises_the_error_of_both() -> None:
    with pytest.raises(exceptions.NotFittedError, match=r"call fit\(\)"):
        dummy().predict(TEXTS)


def test_a_trained_estimator_can_be_pickled() -> None:
    classifier = LongtailClassifier(k=2, tree__leaf_size=2, tree__arity=2).fit(TEXTS * 5, TAGS * 5)
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict_proba(TEXTS) != classifier.predict_proba(TEXTS)).nnz == 0
