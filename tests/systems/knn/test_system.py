"""What is particular to nearest neighbours; what all systems share is in tests/contract."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.errors import ModelIntegrityError, UsageError
from longtail.systems.knn.neighbours import ROWS_FILE, TermNeighbours, labelled
from longtail.systems.knn.predict import TrainingDocuments
from longtail.systems.knn.system import IDS_FILE, Knn
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS, Dataset, Documents, LabelSet, TopK
from tests.planted import Parts
from tests.systems.damage import change_json, fit_manifest, refused
from tests.tiny_encoders import write_planted


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_planted(tmp_path_factory.mktemp("encoder"), 40))


@pytest.fixture(params=["terms", "vectors", "ann"])
def settings(request: pytest.FixtureRequest, encoder: str) -> dict[str, Any]:
    """Each way to search."""
    vectors = {"vectors": "encoder", "encoder": encoder}
    kinds = {"terms": {"text": {"kind": "word"}}, "vectors": vectors, "ann": {**vectors, "search": "ann"}}
    return {**kinds[request.param], "neighbours": 10}


def is_exact(model: Knn) -> bool:
    neighbours = model.training_.neighbours
    assert isinstance(neighbours, TermNeighbours)
    return neighbours._index.exact


def test_from_so_many_documents_on_the_search_is_not_exact(tiny: Parts, tmp_path: Path) -> None:
    exact, other = (Knn(exact_below=len(tiny.train) + more).fit(tiny.train) for more in (1, 0))
    assert is_exact(exact)
    assert not is_exact(other)
    other.save(tmp_path / "model")
    loaded = longtail.load(tmp_path / "model")
    assert isinstance(loaded, Knn)
    assert not is_exact(loaded)
    # So few entries are all read.
    answers = [model.predict(tiny.test) for model in (exact, other, loaded)]
    assert same(answers[1], answers[2])
    assert np.allclose(answers[0].scores, answers[1].scores, atol=1e-5)


def retrained(settings: dict[str, Any], model: Knn, data: Dataset) -> Knn:
    """A model of these documents over the vocabulary of another one."""
    fresh = Knn(**settings).fit(data)
    features = model.representation_.features
    if features is not None:
        rows = labelled(FeatureStore(data.documents).tfidf(features, FIELDS), data.Y)
        fresh.representation_ = model.representation_
        fresh.training_ = TrainingDocuments(data.documents.ids, data.Y, TermNeighbours.of(rows))
    return fresh


def close(one: TopK, other: TopK) -> bool:
    """The same but for the last bits of an encoder, which may also change the order of equal scores."""
    return bool(
        np.allclose(one.scores, other.scores, atol=2e-3) and (one.indices == other.indices).mean() > 0.95
    )


def test_documents_count_at_once_and_are_forgotten_at_once(
    tiny: Parts, tmp_path: Path, settings: dict[str, Any]
) -> None:
    first, rest = tiny.train.take(range(100)), tiny.train.take(range(100, len(tiny.train)))
    model = Knn(**settings).fit(first)
    only_first = model.predict(tiny.test)
    model.add_documents(rest)
    whole = retrained(settings, model, tiny.train)
    assert close(model.predict(tiny.test), whole.predict(tiny.test))
    assert not close(model.predict(tiny.test), only_first)
    assert model.facts_.documents == len(tiny.train)
    assert model.label_counts_.tolist() == tiny.train.label_counts.tolist()
    model.save(tmp_path / "grown")
    again = longtail.load(tmp_path / "grown")
    assert same(again.predict(tiny.test), model.predict(tiny.test))
    again.remove_documents(rest.documents.ids)
    assert close(again.predict(tiny.test), only_first)
    assert again.facts_.documents == 100
    assert again.label_counts_.tolist() == first.label_counts.tolist()
    again.save(tmp_path / "shrunk")
    last = longtail.load(tmp_path / "shrunk")
    assert same(last.predict(tiny.test), again.predict(tiny.test))
    assert last.facts_ == again.facts_


def test_labels_that_come_with_documents_are_taken(tiny: Parts, tmp_path: Path) -> None:
    train = tiny.train
    old = replace(
        train, labels=LabelSet(train.labels.ids[:20], train.labels.texts[:20]), Y=train.Y[:, :20]
    ).take(range(100))
    model = Knn().fit(old)
    rest = train.take(range(100, len(train)))
    model.add_documents(rest)
    used = np.unique(rest.Y.indices)
    new = [train.labels.ids[column] for column in used if column >= 20]
    assert model.labels_.ids == [*old.labels.ids, *new]
    assert model.labels_.texts[20:] == [train.labels.texts[column] for column in used if column >= 20]
    counts = dict(zip(model.labels_.ids, model.label_counts_, strict=True))
    for column in used[used >= 20]:
        assert counts[train.labels.ids[column]] == rest.label_counts[column]
    assert (model.predict(rest, k=3).indices >= 20).any()
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.labels_.ids == model.labels_.ids
    assert same(again.predict(tiny.test), model.predict(tiny.test))


def test_a_label_without_documents_left_stays_and_is_not_predicted() -> None:
    documents = Documents(["a", "b"], ["", ""], ["red apple", "green pear"])
    data = Dataset.from_texts(documents, [["r"], ["g"]])
    model = Knn().fit(data).remove_documents(["b"])
    assert model.labels_.ids == ["r", "g"]
    assert model.label_counts_.tolist() == [1, 0]
    assert model.predict(["green red"], k=2).indices.tolist() == [[0, -1]]


def test_examples_of_new_labels_become_documents(tiny: Parts) -> None:
    model = Knn().fit(tiny.train)
    texts = Documents(["e-1", "e-2"], ["", ""], ["quux zork", "quux blip"])
    examples = Dataset.from_texts(texts, [["new", "label-0"], ["new", "unheard of"]])
    before = model.label_counts_[0]
    model.add_labels({"new": "quux"}, examples=examples)
    assert model.labels_.ids[40:] == ["new"]
    assert model.label_counts_[[0, 40]].tolist() == [before + 1, 2]
    assert model.facts_.documents == len(tiny.train) + 2
    assert "e-1" in model.training_.ids


def test_a_new_label_waits_for_its_documents(tiny: Parts) -> None:
    model = Knn(text={"kind": "word"}).fit(tiny.train)
    model.add_labels({"new": "quux"})
    assert 40 not in model.predict(tiny.test, k=41).indices
    words = tiny.train.labels.texts[0]
    model.add_documents(Dataset.from_texts(Documents(["n"], [""], [words]), [["new"]]))
    assert model.labels_.ids[40:] == ["new"]
    assert 40 in model.predict([words], k=5).indices


def test_a_training_document_is_not_its_own_neighbour(tiny: Parts) -> None:
    model = Knn(neighbours=1).fit(tiny.train)
    train = tiny.train
    own = model.evaluate(train).metrics["P@1"]["value"]
    strangers = replace(train, documents=Documents.of(train.documents.joined()))
    assert model.evaluate(strangers).metrics["P@1"]["value"] > own


def test_an_exact_search_finds_what_the_graph_finds(tiny: Parts, encoder: str) -> None:
    vectors = {"vectors": "encoder", "encoder": encoder}
    exact, graph = Knn(**vectors).fit(tiny.train), Knn(**vectors, search="ann").fit(tiny.train)
    assert close(exact.predict(tiny.test), graph.predict(tiny.test))


def test_a_document_without_text_has_no_answer(tiny: Parts, settings: dict[str, Any]) -> None:
    model = Knn(**settings).fit(tiny.train)
    assert (model.predict(["", " "], k=3).indices == -1).all()


def test_a_feature_matrix_is_searched_as_it_is(tiny: Parts, tmp_path: Path) -> None:
    X = csr_array(np.random.default_rng(0).random((len(tiny.train), 9)).astype(np.float32))
    model = Knn(neighbours=3).fit(Dataset.from_matrix(X, tiny.train.Y))
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert same(model.predict(X), again.predict(csr_array(X * 8)))
    more = Dataset(Documents.from_features(X[:4], ["a", "b", "c", "d"]), model.labels_, tiny.train.Y[:4])
    assert again.add_documents(more).facts_.documents == len(tiny.train) + 4
    with pytest.raises(UsageError, match="trained on a feature matrix"):
        again.predict(["a text"])
    with pytest.raises(UsageError, match="has 8 columns, the model was trained on 9"):
        again.add_documents(Dataset.from_matrix(X[:, :8], tiny.train.Y))


@pytest.mark.parametrize("ids", [{}, ["a"], "ids", [1] * 180])
def test_ids_that_do_not_fit_are_refused(tiny: Parts, tmp_path: Path, ids: object) -> None:
    Knn().fit(tiny.train).save(tmp_path / "model")
    change_json(tmp_path / "model" / IDS_FILE, lambda found: ids)
    refused(tmp_path / "model", ModelIntegrityError)


@pytest.mark.parametrize(
    "change", [{"width": 3}, {"features": None, "width": 3}, {"features": "x"}, {"width": 0}]
)
def test_a_description_that_does_not_fit_is_refused(
    tiny: Parts, tmp_path: Path, change: dict[str, object]
) -> None:
    Knn().fit(tiny.train).save(tmp_path / "model")
    change_json(tmp_path / "model" / "knn.json", lambda found: found.update(change))
    refused(tmp_path / "model", ModelIntegrityError)


def test_a_missing_encoder_or_index_is_refused(tiny: Parts, tmp_path: Path, encoder: str) -> None:
    model = Knn(vectors="encoder", encoder=encoder, keep="reference").fit(tiny.train)
    for name in (ROWS_FILE, "encoder/reference.json"):
        model.save(tmp_path / "model", force=True)
        (tmp_path / "model" / name).unlink()
        fit_manifest(tmp_path / "model")
        with pytest.raises(ModelIntegrityError):
            longtail.load(tmp_path / "model")
