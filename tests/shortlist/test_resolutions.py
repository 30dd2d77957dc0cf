"""Documents at several resolutions against numpy, against the layers that were folded, and alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longtail import threads
from longtail.blocks.hop_attention import hop_scores, hop_weights
from longtail.blocks.hop_transform import HopTransform
from longtail.errors import UsageError
from longtail.shortlist.candidates import Candidates
from longtail.shortlist.resolutions import attended, transformed

N, K, D, LABELS = 50, 3, 37, 60
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, K, D)).astype(np.float32)
MATRICES = (RNG.normal(size=(K, D, D)) / np.sqrt(D)).astype(np.float32)
SHIFTS = RNG.normal(size=(K, D)).astype(np.float32)
CLASSIFIERS = (RNG.normal(size=(LABELS, D)) / np.sqrt(D)).astype(np.float32)
LOGITS = RNG.normal(size=(LABELS, K)).astype(np.float32)
ATTENTION = hop_weights(torch.from_numpy(LOGITS)).numpy()
SOME = Candidates.from_dense(RNG.random((N, LABELS)), 9)


# --- transformations ------------------------------------------------------------------------------------------


def test_an_exact_case() -> None:
    x = np.array([[[1, 2], [3, -4]]], np.float32)
    matrices = np.array([[[0, 1], [-1, 0]], [[2, 0], [0, 2]]], np.float32)
    shifts = np.array([[1, 0], [0, 9]], np.float32)
    # relu(2 + 1, -1), relu(6, -8 + 9)
    assert transformed(x, matrices, shifts).tolist() == [[[4, 2], [9, -3]]]


def test_a_residual_layer_for_each_resolution() -> None:
    found = transformed(X, MATRICES, SHIFTS)
    expected = X + np.maximum(np.einsum("kij,nkj->nki", MATRICES, X) + SHIFTS, 0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("norm", [True, False])
def test_what_a_transformation_folds_to(norm: bool) -> None:
    torch.manual_seed(0)
    block = HopTransform(D, K, norm=norm)
    for _ in range(5):
        block(2 * torch.randn((16, K, D)) + 1)
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        expected = block.eval()(torch.from_numpy(X)).numpy()
    matrices, shifts = (part.numpy() for part in block.exported())
    np.testing.assert_allclose(transformed(X, matrices, shifts), expected, atol=1e-5)


def test_what_comes_in_stays_as_it_is() -> None:
    before = X.copy()
    turned = np.ascontiguousarray(X.transpose(1, 0, 2)).transpose(1, 0, 2)
    assert (transformed(turned, MATRICES, SHIFTS) == transformed(X, MATRICES, SHIFTS)).all()
    assert (before == X).all()


# --- attention ------------------------------------------------------------------------------------------------


def test_an_exact_score() -> None:
    x = np.array([[[1, 0], [0, 1]]], np.float32)
    candidates = Candidates.from_padded(np.array([[0, 2]]), np.zeros((1, 2)))
    classifiers = np.array([[1, 2], [9, 9], [4, 8]], np.float32)
    attention = np.array([[1, 0], [0.5, 0.5], [0.25, 0.75]], np.float32)
    # 2 (1 * 1), 2 (4 / 4 + 8 * 3 / 4)
    assert attended(x, candidates, classifiers, attention).scores.tolist() == [2, 14]


def test_each_label_weighs_the_resolutions() -> None:
    found = attended(X, SOME, CLASSIFIERS, ATTENTION)
    assert found.scores.dtype == np.float32
    assert (found.ids == SOME.ids).all()
    dense = K * np.einsum("lk,nkd,ld->nl", ATTENTION, X, CLASSIFIERS)
    np.testing.assert_allclose(found.scores, dense[SOME.rows, SOME.ids], atol=1e-5)
    parts = (torch.from_numpy(part) for part in (X, CLASSIFIERS, LOGITS))
    block = K * hop_scores(*parts).numpy()
    np.testing.assert_allclose(found.scores, block[SOME.rows, SOME.ids], atol=1e-5)


def test_no_candidates() -> None:
    nothing = Candidates.from_padded(np.full((N, 2), -1), np.zeros((N, 2)))
    assert len(attended(X, nothing, CLASSIFIERS, ATTENTION).ids) == 0
    nobody = Candidates.from_padded(np.zeros((0, 2), np.int32), np.zeros((0, 2)))
    assert len(attended(X[:0], nobody, CLASSIFIERS, ATTENTION)) == 0
    assert transformed(X[:0], MATRICES, SHIFTS).shape == (0, K, D)


# --- bits -----------------------------------------------------------------------------------------------------


def test_each_document_is_the_same_alone() -> None:
    together, scored = transformed(X, MATRICES, SHIFTS), attended(X, SOME, CLASSIFIERS, ATTENTION)
    for i in range(N):
        assert (transformed(X[[i]], MATRICES, SHIFTS)[0] == together[i]).all()
        alone = attended(X[[i]], SOME.take(i, i + 1), CLASSIFIERS, ATTENTION)
        assert (alone.scores == scored.take(i, i + 1).scores).all()


@given(st.lists(st.integers(0, N - 1), min_size=1, max_size=40), st.sampled_from([1, 2]))
def test_bits_do_not_depend_on_the_company(rows: list[int], n_threads: int) -> None:
    with threads.limit(n_threads):
        assert (transformed(X[rows], MATRICES, SHIFTS) == transformed(X, MATRICES, SHIFTS)[rows]).all()
        chosen = Candidates.stack([SOME.take(i, i + 1) for i in rows])
        found = attended(X[rows], chosen, CLASSIFIERS, ATTENTION).scores
    everyone = attended(X, SOME, CLASSIFIERS, ATTENTION)
    assert (found == np.concatenate([everyone.take(i, i + 1).scores for i in rows])).all()


# --- misfits --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "matrices", "shifts"),
    [
        (X[:, :2], MATRICES, SHIFTS),
        (X[:, :, :5], MATRICES, SHIFTS),
        (X, MATRICES[:2], SHIFTS),
        (X, MATRICES[:, :, :5], SHIFTS),
        (X, MATRICES, SHIFTS[:2]),
        (X[0], MATRICES, SHIFTS),
        (X[0], MATRICES[0], SHIFTS[0]),
    ],
)
def test_weights_that_do_not_fit_are_refused(x: np.ndarray, matrices: np.ndarray, shifts: np.ndarray) -> None:
    with pytest.raises(UsageError, match="do not fit"):
        transformed(x, matrices, shifts)


@pytest.mark.parametrize(
    ("x", "classifiers", "attention"),
    [
        (X[:3], CLASSIFIERS, ATTENTION),
        (X[:, :2], CLASSIFIERS, ATTENTION),
        (X, CLASSIFIERS[:, :5], ATTENTION),
        (X, CLASSIFIERS, ATTENTION[:, :2]),
        # A label that has a classifier and no attention, and a candidate that is no label.
        (X, CLASSIFIERS, ATTENTION[:59]),
        (X, CLASSIFIERS[:5], ATTENTION[:5]),
    ],
)
def test_candidates_that_do_not_fit_are_refused(
    x: np.ndarray, classifiers: np.ndarray, attention: np.ndarray
) -> None:
    with pytest.raises(UsageError, match="do not fit"):
        attended(x, SOME, classifiers, attention)
