"""A dual encoder: one transformer reads documents and label texts, and their cosine is the score.

Anchor      x = unit(mean of the last states of a document's tokens); v_l the same of the text of label l
Loss        InfoNCE: log(1 + sum over negatives j of exp((cos(x, v_j) - cos(x, v_l)) / temperature))
Positive    one label l of the document per step, rare labels a little more often
Negatives   labels of the batch, and hard negatives that are encoded with it; never a label that the document has,
            nor the one that it is itself
Memory      the same loss once more for all labels of the document against all others, where v_l is the last
            vector of a label that was read before, without gradients: many negatives that cost no encoding

A self pair has a label text for its anchor: it pushes other labels away from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.mean_encoder import MeanEncoder
from longtail.losses.info_nce import info_nce, log_sum
from longtail.losses.log_sum_of_products import log_sum_of_products
from longtail.run import Run
from longtail.text.subwords import TokenRows
from longtail.training.checkpoint import Checkpoints
from longtail.training.dual_encoder_config import DualEncoderConfig
from longtail.training.nearest_vectors import nearest_rows
from longtail.training.rows import RowTable
from longtail.training.task import Batch, Task
from longtail.training.trainer import train as run_stage

STAGE = "dual encoder"


@dataclass(frozen=True, slots=True, eq=False)
class TextPairs:
    """Documents and label texts.

    Attributes:
        documents: tokens of the documents.
        labels: tokens of the label texts.
        Y: documents x labels.
        self_label: the label that a document is itself, or -1: neither positive nor negative.
    """

    documents: TokenRows
    labels: TokenRows
    Y: csr_array
    self_label: np.ndarray


class PositiveSampler:
    """Draws one positive label per document.

    Args:
        Y: documents x labels, those that may be drawn.
        counts: training documents per label.
        rare: a label of n documents has the weight n ** -rare.
    """

    def __init__(self, Y: csr_array, counts: np.ndarray, rare: float) -> None:
        self.Y, self.log_weight = Y, -rare * np.log(np.maximum(counts, 1))

    def sample(self, rows: np.ndarray, seed: int) -> np.ndarray:
        """A label of each document, which all have one, int64 [n]."""
        Y = self.Y[rows]
        # The largest of Gumbel variables shifted by log weights is drawn with these weights.
        keys = self.log_weight[Y.indices] + np.random.default_rng(seed).gumbel(size=Y.nnz)
        best = np.maximum.reduceat(keys, Y.indptr[:-1])
        first = keys == np.repeat(best, np.diff(Y.indptr))
        return np.asarray(Y.indices[first], np.int64)


class DualTask(Task):
    """Documents, and after them the labels of self pairs, are what an epoch goes through."""

    def __init__(self, encoder: MeanEncoder, pairs: TextPairs, config: DualEncoderConfig) -> None:
        self.encoder, self.pairs, self.config = encoder, pairs, config
        self.module = encoder.transformer
        if config.frozen is not None:
            encoder.transformer.freeze(config.frozen)
        self.words = RowTable(encoder.transformer.words, frozen=config.frozen is not None)
        Y = pairs.Y
        n, self.n_labels = Y.shape
        counts = np.bincount(Y.indices, minlength=self.n_labels)
        named = encoder.readable(pairs.labels)
        self.sampler = PositiveSampler(_only(Y, named), counts, config.rare)
        self.known = with_own(Y, pairs.self_label)
        labelled = (np.diff(self.sampler.Y.indptr) > 0) & encoder.readable(pairs.documents)
        alone = self_pairs(config.self_pairs, named, counts, pairs.self_label)
        self.units = np.concatenate([np.flatnonzero(labelled), n + alone])
        self.n_documents = len(self.units)
        self.lengths = np.concatenate([pairs.documents.lengths, pairs.labels.lengths])[self.units]
        self.hard: np.ndarray | None = None
        self.memory = torch.zeros((self.n_labels if config.memory else 0, encoder.width))
        self.remembered = np.zeros(len(self.memory), bool)

    def tables(self) -> Mapping[str, RowTable]:
        """Word embeddings."""
        return {"words": self.words}

    def state(self) -> Mapping[str, np.ndarray]:
        """The memory."""
        return {"memory": self.memory.cpu().numpy(), "remembered": self.remembered}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the memory back."""
        self.memory, self.remembered = torch.from_numpy(state["memory"]), state["remembered"]

    def on_epoch_start(self, epoch: int) -> None:
        """Find hard negatives with the encoder as it is now."""
        self.memory = self.memory.to(self.device)
        if not self.config.hard or epoch == 0:
            return
        self.encoder.transformer.words = self.words.weight
        vectors = self.encoder(self.pairs.documents), self.encoder(self.pairs.labels)
        self.hard = hard_negatives(*vectors, self.known, self.config.hard_from)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean InfoNCE of documents and self pairs."""
        units, n = self.units[batch.rows], len(self.pairs.documents)
        documents, alone = units[units < n], units[units >= n] - n
        target = np.concatenate([self.sampler.sample(documents, batch.seed), alone])
        labels = np.unique(np.concatenate([target, self._drawn_hard(documents, batch.seed)]))
        x, v = self._encode(documents, labels)
        anchors = torch.cat([x, v[torch.from_numpy(np.searchsorted(labels, alone)).to(v.device)]])
        negative = _is_negative(_with_rows(self.known[documents], alone), labels)
        place = torch.from_numpy(np.searchsorted(labels, target)).to(v.device)
        scores = anchors @ v.T / self.config.temperature
        wanted = scores.gather(1, place[:, None])[:, 0]
        loss = info_nce(wanted, log_sum(scores, torch.from_numpy(negative).to(v.device))).sum()
        if len(self.memory):
            loss = loss + self.config.memory_weight * self._memory_loss(x, documents, batch.seed)
            self.memory[torch.from_numpy(labels).to(v.device)] = v.detach()
            self.remembered[labels] = True
        return loss / len(target)

    def _memory_loss(self, x: torch.Tensor, documents: np.ndarray, seed: int) -> torch.Tensor:
        """Of all labels of each document against all others, by their last vectors: the sum over documents.

        Fresh vectors are never compared with these: an encoder that merely moved on would have them apart.
        """
        columns = np.flatnonzero(self.remembered)
        if not len(columns):
            return x.sum() * 0
        if len(columns) > self.config.memory:
            rng = np.random.default_rng(seed + 2)
            columns = np.sort(rng.choice(columns, self.config.memory, replace=False))
        last = self.memory[torch.from_numpy(columns).to(x.device)]
        # Divided once for all of its products.
        x = x / self.config.temperature
        known = (torch.from_numpy(a).to(x.device) for a in _pairs(self.known[documents], columns))
        below = log_sum_of_products(x, last, *known)
        row, column = (torch.from_numpy(a).to(x.device) for a in _pairs(self.sampler.Y[documents], columns))
        each = info_nce((x[row] * last[column]).sum(dim=1), below[row])
        return (each / torch.bincount(row, minlength=len(documents)).clamp(min=1)[row]).sum()

    def _encode(self, documents: np.ndarray, labels: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Unit vectors of documents and of label texts, read together."""
        texts = self.pairs.documents.rows(documents).followed_by(self.pairs.labels.rows(labels))
        used = np.unique(np.append(texts.ids, texts.padding))
        table = self.words.take(used)

        def words(some: np.ndarray) -> torch.Tensor:
            return table[torch.from_numpy(np.searchsorted(used, some)).to(table.device)]

        vectors = self.encoder.learned(texts, words)
        return vectors[: len(documents)], vectors[len(documents) :]

    def _drawn_hard(self, documents: np.ndarray, seed: int) -> np.ndarray:
        """A few hard negatives of each document in one list."""
        if self.hard is None:
            return np.empty(0, np.int64)
        rows = self.hard[documents]
        chosen = np.random.default_rng(seed + 1).random(rows.shape).argsort(axis=1)[:, : self.config.hard]
        found = np.take_along_axis(rows, chosen, axis=1)
        return np.asarray(found[found >= 0], np.int64)


