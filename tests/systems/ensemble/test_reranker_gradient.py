"""The gradient of the re-ranker's kernel against small steps of a plain loss, and against torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from longtail.losses.softmax import softmax
from longtail.systems.ensemble.reranker import N_GROUPS
from longtail.systems.ensemble.reranker_fit import SHRINKAGE, Examples, _descend, _Linear

FEATURES = 4
PARTS = ("shared", "deviation", "bias")


def examples_of(seed: int = 0, n: int = 9) -> Examples:
    """Documents with uneven numbers of candidates; some have no candidate, no positive, no negative or neither."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 7, n)
    counts[2] = 0
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = int(indptr[-1])
    kind = rng.integers(0, 3, entries)
    rows = np.repeat(np.arange(n), counts)
    kind[indptr[:-1][counts > 0]], kind[indptr[:-1][counts > 0] + 1] = 0, 1
    kind[rows == 0] = 1
    kind[rows == 1] = 0
    kind[rows == 3] = 2
    return Examples(
        indptr,
        rng.standard_normal((entries, FEATURES)).astype(np.float32),
        rng.integers(0, N_GROUPS, entries),
        kind == 0,
        kind == 1,
        rng.uniform(0.5, 3, entries).astype(np.float32),
        np.zeros(FEATURES),
        np.ones(FEATURES),
    )


def model_of(seed: int = 1) -> _Linear:
    model = _Linear(FEATURES)
    rng = np.random.default_rng(seed)
    model.vector[:] = rng.standard_normal(len(model.vector))
    return model


def plain_loss(examples: Examples, documents: np.ndarray, part: Callable[[str], np.ndarray]) -> float:
    """The mean loss of some documents with the penalty, as the module says it."""
    weights = part("shared") + part("deviation")
    total = 0.0
    for i in documents:
        scores, positives, negatives = [], [], []
        for p in range(examples.indptr[i], examples.indptr[i + 1]):
            g, x = examples.group[p], examples.x[p].astype(np.float64)
            s = part("bias")[g] + weights[g] @ x
            if examples.positive[p]:
                positives.append((s, examples.weight[p]))
            elif examples.negative[p]:
                negatives.append(s)
            scores.append(s)
        if positives:
            each = [v * np.log1p(sum(np.exp(n - s) for n in negatives)) for s, v in positives]
            total += sum(each) / len(positives)
    penalty = SHRINKAGE * ((part("deviation") ** 2).sum() + (part("bias") ** 2).sum())
    return float(total / len(documents) + penalty)


@pytest.mark.parametrize("documents", [np.arange(9), np.array([7, 4, 0]), np.array([5])])
def test_it_is_the_slope_of_the_plain_loss(documents: np.ndarray) -> None:
    examples, model = examples_of(), model_of()
    vector = model.vector.astype(np.float64)

    def loss(at: np.ndarray) -> float:
        return plain_loss(examples, documents, lambda name: model.view(at, name))

    step = 1e-5
    expected = np.empty(len(vector))
    for place in range(len(vector)):
        moved = vector.copy()
        moved[place] += step
        above = loss(moved)
        moved[place] -= 2 * step
        expected[place] = (above - loss(moved)) / (2 * step)
    found = model.gradient(examples, documents)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=2e-5, rtol=2e-4)


def torch_loss(examples: Examples, documents: np.ndarray, parts: dict[str, torch.Tensor]) -> torch.Tensor:
    """The same in torch, over tables [documents, widest] that are padded with entries that do not count."""
    widest = max(examples.widest, 1)
    counts = np.diff(examples.indptr)
    place = np.arange(len(examples.group)) - np.repeat(examples.indptr[:-1], counts)

    def padded(values: np.ndarray) -> torch.Tensor:
        out = np.zeros((len(counts), widest, *values.shape[1:]), values.dtype)
        out[examples.rows, place] = values
        return torch.from_numpy(out[documents])

    x, group = padded(examples.x.astype(np.float64)), padded(examples.group)
    scores = (x * (parts["shared"] + parts["deviation"])[group]).sum(dim=2) + parts["bias"][group]
    log_weight = padded(np.log(examples.weight.astype(np.float64)))
    each = softmax(scores, padded(examples.positive), padded(examples.negative), log_weight)
    return each.mean() + SHRINKAGE * (parts["deviation"].square().sum() + parts["bias"].square().sum())


def tensors(model: _Linear) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(model[name].astype(np.float64)).requires_grad_() for name in PARTS}


@pytest.mark.parametrize("seed", range(3))
def test_it_is_that_of_the_softmax_loss_in_torch(seed: int) -> None:
    examples, model = examples_of(seed, 30), model_of(seed)
    documents = np.random.default_rng(seed).permutation(30)[:20]
    parts = tensors(model)
    gradients = torch.autograd.grad(torch_loss(examples, documents, parts), list(parts.values()))
    found = model.gradient(examples, documents)
    for name, gradient in zip(PARTS, gradients, strict=True):
        np.testing.assert_allclose(model.view(found, name), gradient.numpy(), atol=2e-5, rtol=2e-4)


def test_large_scores_do_not_overflow() -> None:
    examples, model = examples_of(), model_of()
    for scale in (1e3, 1e6):
        model["shared"][:] = scale
        assert np.isfinite(model.gradient(examples, np.arange(9))).all()


def test_descent_is_that_of_adam_in_torch() -> None:
    examples = examples_of(0, 40)
    fitted = _descend(examples)
    model = _Linear(FEATURES)
    parts = tensors(model)
    optimiser = torch.optim.Adam(list(parts.values()), lr=0.15)
    useful = np.unique(examples.rows[examples.positive])
    first = float(torch_loss(examples, useful, parts).detach())
    for _ in range(100):
        optimiser.zero_grad()
        torch.autograd.backward(torch_loss(examples, useful, parts))
        optimiser.step()
    last = float(torch_loss(examples, useful, parts).detach())
    reached = float(torch_loss(examples, useful, tensors(fitted)).detach())
    assert last < first - 0.1
    assert abs(reached - last) < 1e-3
    for name in ("shared", "bias"):
        np.testing.assert_allclose(fitted[name], parts[name].detach().numpy(), atol=0.02)
