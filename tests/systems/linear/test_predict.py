"""Scores: the mean over trees, GAME along the graph, features of any candidates, whatever size is asked for."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.graph.label_graph import label_graph
from longtail.shortlist.candidate_features import FLOOR, LOG_FLOOR
from longtail.shortlist.candidates import Candidates
from longtail.systems.linear import predict
from longtail.systems.linear.predict import LinearDocuments
from longtail.systems.linear.system import LinearTree
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS, Dataset, TopK
from tests.planted import Parts, planted

SMALL = {"leaf_size": 8, "arity": 4}


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


def encoded(model: LinearTree, data: Dataset) -> LinearDocuments:
    assert model.features_ is not None
    return LinearDocuments(model.predictor_, FeatureStore(data.documents).tfidf(model.features_, FIELDS))


def test_several_trees_are_averaged_and_saved(tiny: Parts, tmp_path: Path) -> None:
    model = LinearTree(tree={**SMALL, "trees": 3}).fit(tiny.train)
    trees = model.predictor_.trees
    assert len(trees) == 3
    X = encoded(model, tiny.test).X
    singles = [tree.top_k(X, 40, beam=5, link="cubed_hinge") for tree in trees]
    dense = sum(TopK(labels, np.exp(scores)).to_csr(40).toarray() for labels, scores in singles) / 3
    answer = model.predict(tiny.test, k=5)
    assert np.allclose(np.sort(dense, axis=1)[:, ::-1][:, :5], answer.scores, atol=1e-5)
    assert same(TopK(answer.indices[:, :2], answer.scores[:, :2]), model.predict(tiny.test, k=2))
    model.save(tmp_path / "model")
    assert same(answer, longtail.load(tmp_path / "model").predict(tiny.test, k=5))


@pytest.mark.parametrize(
    "settings",
    [
        {"tree": {**SMALL, "trees": 1}},
        {"tree": {**SMALL, "trees": 2}},
        {"tree": {**SMALL, "trees": 2}, "game": {"mix": 0.5, "candidates": 9}},
    ],
)
def test_scores_do_not_depend_on_the_size_of_the_shortlist(
    tiny: Parts, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "DEPTH", 6)
    model = LinearTree(**settings, beam=40).fit(tiny.train)
    wide = encoded(model, tiny.test).shortlist(30)
    assert wide.counts.max() > 8
    for size in (1, 4, 6, 8, 12):
        few = encoded(model, tiny.test).shortlist(size)
        best = wide.best(size)
        assert (few.ids == best.ids).all()
        assert (few.scores == best.scores).all()


def test_features_of_candidates_that_it_did_not_propose(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predict, "DEPTH", 6)
    model = LinearTree(tree={**SMALL, "trees": 1}).fit(tiny.train)
    documents = encoded(model, tiny.test)
    n = len(tiny.test)
    everything = Candidates.from_dense(np.zeros((n, 40), np.float32), 40)
    features = documents.features(everything).reshape(n, 40, 2)
    assert features.dtype == np.float32
    best = documents.shortlist(6)
    dense = np.maximum(best.to_csr(40).toarray(), FLOOR)
    assert np.allclose(features[:, :, 1], dense)
    assert np.allclose(features[:, :, 0], np.log(dense))
    assert np.isclose(features[:, :, 0].min(), LOG_FLOOR)
    # The same whatever was asked for before, and for any part of the candidates.
    later = encoded(model, tiny.test)
    later.shortlist(30)
    assert (later.features(everything) == features.reshape(-1, 2)).all()
    assert np.allclose(later.features(best)[:, 1], np.maximum(best.scores, FLOOR))


def test_a_document_without_a_known_word_is_not_readable(tiny: Parts) -> None:
    model = LinearTree(tree=SMALL).fit(tiny.train)
    assert model.features_ is not None
    documents = LinearDocuments(model.predictor_, model.features_.transform(["", tiny.train.labels.texts[0]]))
    assert documents.readable.tolist() == [False, True]
    assert documents.shortlist(5).counts[0] == 0
    assert (documents.top_k(3).indices[0] == -1).all()


def with_game(mix: float, **game: object) -> LinearTree:
    return LinearTree(tree=SMALL, beam=40, game={"mix": mix, **game})


@pytest.mark.parametrize("mix", [0.4, 1.0])
def test_scores_are_passed_along_the_graph(tiny: Parts, mix: float) -> None:
    alone, mixed = with_game(0).fit(tiny.train), with_game(mix).fit(tiny.train)
    scores = alone.predict(tiny.test, k=40).to_csr(40).toarray()
    expected = (1 - mix) * scores + mix * scores @ label_graph(tiny.train.Y).toarray().T
    assert np.allclose(mixed.predict(tiny.test, k=40).to_csr(40).toarray(), expected, atol=1e-6)


def answered(top: TopK) -> np.ndarray:
    """Which labels each document has in its answer, bool [n, 40]."""
    marks = np.zeros((len(top), 41), bool)
    np.put_along_axis(marks, top.indices.astype(np.int64), True, axis=1)
    return marks[:, :40]


def test_labels_that_go_with_those_found_join(tiny: Parts) -> None:
    narrow: dict[str, object] = {"tree": {**SMALL, "trees": 1}, "beam": 1}
    alone = answered(LinearTree(**narrow).fit(tiny.train).predict(tiny.test, k=40))
    mixed = answered(LinearTree(**narrow, game={"mix": 0.5}).fit(tiny.train).predict(tiny.test, k=40))
    edges = label_graph(tiny.train.Y).toarray() > 0
    assert mixed.sum() > alone.sum()
    assert (mixed == (alone | (alone @ edges.T))).all()


@pytest.mark.parametrize("trees", [1, 2])
def test_the_best_few_with_a_graph_do_not_depend_on_how_many_are_asked_for(tiny: Parts, trees: int) -> None:
    tree = {**SMALL, "trees": trees}
    model = LinearTree(tree=tree, game={"mix": 0.5, "candidates": 20}).fit(tiny.train)
    many, few = model.predict(tiny.test, k=30), model.predict(tiny.test, k=5)
    assert same(TopK(many.indices[:, :5], many.scores[:, :5]), few)


def test_logistic_scores_are_probabilities_that_hold() -> None:
    data = planted(n_documents=1500)
    train, test = data.take(range(900)), data.take(range(1200, 1500))
    # Planted labels are certain, so the probabilities must be let near 0 and 1.
    model = LinearTree(tree=SMALL, solver={"loss": "logistic", "cost": 100.0}).fit(train)
    report = model.evaluate(test)
    scores = model.predict(test, k=5).scores
    assert ((scores >= 0) & (scores <= 1)).all()
    assert report.metrics["P@1"]["value"] > 80
    assert report.calibration is not None
    assert report.calibration["ece"] < 10


def test_a_balanced_tree_is_another_tree(tiny: Parts) -> None:
    balanced = LinearTree(tree={**SMALL, "balanced": True}).fit(tiny.train)
    sizes = np.diff(balanced.predictor_.trees[0].weights.child_ptr)
    assert sizes.max() <= 8
    assert balanced.evaluate(tiny.test).metrics["P@1"]["value"] > 70


def test_wider_beams_and_smaller_leaves_still_find_the_labels(tiny: Parts) -> None:
    for settings in ({"beam": 1}, {"beam": 40}, {"tree": {"leaf_size": 1, "arity": 2}}):
        model = LinearTree(**{"tree": SMALL, **settings}).fit(tiny.train)
        assert model.evaluate(tiny.test).metrics["P@1"]["value"] > 70


def test_rows_of_a_matrix_are_scaled_unless_told_otherwise(tiny: Parts) -> None:
    X = csr_array(np.random.default_rng(0).random((len(tiny.train), 9)).astype(np.float32))
    scaled = LinearTree(tree=SMALL).fit(Dataset.from_matrix(X, tiny.train.Y))
    as_is = LinearTree(tree=SMALL, normalise=False).fit(Dataset.from_matrix(X, tiny.train.Y))
    assert same(scaled.predict(X), scaled.predict(csr_array(X * 8)))
    assert not same(as_is.predict(X), as_is.predict(csr_array(X * 8)))
