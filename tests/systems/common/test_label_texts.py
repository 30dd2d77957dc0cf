"""Label texts: what is searched, what new labels leave alone, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import ModelIntegrityError
from longtail.shortlist.lexical import LexicalIndex
from longtail.storage import read_arrays, write_arrays
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.eclare.system import Eclare
from tests.systems.eclare.test_weights import (
    Change,
    as_floats,
    as_numbers,
    below,
    falling,
    infinite,
    shorter,
    size_of,
)


def rows_of(n: int, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    return csr_array(np.where(rng.random((n, 9)) < 0.5, rng.random((n, 9)), 0).astype(np.float32))


def test_new_labels_push_no_other_out(tmp_path: Path) -> None:
    X, old, new = rows_of(20, 0), rows_of(8, 1), rows_of(5, 2)
    texts = LabelTexts(old, 8)
    before = texts.top(X, 3)
    first = LexicalIndex(old).top(X, 3)
    assert (before.ids == first.ids).all()
    assert (before.scores == first.scores).all()
    after = texts.extended(new[:2]).extended(new[2:])
    found = after.top(X, 3).to_csr(13).toarray()
    assert (found[:, :8] == before.to_csr(8).toarray()).all()
    likeness = (X @ new.T).toarray()
    np.testing.assert_allclose(found[:, 8:], likeness, rtol=1e-5)
    np.testing.assert_allclose(
        after.match(X, after.top(X, 3)).to_csr(13).toarray()[:, 8:], likeness, rtol=1e-5
    )
    write_arrays(tmp_path / "texts", after.arrays())
    again = LabelTexts.load(tmp_path / "texts", n_tokens=9, n_labels=13)
    assert again.trained == 8
    assert (again.top(X, 3).to_csr(13).toarray() == found).all()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indptr", shorter),
        ("indptr", falling),
        ("indptr", below),
        ("indices", shorter),
        ("indices", below),
        ("data", shorter),
        ("data", infinite),
        ("indices", as_floats),
        ("indptr", as_floats),
        ("data", as_numbers),
        ("trained", below),
        ("trained", as_floats),
        ("trained", shorter),
    ],
)
def test_label_texts_that_do_not_fit_are_refused(
    saved: Path, clustered: Eclare, tmp_path: Path, name: str, change: Change
) -> None:
    arrays = {key: np.array(value) for key, value in read_arrays(saved / "label-texts.safetensors").items()}
    arrays[name] = change(arrays[name])
    write_arrays(tmp_path / "texts", arrays)
    with pytest.raises(ModelIntegrityError, match="texts has not the label texts of this model"):
        LabelTexts.load(tmp_path / "texts", **size_of(clustered))


def test_label_texts_of_another_vocabulary_are_refused(saved: Path, clustered: Eclare) -> None:
    with pytest.raises(ModelIntegrityError, match="has not the label texts"):
        LabelTexts.load(saved / "label-texts.safetensors", n_tokens=3, n_labels=40)
    with pytest.raises(ModelIntegrityError, match="has not the arrays of label texts"):
        LabelTexts.load(saved / "label_counts.safetensors", n_tokens=3, n_labels=40)
