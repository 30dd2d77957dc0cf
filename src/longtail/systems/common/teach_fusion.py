"""Learns the weights of a fusion from documents that were not trained on."""

from __future__ import annotations

import numpy as np
import torch

from longtail.losses.softmax import softmax
from longtail.metrics.propensity import inverse_propensity
from longtail.metrics.topk import hits
from longtail.shortlist.candidates import Candidates
from longtail.systems.common.fusion import BINS, Fusion, groups_of
from longtail.systems.common.validation import Held

ROUNDS, RATE = 100, 0.15
"""Of the weights alone."""
BENDS, ENOUGH = 16, 500
"""Bends of the score, where there are so many documents to learn them from; fewer teach weights alone."""
BATCH = 512
SHORT, LONG, MANY_RIGHT = (400, 0.01), (800, 0.02), 10_000
"""Rounds and rate of weights and bends together: a long lesson where there are so many right candidates to learn
from, which a short one does not use up; few would be learnt by heart."""
FEW = 128
"""Candidates of a document that the weights are learnt from at most."""
SHRINK = 1e-3
"""Pull of a group's weights to those of all labels: small groups should not go their own way."""


def teach(
    candidates: Candidates,
    evidence: np.ndarray,
    held: Held,
    balance: float,
) -> Fusion:
    """Weights by gradient descent on a softmax loss over each document's candidates.

    Args:
        evidence: what is known of each candidate; the first kind is the one that descent begins with.
        balance: 0: every right label counts alike (precision); 1: by its inverse propensity (rare labels).

    Shapes:
        evidence [entries, kinds]
    """
    width = int(candidates.counts.max(initial=1))
    place = (
        candidates.rows,
        np.arange(len(candidates.ids)) - np.repeat(candidates.indptr[:-1], candidates.counts),
    )
    ids = np.full((len(candidates), width), -1)
    ids[place] = candidates.ids
    known = np.zeros((len(candidates), width, evidence.shape[1]), np.float32)
    known[place] = evidence
    right = hits(ids, held.Y)
    wrong = ~right & (ids >= 0)
    if held.left_out is not None:
        wrong &= ~hits(ids, held.left_out)
    useful = right.any(axis=1)
    if not useful.any():
        return Fusion.untaught(held.train_counts, evidence.shape[1])
    ids, known, right, wrong = ids[useful], known[useful], right[useful], wrong[useful]
    group = groups_of(held.train_counts)
    mean, scale = known[ids >= 0].mean(axis=0), known[ids >= 0].std(axis=0) + 1e-6
    # What is the same for all tells nothing apart: rounding alone would make weights of it.
    silent = np.ptp(known[ids >= 0], axis=0) <= 1e-5 * (np.abs(mean) + scale)
    known, scale = (known - mean) / scale, np.where(silent, np.inf, scale)
    known[..., silent] = 0
    q = inverse_propensity(held.train_counts, held.n_train).astype(np.float32) ** balance
    q /= q[ids[right]].mean()

    log_weight = np.log(q[ids])

    def descend(chosen: np.ndarray, bends: int) -> _Score:
        """The score from some candidates of each document [documents, few] alone."""
        pick = np.take_along_axis
        parts = (
            pick(known, chosen[:, :, None], axis=1),
            group[pick(ids, chosen, axis=1)].astype(np.int64),
            pick(right, chosen, axis=1),
            pick(wrong, chosen, axis=1),
            pick(log_weight, chosen, axis=1),
        )
        return _descend(bends, *(torch.from_numpy(part) for part in parts))

    bends = BENDS if len(ids) >= ENOUGH else 0
    chosen = np.tile(np.arange(width), (len(ids), 1))
    if width > FEW:
        # Most wrong candidates are far from the top whatever the weights: a first guess from any of them tells
        # which ones to learn from.
        guess = descend(_first(right, np.random.default_rng(0).random(ids.shape), wrong), 0)
        with torch.inference_mode():
            scores = guess(torch.from_numpy(known), torch.from_numpy(group[ids].astype(np.int64))).numpy()
        chosen = _first(right, _some_lifted(scores), wrong) if bends else _first(right, scores, wrong)
    return descend(chosen, bends).folded(mean, scale, group)


