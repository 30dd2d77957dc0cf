"""The loss of a batch of documents against a sample of the labels: which ones, and what their absence shifts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.losses.softmax import softmax
from longtail.systems.common.settings import Loss
from longtail.training.task import Batch

LOSSES = {"bce": bce, "grank": grank, "softmax": softmax}


@dataclass(frozen=True, slots=True)
class Question:
    """What a batch is asked: the labels in question, and which of them are right and wrong for each document.

    Shapes:
        columns int64 [m]; positive, negative bool [n, m]
    """

    columns: np.ndarray
    positive: torch.Tensor
    negative: torch.Tensor

    @property
    def labels(self) -> torch.Tensor:
        """The columns, to index tensors with."""
        return torch.from_numpy(self.columns)


class LabelLoss:
    """Draws the labels that a batch is scored against, and compares the scores with the right answers.

    Args:
        Y: documents x labels.
        loss: what is minimised.
        own: the label that each document is, or -1: never a wrong answer to learn from.
        hard: [documents, m] wrong labels that look right, -1 padded.
        few: how many of the hard ones a document and step.
        random: labels drawn at random a step.
        corrected: whether a negative counts as many times as it would without sampling.
        scope: batch: every label in the batch counts for every document; own: just the document's own hard ones.
        tail_weight: a positive label of n documents counts n ** -tail_weight.
        batch_size: documents a step.
    """

    def __init__(
        self,
        Y: csr_array,
        loss: Loss,
        *,
        own: np.ndarray | None = None,
        hard: np.ndarray | None = None,
        few: int = 0,
        random: int,
        corrected: bool,
        scope: Literal["batch", "own"] = "batch",
        tail_weight: float = 0.0,
        batch_size: int,
    ) -> None:
        self.Y, self.own, self.hard = Y, own, hard
        self.unasked: csr_array | None = None
        """Labels that a document is not asked for, right or wrong [documents, labels]."""
        self.few, self.random, self.scope = few, random, scope
        self.compare = LOSSES[loss]
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        # Each label is a question of its own in the cross entropy: sampling its negatives shifts the odds of the
        # positives as well.
        self.shifts_all = loss == "bce"
        chance = chance_in_batch(counts, Y.shape[0], batch_size, random)
        self.offset = torch.from_numpy(-np.log(chance)) if corrected else None
        weight = -tail_weight * np.log(np.maximum(counts, 1)).astype(np.float32)
        self.log_weight = torch.from_numpy(weight) if tail_weight else None

    def draw(self, batch: Batch, device: torch.device) -> Question:
        """The labels of the documents, hard ones and random ones."""
        Y = self.Y[batch.rows]
        hard = self._hard_negatives(batch)
        columns = self._columns(Y, hard, batch)
        positive, negative = self._groups(Y, hard, columns, batch.rows)
        return Question(columns, torch.from_numpy(positive).to(device), torch.from_numpy(negative).to(device))

    def __call__(self, scores: torch.Tensor, question: Question) -> torch.Tensor:
        """The mean loss of scores [n, m]."""
        if self.offset is not None:
            offset = self.offset[question.labels].to(scores.device)
            scores = scores + (offset if self.shifts_all else offset * question.negative)
        weight = None if self.log_weight is None else self.log_weight[question.labels].to(scores.device)
        return self.compare(scores, question.positive, question.negative, weight).mean()

    def _hard_negatives(self, batch: Batch) -> np.ndarray | None:
        """A few of each document's hard negatives [n, few], -1 padded."""
        if self.hard is None or not self.few:
            return None
        rows: np.ndarray = self.hard[batch.rows]
        if rows.shape[1] <= self.few:
            return rows
        chosen = np.random.default_rng(batch.seed).random(rows.shape).argpartition(self.few, axis=1)
        return np.take_along_axis(rows, chosen[:, : self.few], axis=1)

    def _columns(self, Y: csr_array, hard: np.ndarray | None, batch: Batch) -> np.ndarray:
        """The labels that are scored in this batch, each once."""
        width = Y.shape[1]
        used = np.zeros(width, bool)
        used[Y.indices] = True
        if hard is not None:
            used[hard[hard >= 0]] = True
        if self.random >= width:
            used[:] = True
        else:
            used[np.random.default_rng(batch.seed + 1).integers(0, width, self.random)] = True
        return np.flatnonzero(used)

    def _groups(
        self, Y: csr_array, hard: np.ndarray | None, columns: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which of the columns are right and which are wrong for each document [n, columns]."""
        place = np.full(Y.shape[1], -1)
        place[columns] = np.arange(len(columns))
        positive = np.zeros((len(rows), len(columns)), bool)
        positive[np.repeat(np.arange(len(rows)), np.diff(Y.indptr)), place[Y.indices]] = True
        if self.scope == "own" and hard is not None:
            negative = np.zeros_like(positive)
            documents, slots = np.nonzero(hard >= 0)
            negative[documents, place[hard[documents, slots]]] = True
            negative &= ~positive
        else:
            negative = ~positive
        if self.own is not None:
            own = self.own[rows]
            inside = np.flatnonzero((own >= 0) & (place[own] >= 0))
            negative[inside, place[own[inside]]] = False
        if self.unasked is not None:
            unasked = self.unasked[rows]
            document = np.repeat(np.arange(len(rows)), np.diff(unasked.indptr))
            column = place[unasked.indices]
            there = column >= 0
            for group in (positive, negative):
                group[document[there], column[there]] = False
        return positive, negative


def chance_in_batch(counts: np.ndarray, n_documents: int, batch_size: int, random: int) -> np.ndarray:
    """How likely each label is scored in a batch: as a positive of a document, or drawn at random."""
    width = len(counts)
    if random >= width:
        return np.ones(width, np.float32)
    absent = np.log1p(-np.minimum(counts / max(n_documents, 1), 0.999)) * batch_size
    absent += np.log1p(-1 / max(width, 2)) * random
    return np.asarray(np.maximum(-np.expm1(absent), 1e-6), np.float32)


def log_odds(Y: csr_array) -> float:
    """The logarithm of yes to no over all questions."""
    yes, all_ = max(Y.nnz, 1), Y.shape[0] * Y.shape[1]
    return float(np.log(yes / max(all_ - yes, 1)))
