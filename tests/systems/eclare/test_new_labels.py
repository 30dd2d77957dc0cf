"""Labels added after training: found by text and by example; no other label's score changes by a bit."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import UnsupportedError, UsageError
from longtail.shortlist.candidates import Candidates
from longtail.systems import create
from longtail.systems.eclare.new_labels import combined, through_block
from longtail.systems.eclare.system import Eclare
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.eclare.test_model import COUNTS, draw
from tests.systems.eclare.worlds import by_label, encoded, predictor_of, same, settings

Changes = dict[str, Any]


def fitted(tiny: Parts, valid: bool = True, **other: Any) -> Eclare:
    return Eclare(**settings(**other)).fit(tiny.train, valid=tiny.valid if valid else None)


def again(model: Eclare) -> Eclare:
    """A model that may be changed, with the weights of one that may not."""
    return copy.copy(model)


def rare_words(tiny: Parts) -> list[str]:
    """Words of training texts that no label has: what a missing label could be about."""
    labels = {word for text in tiny.train.labels.texts for word in text.split()}
    texts = " ".join(tiny.train.documents.joined()).split()
    return sorted(set(texts) - labels)


def examples_of(words: list[str], label: str, others: list[str]) -> Dataset:
    return Dataset.from_texts(
        [f"{words[0]} {words[1]}", f"{words[1]} {words[2]}"], [[label, *others], [label]]
    )


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_a_new_label_is_found_by_its_text(which: str, request: pytest.FixtureRequest, tiny: Parts) -> None:
    model = again(request.getfixturevalue(which))
    words = rare_words(tiny)
    model.add_labels({"new": f"{words[0]} {words[1]}", "other": f"{words[5]} {words[6]}"})
    assert model.labels_.ids[-2:] == ["new", "other"]
    assert model.label_counts_.tolist()[-2:] == [0, 0]
    answer = model.predict([f"{words[0]} {words[1]}", f"{words[6]} {words[5]}"], k=2)
    for row, label in zip(answer.indices, ["new", "other"], strict=True):
        assert label in [model.labels_.ids[number] for number in row]


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_a_new_label_is_found_by_its_examples(
    which: str, request: pytest.FixtureRequest, tiny: Parts
) -> None:
    model = again(request.getfixturevalue(which))
    words = rare_words(tiny)
    model.add_labels(["mute"], examples=examples_of(words, "mute", ["label-3", "of no interest"]))
    assert model.labels_.ids[-1:][0] == "mute"
    assert model.label_counts_[-1] == 2
    answer = model.predict([f"{words[0]} {words[1]} {words[2]}"], k=3)
    assert "mute" in [model.labels_.ids[label] for label in answer.indices[0] if label >= 0]
    # The label that it co-occurs with is its neighbour.
    graph = predictor_of(model).weights.graph
    assert set(graph[[40]].indices) == {3, 40}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"shortlist": {"exact_below": 2000}},
        {"score": "product"},
        {"score": "product", "game": {"mix": 1.0}},
        {"classifier": {"combine": "sum", "order": 2}},
        {"classifier": {"gale": "gcn", "refinement": False}},
        {"classifier": {"lte": False, "gale": "lightgcn"}, "tokens": "frozen"},
        {"models": 2, "score": "product"},
    ],
    ids=str,
)
def test_the_scores_of_all_other_labels_stay_to_the_last_bit(
    tiny: Parts, tmp_path: Path, changes: Changes
) -> None:
    model = fitted(tiny, epochs=1, **changes)
    documents = [*tiny.test.documents.joined(), *tiny.train.labels.texts, "", "unheard of"]
    before = model.predict(documents, k=100)
    words = rare_words(tiny)
    # Texts that share words with documents and labels, so that new labels are in every shortlist.
    texts = {f"new-{i}": f"{words[i]} {tiny.train.labels.texts[i]}" for i in range(12)}
    model.add_labels(texts)
    between = model.predict(documents, k=100)
    model.add_labels(["mute"], examples=examples_of(words, "mute", ["label-3", "new-2"]))
    after = model.predict(documents, k=100)
    scores = [by_label(answer, model.labels_.ids) for answer in (before, between, after)]
    assert sum(any(label.startswith("new") for label in row) for row in scores[1]) > len(documents) // 2
    for one, two, three in zip(*scores, strict=True):
        assert {label: two.get(label) for label in one} == one
        assert {label: three.get(label) for label in two} == two
    model.save(tmp_path / "model")
    assert same(after, Eclare.load(tmp_path / "model").predict(documents, k=100))


@pytest.mark.parametrize("which", ["clustered", "exact"])
def test_the_features_of_all_other_labels_stay_to_the_last_bit(
    which: str, request: pytest.FixtureRequest, tiny: Parts
) -> None:
    """Also where new labels are candidates beside them: an ensemble gives the same scores as before."""

    def features(model: Eclare) -> np.ndarray:
        n, n_labels = len(tiny.test), len(model.labels_)
        every = Candidates.from_dense(np.zeros((n, n_labels)), n_labels)
        found = encoded(model, tiny.test.documents).features(every)
        return found.reshape(n, n_labels, -1)

    model = again(request.getfixturevalue(which))
    before = features(model)
    words = rare_words(tiny)
    model.add_labels({f"new-{i}": f"{words[i]} {tiny.train.labels.texts[i]}" for i in range(12)})
    after = features(model)
    assert after.shape[1] == 52
    assert np.array_equal(after[:, :40], before)
    assert np.isfinite(after).all()


def test_labels_can_be_added_one_after_the_other(clustered: Eclare, tiny: Parts) -> None:
    words = rare_words(tiny)
    model = again(clustered)
    for i in range(3):
        model.add_labels({f"new-{i}": f"{words[2 * i]} {words[2 * i + 1]}"})
    assert model.labels_.ids[-3:] == ["new-0", "new-1", "new-2"]
    answer = model.predict([f"{words[2 * i]} {words[2 * i + 1]}" for i in range(3)], k=1)
    assert answer.indices[:, 0].tolist() == [40, 41, 42]
    # The model that it is a copy of has not changed.
    assert len(clustered.labels_) == len(predictor_of(clustered).weights.classifiers) == 40


def test_what_is_not_a_new_label_is_refused(clustered: Eclare, tiny: Parts) -> None:
    model = again(clustered)
    before = model.predict(tiny.test)
    with pytest.raises(UsageError, match="the model has the label 'label-3' already"):
        model.add_labels({"fine": "a text", "label-3": "again"})
    with pytest.raises(UsageError, match="the label 'mute' has neither a text nor an example document"):
        model.add_labels(["mute"])
    with pytest.raises(UsageError, match="the label 'mute' has neither a text nor an example document"):
        model.add_labels(["mute"], examples=Dataset.from_texts(["red"], [["other"]]))
    model.add_labels({})
    assert same(before, model.predict(tiny.test))
    with pytest.raises(UnsupportedError, match="the system 'linear' cannot take labels after training"):
        create("linear").fit(tiny.train).add_labels({"new": "text"})


def test_a_text_of_unknown_words_is_taken(clustered: Eclare) -> None:
    model = again(clustered).add_labels({"odd": "unheard of"})
    answer = model.predict(["unheard of", model.labels_.texts[0]], k=5)
    assert np.isfinite(answer.scores).all()


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"order": 2},
        {"gale": "gcn"},
        {"lte": False, "gale": "gcn", "order": 2},
        {"gale": "lightgcn"},
        {"combine": "sum"},
        {"gale": "none", "refinement": False},
    ],
    ids=str,
)
def test_classifiers_in_numpy_are_those_of_the_network(clustered: Eclare, shape: Changes) -> None:
    network, texts, tokens, refinement = draw(**shape)
    expected, weights_of_parts = network.export_classifiers(texts, tokens, refinement, COUNTS)
    network.eval()
    attention, width = network.attention, tokens.width
    none = np.zeros((0, width), np.float32)
    weights = replace(
        predictor_of(clustered).weights,
        attention_transform=none if attention is None else attention.exported_transform().numpy(),
        attention_weigh=none if attention is None else attention.exported_weigh().numpy(),
    )
    first = 0 if shape.get("lte", True) else 1
    parts = [
        through_block(text @ tokens.weight.numpy(), block, gcn=shape.get("gale") == "gcn" and order > 0)
        for order, (text, block) in enumerate(zip(texts, network.exported_blocks(), strict=True), first)
    ]
    if refinement is not None:
        parts.append((refinement.weight * network.shrinkage(COUNTS)).numpy())
    found, alpha = combined(parts, weights)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(alpha, weights_of_parts, atol=1e-5)


def test_a_new_label_joins_the_cluster_of_its_neighbours(clustered: Eclare, tiny: Parts) -> None:
    def cluster_of(model: Eclare, label: int) -> int:
        weights = predictor_of(model).weights
        return (
            int(np.searchsorted(weights.member_ptr, np.flatnonzero(weights.members == label)[0], "right")) - 1
        )

    model = again(clustered)
    words = rare_words(tiny)
    model.add_labels(["mute"], examples=examples_of(words, "mute", ["label-7"]))
    assert cluster_of(model, 40) == cluster_of(model, 7)
    assert all(cluster_of(model, label) == cluster_of(clustered, label) for label in range(40))
    model.add_labels({"like": tiny.train.labels.texts[11]})
    assert cluster_of(model, 41) == cluster_of(model, 11)
    # A label that co-occurs with no other has labels of similar texts as neighbours.
    neighbours = predictor_of(model).weights.graph[[41]]
    assert set(neighbours.indices) >= {11, 41}
    assert neighbours.data.sum() == pytest.approx(1)
