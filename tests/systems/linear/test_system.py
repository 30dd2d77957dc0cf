"""What is particular to the linear tree; what all systems share is in tests/contract."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.errors import ModelIntegrityError, UsageError
from longtail.run import Run
from longtail.storage import read_arrays, write_arrays
from longtail.systems.linear.system import GRAPH_FILE, LinearTree
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS, Dataset, TopK
from tests.planted import Parts
from tests.systems.damage import change_json, fit_manifest, refused

SMALL = {"leaf_size": 8, "arity": 4}
GOLDEN = Path(__file__).parents[2] / "golden" / "linear-format-1"


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


def with_game(mix: float, **game: object) -> LinearTree:
    return LinearTree(tree=SMALL, beam=40, game={"mix": mix, **game})


def test_a_matrix_gives_what_its_texts_gave(tiny: Parts) -> None:
    from_text = LinearTree(tree=SMALL).fit(tiny.train)
    assert from_text.features_ is not None
    X = FeatureStore(tiny.train.documents).tfidf(from_text.features_, FIELDS)
    from_matrix = LinearTree(tree=SMALL).fit(Dataset.from_matrix(X, tiny.train.Y))
    rows = FeatureStore(tiny.test.documents).tfidf(from_text.features_, FIELDS)
    one, other = from_text.predict(tiny.test), from_matrix.predict(rows)
    assert (one.indices == other.indices).mean() > 0.99
    assert np.allclose(one.scores, other.scores, atol=1e-3)


def test_a_model_of_a_matrix_is_saved_without_text_features(tiny: Parts, tmp_path: Path) -> None:
    X = csr_array(np.random.default_rng(0).random((len(tiny.train), 9)).astype(np.float32))
    model = LinearTree(tree=SMALL).fit(Dataset.from_matrix(X, tiny.train.Y))
    model.save(tmp_path / "model")
    assert not (tmp_path / "model" / "features").exists()
    assert same(longtail.load(tmp_path / "model").predict(X), model.predict(X))


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
    assert cold not in plain.predict([text], k=40).indices
    assert named.predict([text], k=1).indices[0, 0] == cold


def test_labels_that_will_never_be_predicted_are_mentioned(tiny: Parts) -> None:
    run = Run()
    LinearTree(tree=SMALL).fit(tiny.train, run=run)
    cold = int((tiny.train.label_counts == 0).sum())
    (message,) = run.messages
    assert message.startswith(f"labels without training documents, which are never predicted: {cold} (")
    assert list(run.seconds) == ["features", "tree", "classifiers"]


def test_the_number_of_trees_is_kept_with_the_model(tiny: Parts, tmp_path: Path) -> None:
    LinearTree(tree=SMALL).fit(tiny.train).save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert isinstance(again, LinearTree)
    assert len(again.predictor_.trees) == 2


def test_a_graph_is_made_and_kept_only_if_it_is_used(tiny: Parts, tmp_path: Path) -> None:
    run = Run()
    model = with_game(0.5, keep=4).fit(tiny.train, run=run)
    assert list(run.seconds) == ["features", "tree", "classifiers", "graph"]
    graph = model.predictor_.graph
    assert graph is not None
    assert np.diff(graph.indptr).max() <= 4
    model.save(tmp_path / "mixed")
    assert same(longtail.load(tmp_path / "mixed").predict(tiny.test), model.predict(tiny.test))
    alone = with_game(0, keep=4).fit(tiny.train)
    assert alone.predictor_.graph is None
    alone.save(tmp_path / "alone")
    assert not (tmp_path / "alone" / GRAPH_FILE).exists()


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("indices", lambda found: found + 40, "must be from 0 to 39"),
        ("indices", lambda found: found - 1, "must be from 0 to 39"),
        ("indices", lambda found: found[1:], "must be"),
        ("indptr", lambda found: found[::-1].copy(), "must begin at 0"),
        ("indptr", lambda found: found[:-1], "must be (41,)"),
        ("data", lambda found: found * np.float32(np.nan), "must be finite"),
        ("data", lambda found: -found, "data must be at least 0"),
        ("data", lambda found: found.astype(np.float64), "must be of type float32"),
        ("data", None, "is missing"),
    ],
)
def test_a_damaged_graph_is_refused(
    tiny: Parts, tmp_path: Path, name: str, wrong: Callable[[np.ndarray], np.ndarray] | None, says: str
) -> None:
    model = tmp_path / "model"
    fitted = with_game(0.5).fit(tiny.train)
    fitted.save(model)
    graph = fitted.predictor_.graph
    assert graph is not None
    arrays = {
        "indptr": graph.indptr.astype(np.int64),
        "indices": graph.indices.astype(np.int32),
        "data": graph.data.astype(np.float32),
    }
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


@pytest.mark.parametrize("features", [None, "0" * 16, 3])
def test_text_features_that_are_not_those_of_the_model_are_refused(
    tiny: Parts, tmp_path: Path, features: object
) -> None:
    LinearTree(tree=SMALL).fit(tiny.train).save(tmp_path / "model")
    change_json(tmp_path / "model" / "linear.json", lambda found: found.update(features=features, width=3))
    refused(tmp_path / "model", ModelIntegrityError)


def test_the_fields_are_kept_with_the_model(tiny: Parts, tmp_path: Path) -> None:
    titles = LinearTree(tree=SMALL, fields=["title"]).fit(tiny.train)
    titles.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.config.fields == ("title",)
    assert same(titles.predict(tiny.test), again.predict(tiny.test))
    assert not same(titles.predict(tiny.test), LinearTree(tree=SMALL).fit(tiny.train).predict(tiny.test))


# --- models of format 1 -----------------------------------------------------------------------------------


def test_a_model_of_format_1_keeps_its_scores_when_it_is_saved_again(tiny: Parts, tmp_path: Path) -> None:
    old = LinearTree.load(GOLDEN)
    assert old.config.tree.trees == 2
    values = old.predictor_.trees[0].weights.values
    assert (values == read_arrays(GOLDEN / "tree-0.safetensors")["values"]).all()
    old.save(tmp_path / "model")
    again = LinearTree.load(tmp_path / "model")
    assert again.config == old.config
    assert same(old.predict(tiny.test), again.predict(tiny.test))
    # Weights that half precision would change are kept in full; all other arrays shrink.
    size = (tmp_path / "model" / "tree-0.safetensors").stat().st_size
    assert size < (GOLDEN / "tree-0.safetensors").stat().st_size


def test_a_model_of_format_1_without_its_vocabulary_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(GOLDEN, model)
    shutil.rmtree(model / "features")
    fit_manifest(model)
    assert "the text features are not those of this model" in refused(model, ModelIntegrityError)
