"""Learns the weights of a fusion from documents that were not trained on."""

from __future__ import annotations

import numpy as np
import torch

from longtail.losses.softmax import softmax
from longtail.metrics.propensity import inverse_propensity
from longtail.metrics.topk import hits
from longtail.shortlist.candidates import Candidates
from longtail.systems.eclare.fusion import BINS, EVIDENCE, Fusion, groups_of
from longtail.systems.eclare.validation import Held

ROUNDS = 100
RATE = 0.15
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
        return Fusion.untaught(held.train_counts)
    ids, known, right, wrong = ids[useful], known[useful], right[useful], wrong[useful]
    group = groups_of(held.train_counts)
    scale = np.sqrt((known[ids >= 0] ** 2).mean(axis=0)) + 1e-6
    # What is the same for all tells nothing apart: rounding alone would make weights of it.
    known[..., np.ptp(known[ids >= 0], axis=0) <= 1e-5 * scale] = 0
    q = inverse_propensity(held.train_counts, held.n_train).astype(np.float32) ** balance
    q /= q[ids[right]].mean()

    groups = torch.from_numpy(group[ids].astype(np.int64))
    x = torch.from_numpy(known / scale)
    positive = torch.from_numpy(right)
    negative = torch.from_numpy(wrong)
    log_weight = torch.from_numpy(np.log(q[ids]))
    shared = torch.tensor([1.0] + [0.0] * (len(EVIDENCE) - 1), requires_grad=True)
    apart = torch.zeros((len(BINS) + 1, len(EVIDENCE)), requires_grad=True)
    start = torch.zeros(len(BINS) + 1, requires_grad=True)
    optimiser = torch.optim.Adam([shared, apart, start], lr=RATE)
    for _ in range(ROUNDS):
        optimiser.zero_grad()
        scores = (x * (shared + apart)[groups]).sum(dim=2) + start[groups]
        loss = softmax(scores, positive, negative, log_weight).mean()
        loss = loss + SHRINK * (apart.square().sum() + start.square().sum())
        torch.autograd.backward(loss)
        optimiser.step()
    weights = (shared + apart).detach().numpy() / scale
    return Fusion(weights.astype(np.float32), start.detach().numpy().astype(np.float32), group)
