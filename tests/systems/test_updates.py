"""Documents that are added to a trained model or removed from it: what is checked, what is counted."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import NotFittedError, UnsupportedError, UsageError
from longtail.systems.dummy import Dummy
from longtail.systems.knn.system import Knn
from longtail.types import Dataset, Documents
from tests.planted import Parts


@pytest.fixture
def model(tiny: Parts) -> Knn:
    return Knn().fit(tiny.train)


def test_a_system_that_cannot_says_so(tiny: Parts) -> None:
    dummy = Dummy().fit(tiny.train)
    with pytest.raises(UnsupportedError, match="'dummy' cannot take or forget documents"):
        dummy.add_documents(tiny.valid)
    with pytest.raises(UnsupportedError, match="'dummy' cannot take or forget documents"):
        dummy.remove_documents(["document-0"])
    with pytest.raises(UnsupportedError, match="'dummy' cannot take labels"):
        dummy.add_labels({"new": "new"})


def test_an_untrained_system_says_so(tiny: Parts) -> None:
    with pytest.raises(NotFittedError):
        Knn().add_documents(tiny.valid)
    with pytest.raises(NotFittedError):
        Knn().remove_documents(["document-0"])


def test_what_is_no_data_set_is_refused(model: Knn) -> None:
    with pytest.raises(UsageError, match="add_documents takes a Dataset, not a list"):
        model.add_documents(cast(Dataset, ["a text"]))
    matrix = Dataset.from_matrix(np.ones((1, 3)), np.ones((1, 1)))
    with pytest.raises(UsageError, match="trained on texts"):
        model.add_documents(matrix)
    wrong = Dataset.from_texts(["a"], csr_array(np.array([[-1.0]])))
    with pytest.raises(UsageError, match="negative"):
        model.add_documents(wrong)


def test_nothing_changes_nothing(model: Knn, tiny: Parts) -> None:
    facts = model.facts_
    assert model.add_documents(tiny.valid.take([])) is model
    assert model.remove_documents([]) is model
    assert model.facts_ == facts


def test_facts_and_counts_follow(model: Knn, tiny: Parts) -> None:
    facts = model.facts_
    assert model.add_documents(tiny.valid) is model
    assert model.facts_.documents == facts.documents + len(tiny.valid)
    assert model.label_counts_.tolist() == (tiny.train.label_counts + tiny.valid.label_counts).tolist()
    assert model.facts_.fingerprint != facts.fingerprint
    assert len(model.facts_.fingerprint) == 64
    model.remove_documents(tiny.valid.documents.ids)
    assert model.facts_.documents == facts.documents
    assert model.label_counts_.tolist() == tiny.train.label_counts.tolist()
    # Another history, although the documents are those of the beginning.
    assert model.facts_.fingerprint != facts.fingerprint


def test_one_id_is_a_string(model: Knn) -> None:
    before = model.facts_.documents
    assert model.remove_documents("document-7").facts_.documents == before - 1
    with pytest.raises(UsageError, match="has no document 'document-7'"):
        model.remove_documents("document-7")


def test_a_failure_leaves_the_model_as_it_was(model: Knn, tiny: Parts) -> None:
    facts, counts = model.facts_, model.label_counts_.copy()
    documents = Documents(["new", "document-3"], ["", ""], ["a", "b"])
    with pytest.raises(UsageError, match="has a document 'document-3' already"):
        model.add_documents(Dataset.from_texts(documents, [["label-1"], ["brand new"]]))
    assert model.facts_ == facts
    assert (model.label_counts_ == counts).all()
    assert len(model.labels_) == 40
    assert "new" not in model.training_.ids


def test_labels_that_no_added_document_has_are_not_taken(model: Knn) -> None:
    documents = Documents(["x"], [""], ["a text"])
    model.add_documents(Dataset.from_texts(documents, [["used"]], {"unused": "u", "used": "a name"}))
    assert model.labels_.ids[40:] == ["used"]
    assert model.labels_.texts[40:] == ["a name"]
