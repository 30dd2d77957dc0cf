"""ECLARE as a system: ensembles, folders, awkward data, and documents of which no word is known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longtail
from longtail.run import Run
from longtail.systems.eclare.system import Eclare
from longtail.types import Dataset
from tests.planted import Parts
from tests.storage.processes import run as run_alone
from tests.systems.eclare.worlds import by_label, folder_bytes, same, settings, small_set


def test_a_saved_model_is_the_model(clustered: Eclare, saved: Path, tiny: Parts, tmp_path: Path) -> None:
    again = Eclare.load(saved)
    texts = [*tiny.test.documents.joined(), "", "unheard of"]
    assert same(clustered.predict(texts, k=50), again.predict(texts, k=50))
    again.save(tmp_path / "copy")
    assert folder_bytes(saved) == folder_bytes(tmp_path / "copy")


def test_a_document_without_a_known_word_has_the_most_frequent_labels(clustered: Eclare, tiny: Parts) -> None:
    counts = tiny.train.label_counts
    answer = clustered.predict(["", "unheard of", tiny.test.documents.joined()[0]], k=5)
    order = np.argsort(-counts, kind="stable")[:5]
    for row in (0, 1):
        assert answer.labels[row].tolist() == order.tolist()
        np.testing.assert_allclose(answer.scores[row], counts[order] / len(tiny.train), rtol=1e-6)
    assert answer.labels[2].tolist() != order.tolist()


def test_the_members_of_an_ensemble_are_averaged(tiny: Parts, tmp_path: Path) -> None:
    pair = Eclare(**settings(members=2, score="product", epochs=1)).fit(tiny.train)
    one, two = (pair.members_[i].weights for i in (0, 1))
    assert not np.array_equal(one.classifiers, two.classifiers)
    X = pair.features_.transform(tiny.test.documents.joined())
    found = [member(X) for member in pair.members_]
    names = pair.labels_.ids
    single = [by_label(part.top_k(len(names)), names) for part in found]
    answer = by_label(pair.predict(tiny.test, k=len(names)), names)
    for both, first, second in zip(answer, *single, strict=True):
        assert both.keys() == first.keys() | second.keys()
        for label, score in both.items():
            assert score == pytest.approx((first.get(label, 0) + second.get(label, 0)) / 2, abs=1e-6)
    pair.save(tmp_path / "pair")
    assert same(pair.predict(tiny.test), longtail.load(tmp_path / "pair").predict(tiny.test))


def test_the_first_member_is_the_model_of_one_member(tiny: Parts) -> None:
    pair = Eclare(**settings(members=2, epochs=1)).fit(tiny.train)
    alone = Eclare(**settings(epochs=1)).fit(tiny.train)
    ours, other = pair.members_[0].weights.arrays(), alone.members_[0].weights.arrays()
    assert all(np.array_equal(ours[name], other[name]) for name in ours)


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
np.savez(sys.argv[3], labels=answer.labels, scores=answer.scores)
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
        assert (found["labels"] == answer.labels).all()
        assert (found["scores"] == answer.scores).all()
    assert "torch" in sys.modules


# --- awkward data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_below", [0, 2000])
@pytest.mark.parametrize("score", ["product", "learnt"])
@pytest.mark.parametrize("labels", [["x"], ["x", "y"], list("abcdefghij")])
def test_few_labels_and_ten_documents(labels: list[str], score: str, exact_below: int) -> None:
    texts = [f"about {labels[i % len(labels)]}" for i in range(10)]
    data = Dataset.from_texts(texts, [[labels[i % len(labels)]] for i in range(10)], {k: k for k in labels})
    model = Eclare(**settings(shortlist={"exact_below": exact_below}, score=score)).fit(data, valid=data)
    answer = model.predict([*texts, ""], k=3)
    assert np.isfinite(answer.scores).all()
    assert ((answer.labels >= 0).sum(axis=1) >= 1).all()


@pytest.mark.parametrize("exact_below", [0, 2000])
def test_labels_without_texts_are_learnt_from_their_documents(tiny: Parts, exact_below: int) -> None:
    names = tiny.train.labels.ids

    def nameless(part: Dataset) -> Dataset:
        tags = [[names[label] for label in part.Y[[row]].indices] for row in range(len(part))]
        return Dataset.from_texts(part.documents, tags, dict.fromkeys(names, ""))

    run = Run()
    model = Eclare(**settings(shortlist={"exact_below": exact_below}))
    model.fit(nameless(tiny.train), valid=nameless(tiny.valid), run=run)
    assert run.messages[0] == "40 labels have no text: the words of their documents stand in for it"
    assert model.evaluate(nameless(tiny.test)).figures["P@1"]["value"] > 80


def test_labels_that_partly_have_texts() -> None:
    data = small_set(24)
    partly = Dataset.from_texts(
        data.documents,
        [[data.labels.ids[label] for label in data.Y[[row]].indices] for row in range(len(data))],
        {label: label if i % 2 else "" for i, label in enumerate(data.labels.ids)},
    )
    run = Run()
    model = Eclare(**settings(epochs=15, shortlist={"exact_below": 2000})).fit(partly, run=run)
    assert run.messages[0].startswith("4 labels have no text")
    assert model.evaluate(partly).figures["P@1"]["value"] > 80


@pytest.mark.parametrize("valid", [[], [0], [1]])
def test_validation_data_that_say_nothing_are_no_obstacle(valid: list[int]) -> None:
    data = small_set(12)
    # Document 1 has no label, document 0 one that training does not have.
    held = Dataset.from_texts(["red apple", "nothing"], [["else"], []]).take(valid)
    model = Eclare(**settings(epochs=1)).fit(data, valid=held)
    assert (model.predict(["red"], k=2).labels >= 0).all()


def test_documents_that_are_labels_and_pairs_that_do_not_count(tiny: Parts) -> None:
    from dataclasses import replace

    from scipy.sparse import csr_array

    n, n_labels = tiny.valid.Y.shape
    filtered = csr_array(
        (np.ones(n, np.float32), (np.arange(n), np.arange(n) % n_labels)), shape=(n, n_labels)
    )
    valid = replace(tiny.valid, filtered=filtered)
    model = Eclare(**settings()).fit(tiny.train, valid=valid)
    assert model.evaluate(valid).figures["P@1"]["value"] > 80


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tiny: Parts, tmp_path: Path) -> None:
    def trained(name: str, **other: Any) -> dict[str, bytes]:
        Eclare(**settings(epochs=1, **other)).fit(tiny.train, valid=tiny.valid).save(tmp_path / name)
        return folder_bytes(tmp_path / name)

    first = trained("first")
    assert trained("again") == first
    other = trained("other", seed=1)
    assert other["member-0.safetensors"] != first["member-0.safetensors"]


def test_a_cold_label_is_found_by_its_text_and_has_a_bin_of_its_own(tiny: Parts) -> None:
    names, texts = tiny.train.labels.ids, tiny.train.labels.texts
    cold = next(i for i in range(39) if 5 <= tiny.train.label_counts[i] <= 15)
    has = np.asarray(tiny.train.Y[:, [cold]].todense()).ravel() > 0
    train = tiny.train.take(np.flatnonzero(~has))
    model = Eclare(**settings(epochs=6)).fit(train, valid=tiny.valid)
    assert model.label_counts_[cold] == 0
    answer = model.predict([texts[cold]], k=3)
    assert names[answer.labels[0, 0]] == names[cold]
    asked = tiny.train.take(np.flatnonzero(has))
    report = model.evaluate(asked)
    (row,) = [row for row in report.bins if row["name"] == "0"]
    assert row["assignments"] == int(asked.Y[:, [cold, 39]].sum())
    assert row["hits"] >= 0.8 * row["assignments"]
