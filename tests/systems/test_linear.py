"""What is particular to the linear tree; what all systems share is in tests/contract."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.errors import ConfigError, ModelIntegrityError, UsageError
from longtail.graph.label_graph import label_graph
from longtail.run import Run
from longtail.storage import read_arrays, write_arrays
from longtail.systems.linear import GRAPH_FILE, LinearTree
from longtail.types import Dataset, TopK
from tests.planted import Parts, parts_of, planted
from tests.systems.damage import change_json, fit_manifest, refused

SMALL = {"leaf_size": 8, "arity": 4}


def precision(model: LinearTree, data: Dataset) -> float:
    return float(model.evaluate(data).figures["P@1"]["value"])


def same(one: TopK, other: TopK) -> bool:
    return bool((one.labels == other.labels).all() and (one.scores == other.scores).all())


def test_logistic_scores_are_probabilities_that_hold() -> None:
    data = parts_of(planted(n_documents=1500))
    # Planted labels are certain, so the probabilities must be let near 0 and 1.
    model = LinearTree(tree=SMALL, solver={"loss": "logistic", "cost": 100.0}).fit(data.train)
    report = model.evaluate(data.test)
    scores = model.predict(data.test, k=5).scores
    assert ((scores >= 0) & (scores <= 1)).all()
    assert report.figures["P@1"]["value"] > 80
    assert report.calibration is not None
    assert report.calibration["ece"] < 10


def test_a_matrix_gives_what_its_texts_gave(tiny: Parts) -> None:
    from_text = LinearTree(tree=SMALL).fit(tiny.train)
    assert from_text.features_ is not None
    X = from_text.features_.transform(tiny.train.documents.joined())
    from_matrix = LinearTree(tree=SMALL).fit(Dataset.from_matrix(X, tiny.train.Y))
    rows = from_text.features_.transform(tiny.test.documents.joined())
    one, other = from_text.predict(tiny.test), from_matrix.predict(rows)
    assert (one.labels == other.labels).mean() > 0.99
    assert np.allclose(one.scores, other.scores, atol=1e-3)


def test_rows_of_a_matrix_are_scaled_unless_told_otherwise(tiny: Parts) -> None:
    X = csr_array(np.random.default_rng(0).random((len(tiny.train), 9)).astype(np.float32))
    scaled = LinearTree(tree=SMALL).fit(Dataset.from_matrix(X, tiny.train.Y))
    as_is = LinearTree(tree=SMALL, normalise=False).fit(Dataset.from_matrix(X, tiny.train.Y))
    assert same(scaled.predict(X), scaled.predict(csr_array(X * 8)))
    assert not same(as_is.predict(X), as_is.predict(csr_array(X * 8)))


def test_texts_and_matrices_are_not_mixed_up(tiny: Parts) -> None:
    from_text = LinearTree(tree=SMALL).fit(tiny.train)
    with pytest.raises(UsageError, match="trained on texts"):
        from_text.predict(csr_array(np.ones((1, 3), np.float32)))
    matrix = Dataset.from_matrix(np.ones((len(tiny.train), 3), np.float32), tiny.train.Y)
    from_matrix = LinearTree(tree=SMALL).fit(matrix)
    with pytest.raises(UsageError, match="trained on a feature matrix"):
        from_matrix.predict(["a text"])
    with pytest.raises(UsageError, match="has 4 columns, the model was trained on 3"):
        from_matrix.predict(csr_array(np.ones((1, 4), np.float32)))


def test_label_texts_as_examples_make_a_cold_label_findable(tiny: Parts) -> None:
    cold = int(np.flatnonzero(tiny.train.label_counts == 0)[0])
    text = tiny.train.labels.texts[cold]
    plain = LinearTree(tree=SMALL).fit(tiny.train)
    named = LinearTree(tree=SMALL, label_text="example").fit(tiny.train)
    assert cold not in plain.predict([text], k=40).labels
    assert named.predict([text], k=1).labels[0, 0] == cold


def test_labels_that_will_never_be_predicted_are_mentioned(tiny: Parts) -> None:
    run = Run()
    LinearTree(tree=SMALL).fit(tiny.train, run=run)
    unseen = int((tiny.train.label_counts == 0).sum())
    assert any(f"{unseen} label" in message for message in run.messages)
    assert list(run.seconds) == ["features", "tree", "classifiers"]


def test_several_trees_are_averaged_and_saved(tiny: Parts, tmp_path: Path) -> None:
    model = LinearTree(tree={**SMALL, "members": 3}).fit(tiny.train)
    assert len(model.trees_) == 3
    singles = [
        t.top_k(model._transform(tiny.test.documents), 40, beam=5, link="cubed_hinge") for t in model.trees_
    ]
    dense = sum(TopK(labels, np.exp(scores)).to_csr(40).toarray() for labels, scores in singles) / 3
    answer = model.predict(tiny.test, k=5)
    assert np.allclose(np.sort(dense, axis=1)[:, ::-1][:, :5], answer.scores, atol=1e-5)
    assert same(TopK(answer.labels[:, :2], answer.scores[:, :2]), model.predict(tiny.test, k=2))
    model.save(tmp_path / "model")
    assert same(answer, longtail.load(tmp_path / "model").predict(tiny.test, k=5))


def test_short_documents_get_two_trees_unless_told_otherwise(tiny: Parts, tmp_path: Path) -> None:
    model = LinearTree(tree=SMALL).fit(tiny.train)
    assert len(model.trees_) == 2
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert isinstance(again, LinearTree)
    assert len(again.trees_) == 2
    long = csr_array(np.random.default_rng(0).random((len(tiny.train), 201)).astype(np.float32))
    one = LinearTree(tree=SMALL, solver={"cost": 100.0}).fit(Dataset.from_matrix(long, tiny.train.Y))
    assert len(one.trees_) == 1
    # Weights are pruned less where more of them add up.
    assert 0.05 <= np.abs(one.trees_[0].weights.values).min() < 0.06
    assert 0.08 <= np.abs(model.trees_[0].weights.values).min() < 0.09
    assert len(LinearTree(tree={**SMALL, "members": 1}).fit(tiny.train).trees_) == 1
    assert len(LinearTree(tree={"leaf_size": 40}).fit(tiny.train).trees_) == 1


def test_a_balanced_tree_is_another_tree(tiny: Parts) -> None:
    balanced = LinearTree(tree={**SMALL, "balanced": True}).fit(tiny.train)
    sizes = np.diff(balanced.trees_[0].weights.child_ptr)
    assert sizes.max() <= 8
    assert precision(balanced, tiny.test) > 70


def with_game(mix: float, **game: object) -> LinearTree:
    return LinearTree(tree=SMALL, beam=40, game={"mix": mix, **game})


@pytest.mark.parametrize("mix", [0.4, 1.0])
def test_scores_flow_along_the_graph(tiny: Parts, mix: float) -> None:
    alone, mixed = with_game(0).fit(tiny.train), with_game(mix).fit(tiny.train)
    scores = alone.predict(tiny.test, k=40).to_csr(40).toarray()
    expected = (1 - mix) * scores + mix * scores @ label_graph(tiny.train.Y).toarray().T
    assert np.allclose(mixed.predict(tiny.test, k=40).to_csr(40).toarray(), expected, atol=1e-6)


def answered(top: TopK) -> np.ndarray:
    """Which labels each document has in its answer, bool [n, 40]."""
    marks = np.zeros((len(top), 41), bool)
    np.put_along_axis(marks, top.labels.astype(np.int64), True, axis=1)
    return marks[:, :40]


def test_labels_that_go_with_those_found_join(tiny: Parts) -> None:
    narrow: dict[str, object] = {"tree": {**SMALL, "members": 1}, "beam": 1}
    alone = answered(LinearTree(**narrow).fit(tiny.train).predict(tiny.test, k=40))
    mixed = answered(LinearTree(**narrow, game={"mix": 0.5}).fit(tiny.train).predict(tiny.test, k=40))
    edges = label_graph(tiny.train.Y).toarray() > 0
    assert mixed.sum() > alone.sum()
    assert (mixed == (alone | (alone @ edges.T))).all()


@pytest.mark.parametrize("members", [1, 2])
def test_the_best_few_with_a_graph_do_not_depend_on_how_many_are_asked_for(tiny: Parts, members: int) -> None:
    tree = {**SMALL, "members": members}
    model = LinearTree(tree=tree, game={"mix": 0.5, "candidates": 20}).fit(tiny.train)
    many, few = model.predict(tiny.test, k=20), model.predict(tiny.test, k=5)
    assert same(TopK(many.labels[:, :5], many.scores[:, :5]), few)


def test_a_graph_is_made_and_kept_only_if_it_is_used(tiny: Parts, tmp_path: Path) -> None:
    run = Run()
    model = with_game(0.5, keep=4).fit(tiny.train, run=run)
    assert list(run.seconds) == ["features", "tree", "classifiers", "graph"]
    assert model.graph_ is not None
    assert np.diff(model.graph_.indptr).max() <= 4
    model.save(tmp_path / "mixed")
    assert same(longtail.load(tmp_path / "mixed").predict(tiny.test), model.predict(tiny.test))
    alone = with_game(0, keep=4).fit(tiny.train)
    assert alone.graph_ is None
    alone.save(tmp_path / "alone")
    assert not (tmp_path / "alone" / GRAPH_FILE).exists()


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("indices", lambda found: found + 40, "must be from 0 to 39"),
        ("indices", lambda found: found - 1, "must be from 0 to 39"),
        ("indices", lambda found: found[1:], "numbers, not"),
        ("indptr", lambda found: found[::-1].copy(), "must begin at 0"),
        ("indptr", lambda found: found[:-1], "must have 41 numbers"),
        ("data", lambda found: found * np.float32(np.nan), "must be finite"),
        ("data", lambda found: -found, "must not be negative"),
        ("data", lambda found: found.astype(np.float64), "must be of type float32"),
        ("data", None, "is missing"),
    ],
)
def test_a_damaged_graph_is_refused(
    tiny: Parts, tmp_path: Path, name: str, wrong: Callable[[np.ndarray], np.ndarray] | None, says: str
) -> None:
    model = tmp_path / "model"
    with_game(0.5).fit(tiny.train).save(model)
    arrays = read_arrays(model / GRAPH_FILE)
    found = arrays.pop(name)
    if wrong is not None:
        arrays[name] = wrong(found)
    write_arrays(model / GRAPH_FILE, arrays)
    fit_manifest(model)
    message = refused(model, ModelIntegrityError)
    assert GRAPH_FILE in message
    assert says in message


def test_a_graph_that_is_not_there_is_refused(tiny: Parts, tmp_path: Path) -> None:
    with_game(0.5).fit(tiny.train).save(tmp_path / "model")
    (tmp_path / "model" / GRAPH_FILE).unlink()
    fit_manifest(tmp_path / "model")
    assert GRAPH_FILE in refused(tmp_path / "model", ModelIntegrityError)


@pytest.mark.parametrize("trees", [0, "2", None])
def test_a_wrong_number_of_trees_is_an_integrity_error(tiny: Parts, tmp_path: Path, trees: object) -> None:
    LinearTree(tree=SMALL).fit(tiny.train).save(tmp_path / "model")
    change_json(tmp_path / "model" / "linear.json", lambda found: found.update(trees=trees))
    with pytest.raises(ModelIntegrityError, match="is not a number of trees"):
        longtail.load(tmp_path / "model")


def test_the_fields_are_kept_with_the_model(tiny: Parts, tmp_path: Path) -> None:
    titles = LinearTree(tree=SMALL, fields=["title"]).fit(tiny.train)
    titles.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.config.fields == ("title",)
    assert same(titles.predict(tiny.test), again.predict(tiny.test))
    assert not same(titles.predict(tiny.test), LinearTree(tree=SMALL).fit(tiny.train).predict(tiny.test))


def test_wider_beams_and_smaller_leaves_still_find_the_labels(tiny: Parts) -> None:
    for settings in ({"beam": 1}, {"beam": 40}, {"tree": {"leaf_size": 1, "arity": 2}}):
        assert precision(LinearTree(**{"tree": SMALL, **settings}).fit(tiny.train), tiny.test) > 70


@pytest.mark.parametrize(
    "wrong",
    [
        {"beam": 0},
        {"tree": {"leaf_size": 0}},
        {"tree": {"arity": 1}},
        {"tree": {"members": 0}},
        {"solver": {"loss": "x"}},
        {"game": {"mix": 1.1}},
        {"game": {"restart": -0.1}},
        {"game": {"candidates": 0}},
        {"game": {"head_above": 0}},
    ],
)
def test_senseless_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        LinearTree(**wrong)
