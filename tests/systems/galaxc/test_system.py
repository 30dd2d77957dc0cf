"""GalaXC as a system: settings, feature rows, batches, awkward data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.data import warm_start
from longtail.errors import UsageError
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Documents, LabelSet
from tests.planted import Parts
from tests.storage.processes import run as run_alone
from tests.systems.galaxc.worlds import folder_bytes, p_at_1, same, settings, small_set

# --- settings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        {"initial": {"source": "labels"}},
        {"score": "ann"},
        {"score": "ann", "shortlist": {"embedding": "transformed"}},
        {"score": "ann", "shortlist": {"embedding": "raw"}},
        {"shortlist": {"voters": 0}},
        {"negatives": {"hard": 0, "random": None}, "loss": "bce"},
        {"graph": {"encoder": "gin"}, "classifier": {"node": False}},
        {"graph": {"encoder": "graphsage", "fanouts": (3, 3)}, "classifier": {"node": False}},
        {"graph": {"transductive": True, "head_above": 10, "samples": 1}},
        {
            "graph": {"include_initial": False, "same_text": True},
            "transform": {"batch_norm": True, "unit": False},
        },
        {"neighbourhood": {"near": 0.0, "mask_positive": 0.0, "visible_in_loss": True, "fill": False}},
    ],
    ids=str,
)
def test_every_setting_trains_predicts_and_comes_back(
    tiny: Parts, other: dict[str, Any], tmp_path: Path
) -> None:
    model = Galaxc(**settings(epochs=4, **other)).fit(tiny.train, valid=tiny.valid)
    # So few documents train few words; label texts bring the others near.
    assert p_at_1(model, tiny.test) > (80 if model.config.initial.source == "labels" else 40)
    model.save(tmp_path / "model")
    again = Galaxc.load(tmp_path / "model")
    assert same(model.predict(tiny.test, k=40), again.predict(tiny.test, k=40))
    again.save(tmp_path / "copy")
    assert folder_bytes(tmp_path / "model") == folder_bytes(tmp_path / "copy")


def test_damaged_weights_of_a_graph_encoder_are_refused(tiny: Parts, tmp_path: Path) -> None:
    from longtail.errors import ModelIntegrityError
    from longtail.storage import read_arrays, write_arrays
    from tests.systems.damage import fit_manifest, refused

    gin = {"graph": {"encoder": "gin", "fanouts": (2, 2)}, "classifier": {"node": False}}
    Galaxc(**settings(epochs=1, **gin)).fit(tiny.train).save(tmp_path / "model")
    path = tmp_path / "model" / "encoder.safetensors"
    arrays = {name: np.array(array) for name, array in read_arrays(path).items()}
    for change in (
        {"eps": arrays["eps"][:1]},
        {"inner": arrays["inner"] * np.nan},
        {name: array[:1].copy() for name, array in arrays.items()},
    ):
        write_arrays(path, {**arrays, **change})
        fit_manifest(tmp_path / "model")
        assert "encoder.safetensors" in refused(tmp_path / "model", ModelIntegrityError)


def matrix_parts(tiny: Parts, features: bool) -> tuple[Dataset, Dataset]:
    """Documents and (perhaps) labels as points: a document is where its labels are."""
    rng = np.random.default_rng(0)
    places = rng.standard_normal((40, 24)).astype(np.float32)

    def part(data: Dataset) -> Dataset:
        X = data.Y @ places + 0.1 * rng.standard_normal((len(data), 24))
        labels = LabelSet(data.labels.ids, [""] * 40, features=csr_array(places) if features else None)
        return replace(data, documents=Documents.from_features(X, data.documents.ids), labels=labels)

    return part(tiny.train), part(tiny.test)


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("source", ["given", "surrogate", "labels"])
def test_feature_rows(tiny: Parts, tmp_path: Path, features: bool, source: str) -> None:
    train, test = matrix_parts(tiny, features)
    model = Galaxc(**settings(epochs=4, initial={"source": source})).fit(train, valid=test)
    assert model.predictor_.nodes.vectors.shape[1] == (24 if source == "given" else 16)
    assert p_at_1(model, test) > (80 if source == "given" else 50)
    model.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict(test), model.predict(test))
    with pytest.raises(UsageError, match="24"):
        model.predict(Documents.from_features(np.ones((1, 3))))
    with pytest.raises(UsageError, match="trained on feature rows"):
        model.predict(["text"])


def test_feature_rows_of_few_columns_come_back_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4)).astype(np.float32)
    Y = csr_array(np.eye(6, dtype=np.float32)[rng.integers(0, 6, 600)])
    data = Dataset.from_matrix(X, Y)
    model = Galaxc(**settings(epochs=1, initial={"source": "given"})).fit(data)
    model.save(tmp_path / "model")
    again = Galaxc.load(tmp_path / "model")
    assert np.array_equal(again.predictor_.nodes.vectors, model.predictor_.nodes.vectors)
    assert same(again.predict(data, k=6), model.predict(data, k=6))


@pytest.mark.parametrize("which", ["trained", "plain"])
def test_alone_as_in_a_batch(which: str, request: pytest.FixtureRequest, tiny: Parts) -> None:
    model: Galaxc = request.getfixturevalue(which)
    known = warm_start.protocol(tiny.train, tiny.test, seed=0, inductive=True).test
    together = model.predict(known, k=8)
    for i in range(len(known)):
        alone = model.predict(known.take([i]), k=8)
        assert np.array_equal(alone.indices[0], together.indices[i])
        assert np.array_equal(alone.scores[0], together.scores[i])


def test_numbered_texts_are_no_known_documents(tiny: Parts) -> None:
    """Plain texts have the numbers of training documents as ids, one alone that of the first."""
    texts = tiny.train.documents.joined()
    names = tiny.train.labels.ids
    tags = [[names[label] for label in tiny.train.Y[[row]].indices] for row in range(len(texts))]
    model = Galaxc(**settings(epochs=1)).fit(Dataset.from_texts(texts, tags))
    together = model.predict(texts[:30], k=5)
    for i in range(30):
        alone = model.predict(texts[i], k=5)
        assert np.array_equal(alone.indices[0], together.indices[i])
        assert np.array_equal(alone.scores[0], together.scores[i])
    assert [id_ for id_, _ in model.similar_documents(Documents.of(texts).take([7]), k=3)[0]].count("7") == 0


# --- what it tells about itself -------------------------------------------------------------------------------


def test_insights_show_the_attention_by_frequency(trained: Galaxc, plain: Galaxc) -> None:
    (insight,) = trained.insights()
    assert list(insight.series) == ["hop 0", "hop 1", "hop 2", "hop 3"]
    sums = np.sum(list(insight.series.values()), axis=0)
    np.testing.assert_allclose(sums, 1, rtol=1e-5)
    assert list(plain.insights()[0].series) == ["hop 1", "hop 2", "hop 3"]


# --- awkward data ---------------------------------------------------------------------------------------------


def test_a_document_without_a_known_word_has_no_prediction(trained: Galaxc, tiny: Parts) -> None:
    answer = trained.predict(["", "unheard of", tiny.test.documents.joined()[0]], k=5)
    assert (answer.indices[:2] == -1).all()
    assert not answer.scores[:2].any()
    assert (answer.indices[2] >= 0).all()


def test_labels_without_texts_are_embedded_by_their_documents(tiny: Parts) -> None:
    labels = LabelSet(tiny.train.labels.ids, [""] * 40)
    nameless = [replace(part, labels=labels) for part in tiny]
    model = Galaxc(**settings(epochs=8, initial={"source": "labels"})).fit(nameless[0], valid=nameless[1])
    assert p_at_1(model, nameless[2]) > 80


@pytest.mark.parametrize("score", ["classifier", "ann"])
@pytest.mark.parametrize("labels", [["x"], ["x", "y"]])
@pytest.mark.parametrize("source", ["surrogate", "labels"])
def test_one_or_two_labels_and_two_documents(labels: list[str], score: str, source: str) -> None:
    texts = [f"about {labels[i % len(labels)]}" for i in range(2)]
    data = Dataset.from_texts(texts, [[labels[i % len(labels)]] for i in range(2)], {k: k for k in labels})
    small = settings(score=score, initial={"source": source, "clusters": None})
    model = Galaxc(**small).fit(data, valid=data)
    answer = model.predict([*texts, ""], k=3)
    assert np.isfinite(answer.scores).all()
    assert ((answer.indices[:2] >= 0).sum(axis=1) >= 1).all()
    assert (answer.indices[2] == -1).all()
    assert model.similar_labels(labels, k=5)[0] == [] or len(labels) == 2


@pytest.mark.parametrize("valid", [[], [0], [1]])
def test_validation_data_without_known_labels_are_no_obstacle(valid: list[int]) -> None:
    data = small_set(12)
    # Document 1 has no label, document 0 one that training does not have.
    other = Dataset.from_texts(["red apple", "nothing"], [["else"], []]).take(valid)
    model = Galaxc(**settings(epochs=1)).fit(data, valid=other)
    assert (model.predict(["red"], k=2).indices >= 0).all()


def test_documents_that_are_labels_share_a_node_and_never_see_themselves(tmp_path: Path) -> None:
    data = small_set(24)
    # Documents named like labels: the colours and fruits have documents of their own.
    ids = [data.labels.ids[i] if i < 5 else f"document-{i}" for i in range(24)]
    documents = Documents(ids, [""] * 24, data.documents.texts)
    Y = data.Y.toarray()
    Y[np.arange(5), np.arange(5)] = 0
    data = replace(data, documents=documents, Y=csr_array(Y))
    model = Galaxc(**settings(epochs=2)).fit(data)
    graph = model.predictor_.nodes.graph
    assert graph.node_of_label[:5].tolist() == list(range(5))
    assert graph.n_nodes == 24 + 7 - 5
    assert np.isfinite(model.predict(data, k=3).scores).all()
    answer = model.predict(data.take([0]), k=3, revealed=[[data.labels.ids[0]]])
    assert 0 not in answer.indices[0]
    model.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict(data), model.predict(data))


PREDICTS = """
import sys
sys.modules["torch"] = None
import numpy as np
import longtail
import longtail.errors
from longtail.types import Document
model = longtail.load(sys.argv[1])
texts = open(sys.argv[2], encoding="utf-8").read().splitlines()
answer = model.predict(texts, k=20)
model.add_documents([Document("new", text=texts[0])])
model.predict(texts)
np.savez(sys.argv[3], labels=answer.indices, scores=answer.scores)
try:
    type(model)().fit(longtail.Dataset.from_texts(["a"], [["b"]]))
except longtail.errors.MissingPackageError as error:
    print(error)
"""


def test_prediction_needs_no_torch_and_training_says_that_it_does(
    trained: Galaxc, saved: Path, tiny: Parts, tmp_path: Path
) -> None:
    texts = [" ".join(text.split()) for text in tiny.test.documents.joined()[:20]]
    (tmp_path / "texts").write_text("\n".join(texts), encoding="utf-8")
    said = run_alone(PREDICTS, saved, tmp_path / "texts", tmp_path / "out.npz")
    assert "training 'galaxc'" in said
    assert "torch" in said
    answer = trained.predict(texts, k=20)
    with np.load(tmp_path / "out.npz") as found:
        assert (found["labels"] == answer.indices).all()
        assert (found["scores"] == answer.scores).all()
    assert "torch" in sys.modules
    assert same(longtail.load(saved).predict(texts, k=20), answer)
