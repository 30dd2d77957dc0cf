"""Labels and documents after training, through those members that can take them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UnsupportedError, UsageError
from longtail.systems.ensemble.reranker import frequency_groups
from longtail.systems.ensemble.system import Ensemble
from longtail.systems.linear.system import LinearTree
from longtail.types import Dataset, Document
from tests.planted import Parts
from tests.systems.ensemble.worlds import ECLARE, GALAXC, LINEAR, same

NEW = {"new": "brandnew unheardof", "newer": "neverseen"}


def fitted(parts: Parts, members: str) -> Ensemble:
    tables = {"linear": LINEAR, "eclare": ECLARE, "galaxc": GALAXC}
    settings = {name: tables[name] for name in members.split(",") if name in tables}
    return Ensemble(members=members, **settings).fit(parts.train, valid=parts.valid)


def reloaded(ensemble: Ensemble, place: Path) -> Ensemble:
    ensemble.save(place)
    return Ensemble.load(place)


def test_new_labels_are_found_by_members_that_can_take_them(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "linear,lexical")
    before = ensemble.predict(parts.test)
    text = f"{parts.train.labels.texts[30]} and more"
    ensemble.add_labels({"new": text})
    every = ensemble.candidates(parts.test, k=100).candidates
    assert ensemble.labels_.ids[40:] == ["new"]
    assert len(ensemble.label_counts_) == 41
    assert [len(m.system.labels_) for m in ensemble.members_] == [40, 41]
    assert 40 in ensemble.predict([text], k=2).indices
    after = ensemble.predict(parts.test)
    assert same(reloaded(ensemble, tmp_path / "model").predict(parts.test), after)
    # Where no member proposes the new label, the scores of all others are what they were.
    proposed = np.unique(every.rows[every.ids == 40])
    others = np.setdiff1d(np.arange(len(parts.test)), proposed)
    assert len(others) > 50
    assert (after.indices[others] == before.indices[others]).all()
    assert (after.scores[others] == before.scores[others]).all()


def test_a_saved_ensemble_has_its_new_labels(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "dummy,lexical")
    ensemble.add_labels({"new": parts.train.labels.texts[3]}).add_labels(
        {"newer": parts.train.labels.texts[4]}
    )
    again = reloaded(ensemble, tmp_path / "model")
    assert again.labels_.ids[40:] == ["new", "newer"]
    assert [len(m.system.labels_) for m in again.members_] == [40, 42]
    assert (again.group_ == ensemble.group_).all()
    assert same(again.predict(parts.test), ensemble.predict(parts.test))
    # The same again after another one.
    for model in (ensemble, again):
        model.add_labels({"newest": parts.train.labels.texts[5]})
    assert same(again.predict(parts.test), ensemble.predict(parts.test))


@pytest.mark.parametrize("members", ["dummy,lexical", "galaxc,lexical", "lexical,eclare"])
def test_members_that_cannot_take_labels_never_see_them(parts: Parts, members: str) -> None:
    ensemble = fitted(parts, members)
    # A label that lexical puts first.
    text = parts.train.labels.texts[0]
    ensemble.add_labels({"new": text})
    top = ensemble.predict([text, *parts.test.documents.joined()], k=5)
    assert np.isfinite(top.scores).all()
    assert 40 in top.indices[0]
    # Nor are they revealed to these.
    warm = ensemble.predict([text, text], k=5, revealed=[["new"], ["new", "label-1"]])
    assert 40 not in warm.indices


def test_examples_count_for_members_that_learn_from_them(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "linear,knn")
    text = parts.test.documents.joined()[0]
    ids = [f"example-{i}" for i in range(15)]
    examples = Dataset.from_texts([text] * 15, [["new"]] * 15)
    examples = replace(examples, documents=replace(examples.documents, ids=ids))
    ensemble.add_labels(["new"], examples=examples)
    assert ensemble.label_counts_[40] == 15
    assert (ensemble.group_ == frequency_groups(ensemble.label_counts_)).all()
    assert ensemble.members_[1].system.facts_.documents == len(parts.train) + 15
    assert 40 in ensemble.predict([text], k=5).indices
    again = reloaded(ensemble, tmp_path / "model")
    assert same(again.predict(parts.test), ensemble.predict(parts.test))


def test_the_models_of_a_combined_ensemble_stay_as_they_are(parts: Parts) -> None:
    models = [LinearTree(**LINEAR).fit(parts.train), fitted(parts, "lexical").members_[0].system]
    ensemble = Ensemble.combine(models, parts.valid)
    smaller = ensemble.with_members(["lexical"])
    smaller.add_labels(NEW)
    assert len(smaller.labels_) == 42
    assert len(ensemble.labels_) == len(models[1].labels_) == 40
    assert len(ensemble.members_[1].system.labels_) == 40
    ensemble.predict(parts.test)


def test_what_cannot_be_added_is_refused_and_changes_nothing(parts: Parts) -> None:
    with pytest.raises(UnsupportedError, match="'ensemble' cannot take labels after training"):
        fitted(parts, "linear,dummy").add_labels(NEW)
    ensemble = fitted(parts, "lexical,knn")
    before = ensemble.predict(parts.test)
    with pytest.raises(UsageError, match="has the label 'label-3' already"):
        ensemble.add_labels({"fine": "fine", "label-3": "x"})
    with pytest.raises(UsageError, match="neither a text nor an example"):
        ensemble.add_labels({"fine": "fine", "empty": ""})
    # lexical takes it, knn does not: a document of that id is there.
    twice = Dataset.from_texts(["new thing"], [["new"]])
    twice = Dataset(parts.train.documents[5:6], twice.labels, twice.Y)
    with pytest.raises(UsageError, match="already"):
        ensemble.add_labels({"new": "new thing"}, examples=twice)
    assert len(ensemble.labels_) == 40
    assert {len(m.system.labels_) for m in ensemble.members_} == {40}
    assert same(ensemble.predict(parts.test), before)
    assert ensemble.add_labels({}) is ensemble


# --- documents --------------------------------------------------------------------------------------------


def test_documents_are_added_to_and_removed_from_members_that_can(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "linear,knn")
    before = ensemble.predict(parts.test)
    more = parts.valid.take(range(20))
    ensemble.add_documents(more)
    assert [m.system.facts_.documents for m in ensemble.members_] == [len(parts.train), len(parts.train) + 20]
    assert ensemble.facts_.documents == len(parts.train) + 20
    assert (ensemble.label_counts_ == parts.train.label_counts + more.label_counts).all()
    added = ensemble.predict(parts.test)
    assert not same(before, added)
    assert same(reloaded(ensemble, tmp_path / "added").predict(parts.test), added)
    ensemble.remove_documents(more.documents.ids)
    assert (ensemble.label_counts_ == parts.train.label_counts).all()
    assert [m.system.facts_.documents for m in ensemble.members_] == [len(parts.train)] * 2
    assert same(ensemble.predict(parts.test), before)
    assert same(reloaded(ensemble, tmp_path / "removed").predict(parts.test), before)


def test_documents_bring_new_labels(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "linear,knn")
    text = parts.test.documents.joined()[0]
    ensemble.add_documents(Dataset.from_texts([text] * 15, [["new"]] * 15))
    assert ensemble.labels_.ids[40:] == ["new"]
    assert len(ensemble.group_) == 41
    assert 40 in ensemble.predict([text], k=5).indices
    again = reloaded(ensemble, tmp_path / "model")
    assert same(again.predict([text]), ensemble.predict([text]))


def test_members_without_documents_refuse_them(parts: Parts) -> None:
    ensemble = fitted(parts, "linear,lexical")
    with pytest.raises(UnsupportedError, match="cannot take or forget documents after training"):
        ensemble.add_documents(parts.valid)
    with pytest.raises(UnsupportedError, match="cannot take or forget documents after training"):
        ensemble.remove_documents(["document-3"])
    knn = fitted(parts, "knn")
    with pytest.raises(UsageError, match="the model has no document 'nobody'"):
        knn.remove_documents(["document-3", "nobody"])
    assert knn.facts_.documents == len(parts.train)


def test_a_document_that_came_after_training_counts_for_texts_like_it(parts: Parts, tmp_path: Path) -> None:
    ensemble = fitted(parts, "linear,knn")
    text, other = (f"{parts.train.labels.texts[n]} {parts.train.labels.texts[n + 1]}" for n in (3, 20))
    wrong = [label for label, _ in ensemble.predict([text], k=40)[0]][-1]
    before = ensemble.predict([other])
    ensemble.add_documents(Dataset.from_texts([Document("later", text=text)], [[wrong]]))
    best, score = ensemble.predict([text], k=1)[0][0]
    assert best == wrong
    assert score > 0.5
    assert same(ensemble.predict([other]), before)
    made = ensemble.explain(text, wrong).to_dict()["labels"][0]
    assert "a document with this label that came after training (cosine 1.00)" in made["note"]
    assert "came after" not in ensemble.explain(other, k=1).to_dict()["labels"][0]["note"]
    again = reloaded(ensemble, tmp_path / "model")
    assert same(again.predict([text]), ensemble.predict([text]))
    again.remove_documents(["later"])
    assert again.predict([text], k=1)[0][0][0] != wrong
