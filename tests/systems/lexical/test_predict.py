"""Scores and features: the best name of a label counts, whoever proposed it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.storage import write_arrays
from longtail.systems.lexical.predict import LexicalDocuments, NameRows
from longtail.text.tfidf import TfidfFeatures

NAMES = [["honey bee", "bee"], [], ["wasp"], ["apple pie", "pie", "cake"]]
TEXTS = ["a bee and a wasp", "pie", "", "nothing known"]


@pytest.fixture
def features() -> TfidfFeatures:
    return TfidfFeatures().fit(["a bee", "honey", "wasp", "apple pie", "and cake"])


@pytest.fixture
def rows(features: TfidfFeatures) -> NameRows:
    return NameRows.of(features, NAMES)


def documents(features: TfidfFeatures, rows: NameRows, exact_below: int = 100) -> LexicalDocuments:
    return LexicalDocuments(rows.index(features.n_columns, exact_below), features.transform(TEXTS))


def expected(features: TfidfFeatures) -> np.ndarray:
    """The best cosine over the names of each label."""
    X = features.transform(TEXTS)
    cosines = [[(X @ features.transform([name]).T).toarray()[:, 0] for name in own] for own in NAMES]
    return np.stack([np.max(own, axis=0) if own else np.zeros(len(TEXTS)) for own in cosines], axis=1)


def test_a_label_has_the_cosine_of_its_best_name(features: TfidfFeatures, rows: NameRows) -> None:
    found = documents(features, rows).shortlist(4)
    assert np.allclose(found.to_csr(4).toarray(), expected(features), atol=1e-3)
    assert found.scores.max() <= 1
    assert (found.scores > 0).all()
    assert 1 not in found.ids


def test_from_so_many_names_on_the_search_is_not_exact(features: TfidfFeatures, rows: NameRows) -> None:
    names = len(rows.indptr) - 1
    exact, other = documents(features, rows, names + 1), documents(features, rows, names)
    assert exact.index.exact
    assert not other.index.exact
    # So few entries are all read.
    assert np.allclose(other.shortlist(4).to_csr(4).toarray(), expected(features), atol=1e-3)


def test_features_of_any_candidates(features: TfidfFeatures, rows: NameRows) -> None:
    everything = Candidates.from_dense(np.zeros((4, 4), np.float32), 4)
    found = documents(features, rows).features(everything)
    assert found.shape == (16, 1)
    assert found.dtype == np.float32
    assert np.allclose(found.reshape(4, 4), expected(features), atol=1e-3)


def test_scores_do_not_depend_on_the_size_of_the_shortlist(features: TfidfFeatures, rows: NameRows) -> None:
    all_of_them, one = documents(features, rows).shortlist(9), documents(features, rows).shortlist(1)
    assert (all_of_them.best(1).scores == one.scores).all()
    assert (all_of_them.best(1).ids == one.ids).all()


def test_a_document_without_a_known_word_is_not_readable(features: TfidfFeatures, rows: NameRows) -> None:
    found = documents(features, rows)
    assert found.readable.tolist() == [True, True, False, False]
    assert (found.top_k(2).indices[2:] == -1).all()


def test_new_labels_change_no_score_of_the_others(features: TfidfFeatures, rows: NameRows) -> None:
    more = rows.extended(NameRows.of(features, [["honey"], []]))
    before, after = documents(features, rows).shortlist(9), documents(features, more).shortlist(9)
    assert (after.to_csr(6).toarray()[:, :4] == before.to_csr(4).toarray()).all()
    whole = NameRows.of(features, [*NAMES, ["honey"], []])
    assert all((value == getattr(more, name)).all() for name, value in whole.arrays().items())


def test_what_is_saved_is_loaded(features: TfidfFeatures, rows: NameRows, tmp_path: Path) -> None:
    rows.save(tmp_path / "names")
    again = NameRows.load(tmp_path / "names", labels=4, terms=features.n_columns)
    assert all((value == getattr(again, name)).all() for name, value in rows.arrays().items())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("label_ptr", lambda found: found[:-1]),
        ("label_ptr", lambda found: found[::-1].copy()),
        ("label_ptr", lambda found: found.astype(np.float64)),
        ("indptr", lambda found: found[:-1]),
        ("indptr", lambda found: found - 1),
        ("indices", lambda found: found[1:]),
        ("indices", lambda found: found - 9),
        ("indices", lambda found: found + 9),
        ("data", lambda found: found[1:]),
        ("data", lambda found: found * np.float32(np.inf)),
        ("data", lambda found: -found),
    ],
)
def test_names_that_do_not_fit_are_refused(
    features: TfidfFeatures,
    rows: NameRows,
    tmp_path: Path,
    name: str,
    change: Callable[[np.ndarray], np.ndarray],
) -> None:
    write_arrays(tmp_path / "names", {**rows.arrays(), name: change(rows.arrays()[name])})
    with pytest.raises(ModelIntegrityError, match="names: "):
        NameRows.load(tmp_path / "names", labels=4, terms=features.n_columns)


def test_names_of_another_model_are_refused(rows: NameRows, tmp_path: Path) -> None:
    rows.save(tmp_path / "names")
    with pytest.raises(ModelIntegrityError, match="label_ptr is"):
        NameRows.load(tmp_path / "names", labels=5, terms=20)
    with pytest.raises(ModelIntegrityError, match="indices must be from 0 to 2"):
        NameRows.load(tmp_path / "names", labels=4, terms=3)