def _first(right: np.ndarray, scores: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """All right candidates (up to ``FEW``) and the wrong ones of highest score, by place [documents, FEW]."""
    order = np.where(right, np.inf, np.where(wrong, scores, -np.inf))
    return np.argpartition(-order, FEW - 1, axis=1)[:, :FEW]


def _some_lifted(scores: np.ndarray) -> np.ndarray:
    """Scores with a random share above all others: bends must know of easy candidates too, not to lift them."""
    lifted = np.random.default_rng(1).random(scores.shape) < FEW / 2 / scores.shape[1]
    return np.where(lifted, scores.max() + 1, scores)


class _Score(torch.nn.Module):
    """What a :class:`Fusion` computes, as torch learns it: weights of all labels, and what groups add to them."""

    def __init__(self, kinds: int, bends: int) -> None:
        super().__init__()
        groups, fixed = len(BINS) + 1, torch.Generator().manual_seed(0)
        self.shared = torch.nn.Parameter(torch.eye(1, kinds)[0])
        self.apart = torch.nn.Parameter(torch.zeros(groups, kinds))
        self.start = torch.nn.Parameter(torch.zeros(groups))
        self.inner = torch.nn.Parameter(torch.randn((kinds, bends), generator=fixed) / kinds**0.5)
        self.inner_start = torch.nn.Parameter(torch.randn((groups, bends), generator=fixed) / 2)
        self.factors = torch.nn.Parameter(torch.zeros(bends))

    def forward(self, x: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
        """Scores of candidates [documents, few] with evidence x [documents, few, kinds]."""
        score = (x * (self.shared + self.apart)[group]).sum(dim=2) + self.start[group]
        if not len(self.factors):
            return score
        bent = torch.nn.functional.softsign(x @ self.inner + self.inner_start[group])
        return score + bent @ self.factors

    def pull(self) -> torch.Tensor:
        """How far groups are apart."""
        return SHRINK * (self.apart.square().sum() + self.start.square().sum())

    def folded(self, mean: np.ndarray, scale: np.ndarray, group: np.ndarray) -> Fusion:
        """For evidence as it is, not as it was learnt from: less its mean, by its scale."""
        shared, apart, start, inner, inner_start, factors = (
            p.detach().numpy().astype(np.float64) for p in self.parameters()
        )
        weights = (shared + apart) / scale
        columns = [weights]
        for bend, factor in enumerate(factors):
            own = np.tile(inner[:, bend] / scale, (len(start), 1))
            columns += [own, (inner_start[:, bend] - own @ mean)[:, None], np.full((len(start), 1), factor)]
        start = start - weights @ mean
        return Fusion(np.hstack(columns).astype(np.float32), start.astype(np.float32), group)


def _descend(
    bends: int,
    x: torch.Tensor,
    group: torch.Tensor,
    positive: torch.Tensor,
    negative: torch.Tensor,
    log_weight: torch.Tensor,
) -> _Score:
    """Gradient descent over candidates that are all at hand [documents, few]."""
    score = _Score(x.shape[2], bends)
    rounds, rate = (LONG if positive.sum() >= MANY_RIGHT else SHORT) if bends else (ROUNDS, RATE)
    optimiser = torch.optim.Adam(score.parameters(), lr=rate)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, rounds)
    fixed = torch.Generator().manual_seed(0)
    for _ in range(rounds):
        some = torch.randperm(len(x), generator=fixed)[:BATCH] if bends else slice(None)
        optimiser.zero_grad()
        scores = score(x[some], group[some])
        loss = softmax(scores, positive[some], negative[some], log_weight[some]).mean() + score.pull()
        torch.autograd.backward(loss)
        optimiser.step()
        if bends:
            slower.step()
    return score
