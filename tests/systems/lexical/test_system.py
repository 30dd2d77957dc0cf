"""What is particular to the lexical matcher; what all systems share is in tests/contract."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import longtail
from longtail.data import read_labels
from longtail.errors import ModelIntegrityError, UsageError
from longtail.run import Run
from longtail.systems.lexical.system import Lexical
from longtail.types import Dataset, LabelSet, TopK
from tests.planted import Parts
from tests.systems.damage import change_json, refused

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<u:bee> a skos:Concept ; skos:prefLabel "bee"@en ; skos:altLabel "apis mellifera"@en, "honey maker"@en .
<u:wasp> a skos:Concept ; skos:prefLabel "wasp"@en .
"""


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


def test_a_label_file_is_enough(tmp_path: Path) -> None:
    (tmp_path / "subjects.ttl").write_text(TURTLE)
    labels = read_labels(tmp_path / "subjects.ttl")
    run = Run()
    model = Lexical().fit(Dataset.from_labels(labels), run=run)
    assert run.messages == []
    assert model.facts_.documents == 0
    answer = model.predict(["Apis mellifera, of Europe", "wasps and a wasp", "unheard of"], k=2)
    assert [labels.ids[label] for label in answer.indices[:2, 0]] == ["u:bee", "u:wasp"]
    assert (answer.indices[2] == -1).all()
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert again.labels_.extra == labels.extra
    assert same(model.predict(["honey maker"]), again.predict(["honey maker"]))
    test = Dataset.from_texts(["a bee"], [["u:bee"]])
    assert again.evaluate(test).metrics["P@1"]["value"] == 100


def test_documents_without_labels_give_the_weights_of_words(tiny: Parts) -> None:
    texts = ["the bee", "the wasp", "the bear"]
    data = Dataset.from_texts(texts, [[], [], []], {"b": "the bee", "t": "the the"})
    model = Lexical(text={"kind": "word"}).fit(data)
    assert model.predict(["the"], k=1).indices[0, 0] == 1
    # Rare words weigh more.
    assert model.predict(["the bee"], k=2).indices[0].tolist() == [0, 1]


def test_a_label_without_a_name_is_never_predicted() -> None:
    run = Run()
    data = Dataset.from_texts(["red apple", "red pear"], [["r"], ["r", "p"]], {"p": "pear"})
    model = Lexical().fit(data, run=run)
    assert run.messages == ["labels without a name, which are never predicted: 1"]
    assert model.predict(["red apple pear"], k=3).indices.tolist() == [[0, -1, -1]]


def test_no_label_text_at_all_is_one_error() -> None:
    with pytest.raises(UsageError, match="no label has a text"):
        Lexical().fit(Dataset.from_texts(["red apple"], [["r"]]))


def parted(data: Dataset) -> tuple[LabelSet, dict[str, str]]:
    """The first 30 labels, and the texts of the others."""
    ids, texts = data.labels.ids, data.labels.texts
    return LabelSet(ids[:30], texts[:30]), dict(zip(ids[30:], texts[30:], strict=True))


def test_labels_join_after_training(tiny: Parts, tmp_path: Path) -> None:
    old, new = parted(tiny.train)
    documents = replace(tiny.train, labels=old, Y=tiny.train.Y[:, :30])
    model = Lexical().fit(documents)
    before = model.predict(tiny.test, k=30).to_csr(30).toarray()
    model.add_labels(new)
    after = model.predict(tiny.test, k=40)
    assert (after.to_csr(40).toarray()[:, :30] == before).all()
    assert (after.indices >= 30).any()
    assert model.label_counts_[30:].tolist() == [0] * 10
    model.save(tmp_path / "model")
    assert same(longtail.load(tmp_path / "model").predict(tiny.test, k=40), after)


def test_labels_that_join_without_documents_bring_their_words(tiny: Parts, tmp_path: Path) -> None:
    old, new = parted(tiny.train)
    Lexical().fit(Dataset.from_labels(old)).save(tmp_path / "model")
    grown = longtail.load(tmp_path / "model").add_labels(new)
    assert (grown.predict(tiny.test, k=40).indices >= 30).any()
    # As if they had been there from the beginning.
    whole = Lexical().fit(Dataset.from_labels(tiny.train.labels))
    assert same(grown.predict(tiny.test, k=40), whole.predict(tiny.test, k=40))


def test_a_new_label_that_has_only_examples_is_taken_without_a_name(tiny: Parts) -> None:
    model = Lexical().fit(tiny.train)
    model.add_labels(["new"], examples=Dataset.from_texts(["a"], [["new"]]))
    assert len(model.labels_) == 41
    assert 40 not in model.predict(tiny.test, k=41).indices


def test_a_vocabulary_that_is_not_the_models_is_refused(tiny: Parts, tmp_path: Path) -> None:
    Lexical().fit(tiny.train).save(tmp_path / "model")
    change_json(tmp_path / "model" / "lexical.json", lambda found: found.update(features="0" * 16))
    assert "the text features '0000000000000000' are missing" in refused(
        tmp_path / "model", ModelIntegrityError
    )


def test_candidates_come_with_their_feature(tiny: Parts) -> None:
    model = Lexical().fit(tiny.train)
    found = model.candidates(tiny.test, k=5)
    assert found.names == ("text_match",)
    assert np.allclose(found.features[:, 0], found.candidates.scores)
