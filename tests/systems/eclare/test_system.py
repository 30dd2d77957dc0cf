"""ECLARE as a system: several models, folders, awkward data, and documents without a known word."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.storage import read_arrays, write_arrays
from longtail.storage.manifest import write_manifest
from longtail.systems.eclare.system import Eclare
from longtail.text.feature_store import FeatureStore
from longtail.types import FIELDS, Dataset
from tests.planted import Parts
from tests.storage.processes import run as run_alone
from tests.systems.eclare.worlds import (
    by_label,
    composed_set,
    folder_bytes,
    predictor_of,
    same,
    settings,
    small_set,
)


def test_a_saved_model_is_the_model(clustered: Eclare, saved: Path, tiny: Parts, tmp_path: Path) -> None:
    again = Eclare.load(saved)
    texts = [*tiny.test.documents.joined(), "", "unheard of"]
    assert same(clustered.predict(texts, k=50), again.predict(texts, k=50))
    again.save(tmp_path / "copy")
    assert folder_bytes(saved) == folder_bytes(tmp_path / "copy")


def test_a_document_without_a_known_word_has_no_answer(clustered: Eclare, tiny: Parts) -> None:
    answer = clustered.predict(["", "unheard of", tiny.test.documents.joined()[0]], k=5)
    assert (answer.indices[:2] == -1).all()
    assert (answer.scores[:2] == 0).all()
    assert (answer.indices[2] >= 0).all()


def test_candidates_have_named_features(clustered: Eclare, tiny: Parts) -> None:
    found = clustered.candidates(tiny.test.documents, k=7)
    assert found.names == Eclare.candidate_features == ("classifier", "neighbours", "cluster")
    assert found.features.shape == (len(found.candidates.ids), 3)
    assert (found.candidates.counts <= 7).all()
    assert same(found.candidates.top_k(5), clustered.predict(tiny.test, k=5))


# --- several models -----------------------------------------------------------------------------------------------


def test_the_scores_of_several_models_are_averaged(tiny: Parts, tmp_path: Path) -> None:
    model = Eclare(**settings(models=3, score="product", epochs=1)).fit(tiny.train)
    assert len(model.models_) == 3
    X = FeatureStore(tiny.test.documents).tfidf(model.features_, FIELDS)
    names = model.labels_.ids
    single = [by_label(each(X).scored().top_k(len(names)), names) for each in model.models_]
    answer = by_label(model.predict(tiny.test, k=len(names)), names)
    for document, *parts in zip(answer, *single, strict=True):
        assert document.keys() == set().union(*parts)
        for label, score in document.items():
            assert score == pytest.approx(sum(part.get(label, 0) for part in parts) / 3, abs=1e-6)
    classifiers = [each.weights.classifiers for each in model.models_]
    assert all(
        not np.array_equal(one, other) for i, one in enumerate(classifiers) for other in classifiers[:i]
    )
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert same(model.predict(tiny.test, k=40), again.predict(tiny.test, k=40))
    found, loaded = (each.candidates(tiny.test.documents, k=9) for each in (model, again))
    assert (found.features == loaded.features).all()


def test_the_first_of_several_models_is_the_single_model(tiny: Parts) -> None:
    three = Eclare(**settings(models=3, epochs=1)).fit(tiny.train)
    alone = Eclare(**settings(epochs=1)).fit(tiny.train)
    first, single = predictor_of(three).weights.arrays(), predictor_of(alone).weights.arrays()
    assert all(np.array_equal(first[name], single[name]) for name in first)


def test_a_folder_without_one_of_its_models_is_refused(tiny: Parts, tmp_path: Path) -> None:
    Eclare(**settings(models=2, epochs=1)).fit(tiny.train).save(tmp_path / "model")
    (tmp_path / "model" / "model-1.safetensors").unlink()
    with pytest.raises(ModelIntegrityError, match=r"model-1\.safetensors"):
        longtail.load(tmp_path / "model")


# --- folders and packages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["label-texts.safetensors", "model-0.safetensors"])
def test_arrays_that_do_not_fit_the_model_are_refused(saved: Path, tmp_path: Path, name: str) -> None:
    """Whoever writes a correct manifest of wrong arrays is told which array it is."""
    folder = shutil.copytree(saved, tmp_path / "model")
    arrays = {key: np.array(value) for key, value in read_arrays(folder / name).items()}
    key = "indices" if name.startswith("label") else "members"
    arrays[key][0] = 1_000_000
    write_arrays(folder / name, arrays)
    write_manifest(folder)
    with pytest.raises(ModelIntegrityError, match=rf"{name}: {key} "):
        longtail.load(folder)


PREDICTS = """
import sys
sys.modules["torch"] = None
import numpy as np
import longtail
import longtail.errors
model = longtail.load(sys.argv[1])
texts = open(sys.argv[2], encoding="utf-8").read().splitlines()
answer = model.predict(texts, k=20)
model.add_labels({"new": "words unheard"})
model.predict(texts)
np.savez(sys.argv[3], labels=answer.indices, scores=answer.scores)
try:
    type(model)().fit(longtail.Dataset.from_texts(["a"], [["b"]]))
except longtail.errors.MissingPackageError as error:
    print(error)