def train_encoder(
    encoder: MeanEncoder,
    pairs: TextPairs,
    config: DualEncoderConfig,
    *,
    seed: int,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> None:
    """Train the encoder in place; its weights end as a model folder keeps them."""
    task = DualTask(encoder, pairs, config)
    if not task.n_documents:
        run.say("no document has a label with a text: the encoder stays as it is")
    else:
        run_stage(task, config.train, stage=STAGE, seed=seed, run=run, checkpoints=checkpoints)
        encoder.transformer.words = task.words.weight
    encoder.transformer.round_weights()


def self_pairs(which: str, named: np.ndarray, counts: np.ndarray, self_label: np.ndarray) -> np.ndarray:
    """Labels whose text is a training document of its own label, int64, rising."""
    chosen = named & ((counts == 0) if which == "cold" else which == "all")
    chosen[self_label[self_label >= 0]] = False
    return np.flatnonzero(chosen)


def hard_negatives(documents: np.ndarray, labels: np.ndarray, known: csr_array, size: int) -> np.ndarray:
    """The labels nearest to each document that it does not have, int32 [n, size], -1 padded."""
    most = int(np.diff(known.indptr).max(initial=0))
    found, cosines = nearest_rows(documents, labels, size + most)
    # A label without text is a row of zeros.
    found[cosines == 0] = -1
    own = known.tocoo()
    pairs = np.sort(own.coords[0].astype(np.int64) * labels.shape[0] + own.coords[1])
    keys = np.arange(len(found))[:, None] * labels.shape[0] + found
    place = np.minimum(np.searchsorted(pairs, keys), max(len(pairs) - 1, 0))
    if len(pairs):
        found[pairs[place] == keys] = -1
    order = np.argsort(found < 0, axis=1, kind="stable")[:, :size]
    return np.asarray(np.take_along_axis(found, order, axis=1))


def _pairs(Y: csr_array, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the stored entries in these columns (rising), and the places of their columns."""
    place = np.minimum(np.searchsorted(columns, Y.indices), len(columns) - 1)
    there = columns[place] == Y.indices
    return np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[there], place[there]


def _is_negative(known: csr_array, columns: np.ndarray) -> np.ndarray:
    """Which of these columns (rising) an anchor does not have, bool [n, m]."""
    negative = np.ones((known.shape[0], len(columns)), bool)
    negative[_pairs(known, columns)] = False
    return negative


def _only(Y: csr_array, columns: np.ndarray) -> csr_array:
    """The entries in these columns, bool [L]."""
    # A copy: zeros are removed in place, and a matrix of the same index arrays would change with it.
    kept = Y.copy()
    kept.data = columns[Y.indices].astype(np.float32)
    kept.eliminate_zeros()
    return kept


def with_own(Y: csr_array, self_label: np.ndarray) -> csr_array:
    """Y with the label that a document is itself."""
    rows = np.flatnonzero(self_label >= 0)
    own = csr_array((np.ones(len(rows), np.float32), (rows, self_label[rows])), shape=Y.shape)
    both = csr_array(Y + own)
    both.sort_indices()
    return both


def _with_rows(known: csr_array, labels: np.ndarray) -> csr_array:
    """Further rows of one label each."""
    indptr = np.concatenate([known.indptr, known.indptr[-1] + 1 + np.arange(len(labels))])
    indices = np.concatenate([known.indices, labels])
    shape = (known.shape[0] + len(labels), known.shape[1])
    return csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=shape)
