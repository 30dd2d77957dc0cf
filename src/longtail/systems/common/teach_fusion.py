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

ROUNDS = 100
RATE = 0.15
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
    scale = np.sqrt((known[ids >= 0] ** 2).mean(axis=0)) + 1e-6
    # What is the same for all tells nothing apart: rounding alone would make weights of it.
    known[..., np.ptp(known[ids >= 0], axis=0) <= 1e-5 * scale] = 0
    q = inverse_propensity(held.train_counts, held.n_train).astype(np.float32) ** balance
    q /= q[ids[right]].mean()

    log_weight = np.log(q[ids])

    def descend(chosen: np.ndarray) -> Fusion:
        """Weights from some candidates of each document [documents, few] alone."""
        pick = np.take_along_axis
        return _descend(
            pick(known, chosen[:, :, None], axis=1) / scale,
            group[pick(ids, chosen, axis=1)].astype(np.int64),
            pick(right, chosen, axis=1),
            pick(wrong, chosen, axis=1),
            pick(log_weight, chosen, axis=1),
            scale,
            group,
        )

    if width <= FEW:
        return descend(np.tile(np.arange(width), (len(ids), 1)))
    # Most wrong candidates are far from the top whatever the weights: a first guess from any of them tells which
    # ones to learn from.
    rng = np.random.default_rng(0)
    guess = descend(_first(right, rng.random(ids.shape), wrong))
    scores = (known * guess.weights[group[ids]]).sum(axis=2) + guess.start[group[ids]]
    return descend(_first(right, scores, wrong))


def _first(right: np.ndarray, scores: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """All right candidates (up to ``FEW``) and the wrong ones of highest score, by place [documents, FEW]."""
    order = np.where(right, np.inf, np.where(wrong, scores, -np.inf))
    return np.argpartition(-order, FEW - 1, axis=1)[:, :FEW]


def _descend(
    known: np.ndarray,
    groups: np.ndarray,
    right: np.ndarray,
    wrong: np.ndarray,
    log_weight: np.ndarray,
    scale: np.ndarray,
    group: np.ndarray,
) -> Fusion:
    """Gradient descent over candidates that are all at hand [documents, few]."""
    x, places = torch.from_numpy(known), torch.from_numpy(groups)
    positive, negative = torch.from_numpy(right), torch.from_numpy(wrong)
    weigh = torch.from_numpy(log_weight)
    kinds = known.shape[2]
    shared = torch.tensor([1.0] + [0.0] * (kinds - 1), requires_grad=True)
    apart = torch.zeros((len(BINS) + 1, kinds), requires_grad=True)
    start = torch.zeros(len(BINS) + 1, requires_grad=True)
    optimiser = torch.optim.Adam([shared, apart, start], lr=RATE)
    for _ in range(ROUNDS):
        optimiser.zero_grad()
        scores = (x * (shared + apart)[places]).sum(dim=2) + start[places]
        loss = softmax(scores, positive, negative, weigh).mean()
        loss = loss + SHRINK * (apart.square().sum() + start.square().sum())
        torch.autograd.backward(loss)
        optimiser.step()
    weights = (shared + apart).detach().numpy() / scale
    return Fusion(weights.astype(np.float32), start.detach().numpy().astype(np.float32), group)
