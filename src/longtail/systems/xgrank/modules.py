"""The steps of X-GRank's training, one function each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.transformer import Transformer
from longtail.run import Run
from longtail.systems.common.label_clusters import label_clusters
from longtail.systems.common.rows import Rows
from longtail.systems.common.validation import Held, figures
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors, bags_of, rarity
from longtail.systems.xgrank.member import Member, Reader, Vectors
from longtail.systems.xgrank.network import Network
from longtail.systems.xgrank.task import Corpus, Learn
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from longtail.training.checkpoint import Checkpoints
from longtail.training.trainer import train as run_stage
from longtail.types import Dataset

WATCHED = 1500
"""Validation documents that are looked at after an epoch at most: the encoder reads each of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What all steps share."""

    config: XgrankConfig
    train: Dataset
    rows: Rows
    run: Run
    checkpoints: Checkpoints | None = None

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.rows.Y.shape[1])

    @property
    def texts(self) -> list[str]:
        """Of the training documents."""
        return self.train.documents.joined(self.config.fields)


def label_bags(
    course: Course, subwords: Subwords, documents: TokenRows
) -> tuple[csr_array | None, np.ndarray | None]:
    """Label texts as bags of the encoder's tokens [L, vocabulary], and the rarity that weighs tokens.

    Args:
        documents: tokens of the training documents, without special ones.
    """
    texts = [text or "" for text in course.train.labels.texts]
    if not course.config.labels.text or not any(texts):
        return None, None
    tokens = subwords(texts, special=False)
    idf = None
    if course.config.labels.weights == "tfidf":
        idf = rarity(documents, subwords.size)
    return bags_of(tokens, subwords.size, idf), idf


def learn(course: Course, number: int, name: str, held: Held | None, held_texts: list[str]) -> Member:
    """One model: an encoder and a clustering, learnt end to end.

    Args:
        number: of the model in the ensemble, which its clusters and its start depend on.
        name: of the encoder.
    """
    config, rows = course.config, course.rows
    seed = config.seed + number
    folder = EncoderFolder.of(name)
    subwords = Subwords(folder, config.encoder.tokens)
    with course.run.phase("tokens"):
        texts = course.texts
        plain, tokens = subwords(texts, special=False), subwords(texts)
        Z, idf = label_bags(course, subwords, plain)
        bags = bags_of(plain, subwords.size, idf) if Z is not None and config.labels.bag else None
    size = config.clusters.size_for(course.n_labels)
    codes = np.zeros(course.n_labels, np.int64)
    if size > 1:
        with course.run.phase("clusters"):
            codes = label_clusters(rows.X, rows.Y, rows.Z, size, seed)
    corpus = Corpus(tokens, bags, rows.Y, rows.own, codes)
    counts = np.bincount(rows.Y.indices, minlength=course.n_labels)
    trust = trust_of(counts, Z, config.labels.shrink)
    labels = LabelVectors(Z, trust, config.labels.width, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(
            Transformer.of(folder, dropout=config.encoder.dropout),
            layers=config.encoder.layers,
            clusters=corpus.n_clusters if corpus.n_clusters > 1 else 0,
            width=labels.total,
            dropout=config.encoder.pooled_dropout,
        )
    some, some_texts = _watched(held, held_texts, config.seed)

    def fold() -> Member:
        reader = Reader(network, subwords, idf, None if bags is None else _table(labels))
        return Member(reader, Vectors.of(network, labels.folded(), codes))

    def validation() -> dict[str, float] | None:
        if some is None:
            return None
        member = fold()
        return figures(member.reader(some_texts).document, member.vectors.labels, some)

    task = Learn(network, labels, corpus, config, validation, course.run)
    stage = "train" if number == 0 else f"train {number + 1}"
    run_stage(task, config.train, stage=stage, seed=seed, run=course.run, checkpoints=course.checkpoints)
    network.encoder.words = task.words.weight
    if task.unranked:
        course.run.say(f"{task.unranked} documents have no label: nothing was learnt from them")
    return fold()


def trust_of(counts: np.ndarray, Z: csr_array | None, shrink: float) -> np.ndarray:
    """How much the identities of labels with so many documents count [L]; all of it where there is no text."""
    if Z is None or not shrink:
        return np.ones(len(counts))
    return np.where(np.diff(Z.indptr) == 0, 1.0, counts / (counts + shrink))


def _table(labels: LabelVectors) -> np.ndarray:
    assert labels.tokens is not None
    return np.asarray(labels.tokens.weight.cpu().numpy())


def _watched(held: Held | None, texts: list[str], seed: int) -> tuple[Held | None, list[str]]:
    if held is None:
        return None, []
    chosen = held.sample_rows(WATCHED, seed)
    return replace(held, linear=None).rows(chosen), [texts[i] for i in chosen]