"""


def test_prediction_needs_no_torch_and_training_says_that_it_does(
    clustered: Eclare, saved: Path, tiny: Parts, tmp_path: Path
) -> None:
    texts = [" ".join(text.split()) for text in tiny.test.documents.joined()[:20]]
    (tmp_path / "texts").write_text("\n".join(texts), encoding="utf-8")
    said = run_alone(PREDICTS, saved, tmp_path / "texts", tmp_path / "out.npz")
    assert "training 'eclare'" in said
    assert "torch" in said
    answer = clustered.predict(texts, k=20)
    with np.load(tmp_path / "out.npz") as found:
        assert (found["labels"] == answer.indices).all()
        assert (found["scores"] == answer.scores).all()
    assert "torch" in sys.modules


# --- awkward data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_below", [0, 2000])
@pytest.mark.parametrize("score", ["product", "classifier"])
@pytest.mark.parametrize("labels", [["x"], ["x", "y"], list("abcdefghij")])
def test_few_labels_and_ten_documents(labels: list[str], score: str, exact_below: int) -> None:
    texts = [f"about {labels[i % len(labels)]}" for i in range(10)]
    data = Dataset.from_texts(texts, [[labels[i % len(labels)]] for i in range(10)], {k: k for k in labels})
    model = Eclare(**settings(shortlist={"exact_below": exact_below}, score=score)).fit(data, valid=data)
    answer = model.predict([*texts, ""], k=3)
    assert np.isfinite(answer.scores).all()
    assert ((answer.indices >= 0).sum(axis=1)[:-1] >= 1).all()
    assert (answer.indices[-1] == -1).all()


@pytest.mark.parametrize("exact_below", [0, 2000])
def test_labels_without_texts_are_trained_from_their_documents(tiny: Parts, exact_below: int) -> None:
    names = tiny.train.labels.ids

    def nameless(part: Dataset) -> Dataset:
        tags = [[names[label] for label in part.Y[[row]].indices] for row in range(len(part))]
        return Dataset.from_texts(part.documents, tags, dict.fromkeys(names, ""))

    run = Run()
    model = Eclare(**settings(epochs=15, shortlist={"exact_below": exact_below}))
    model.fit(nameless(tiny.train), valid=nameless(tiny.valid), run=run)
    assert run.messages[0] == "labels without text: 40 (the terms of their documents are used instead)"
    assert model.evaluate(nameless(tiny.test)).metrics["P@1"]["value"] > 80


def test_labels_that_partly_have_texts() -> None:
    data = small_set(24)
    partly = Dataset.from_texts(
        data.documents,
        [[data.labels.ids[label] for label in data.Y[[row]].indices] for row in range(len(data))],
        {label: label if i % 2 else "" for i, label in enumerate(data.labels.ids)},
    )
    run = Run()
    model = Eclare(**settings(epochs=15, shortlist={"exact_below": 2000})).fit(partly, run=run)
    assert run.messages[0].startswith("labels without text: 4 ")
    assert model.evaluate(partly).metrics["P@1"]["value"] > 80


@pytest.mark.parametrize("valid", [[], [0], [1]])
def test_validation_data_without_a_label_of_training(valid: list[int]) -> None:
    data = small_set(12)
    # Document 1 has no label, document 0 one that training does not have.
    part = Dataset.from_texts(["red apple", "nothing"], [["else"], []]).take(valid)
    model = Eclare(**settings(epochs=1)).fit(data, valid=part)
    assert (model.predict(["red"], k=2).indices >= 0).all()


def test_documents_that_are_labels_and_pairs_that_do_not_count(tiny: Parts) -> None:
    n, n_labels = tiny.valid.Y.shape
    filtered = csr_array(
        (np.ones(n, np.float32), (np.arange(n), np.arange(n) % n_labels)), shape=(n, n_labels)
    )
    valid = replace(tiny.valid, filtered=filtered)
    model = Eclare(**settings(epochs=15)).fit(tiny.train, valid=valid)
    assert model.evaluate(valid).metrics["P@1"]["value"] > 80


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tiny: Parts, tmp_path: Path) -> None:
    def trained(name: str, **other: Any) -> dict[str, bytes]:
        Eclare(**settings(epochs=1, **other)).fit(tiny.train, valid=tiny.valid).save(tmp_path / name)
        return folder_bytes(tmp_path / name)

    first = trained("first")
    assert trained("again") == first
    other = trained("other", seed=1)
    assert other["model-0.safetensors"] != first["model-0.safetensors"]


@pytest.mark.parametrize("exact_below", [0, 2000])
def test_cold_labels_are_found_by_their_text_and_have_a_bin_of_their_own(exact_below: int) -> None:
    """Labels without training documents are ranked by LTE and GALE: their words are those of other labels."""
    cold = ("blue fig", "white pear", "red lemon", "pink melon")
    train, test = composed_set(cold=cold)
    changes: dict[str, Any] = {"shortlist": {"exact_below": exact_below}, "label_documents": "all"}
    model = Eclare(**settings(epochs=8, **changes)).fit(train)
    assert (model.label_counts_ == 0).sum() == len(cold)
    answer = model.predict(list(cold), k=5)
    names = [[model.labels_.ids[label] for label in row] for row in answer.indices]
    assert sum(row[0] == label for row, label in zip(names, cold, strict=True)) >= 3
    assert all(label in row for row, label in zip(names, cold, strict=True))
    report = model.evaluate(test)
    (row,) = [row for row in report.bins if row["name"] == "0"]
    assert row["assignments"] == test.Y.sum() == 12 * len(cold)
    assert row["hits"] >= 0.8 * row["assignments"]


def test_models_of_earlier_versions_have_game_on_the_graph_as_it_is(
    clustered: Eclare, tmp_path: Path
) -> None:
    assert clustered.config.game.by_rows
    clustered.save(tmp_path / "new")
    assert Eclare.load(tmp_path / "new").config.game.by_rows
    earlier = Eclare.load(Path(__file__).parents[2] / "golden" / "eclare-format-2")
    assert not earlier.config.game.by_rows
