"""Training: the encoder on pairs of texts, label vectors on its vectors, weights on validation documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.mean_encoder import MeanEncoder
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.dual.config import DualConfig
from longtail.systems.dual.model import LabelVectorTask
from longtail.systems.dual.predict import EncodedTexts, LabelVectors, Predictor, Voters
from longtail.systems.dual.weights import DEFAULT_VOTES, Weights, fit
from longtail.text.feature_store import FeatureStore
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.dual_encoder import TextPairs, train_encoder, with_own
from longtail.training.fingerprint import fingerprint
from longtail.training.matrices import positives, self_labels
from longtail.training.runtime import torch_threads
from longtail.training.trainer import train as run_stage
from longtail.training.validation import ValidationSet, metrics_of_products, scored_pairs
from longtail.types import Dataset

VALIDATED = 3000
"""Validation documents that are read at most."""
NO_TEXT = "no label has a text: the system 'dual' compares documents with the texts of labels"


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """Validation documents as unit vectors."""

    vectors: np.ndarray
    truth: ValidationSet

    def metrics(self, labels: np.ndarray) -> dict[str, float]:
        """Of label vectors [L, D]."""
        return metrics_of_products(self.vectors, labels, self.truth)


def train(
    train: Dataset, valid: Dataset | None, config: DualConfig, run: Run, store: FeatureStore
) -> Predictor:
    """Train the encoder, then label vectors, then choose the weights of the score."""
    if valid is not None and not len(valid):
        valid = None
    checkpoints = open_for(run, fingerprint(train, valid, config))
    encoder = MeanEncoder.of(config.encoder.name, config.encoder.tokens, dropout=config.encoder.dropout)
    with run.phase("tokens"):
        labels = encoder.subwords([text or "" for text in train.labels.texts])
        documents = store.tokens(encoder.subwords, config.fields)
    named = encoder.readable(labels)
    if not named.any():
        raise UsageError(NO_TEXT)
    if not named.all():
        run.say(f"labels without text: {int((~named).sum()):,} (they have a learned vector alone)")
    pairs = TextPairs(documents, labels, positives(train), self_labels(train))
    if config.encoder.tune and pairs.Y.nnz:
        train_encoder(encoder, pairs, config.encoder, seed=config.seed, run=run, checkpoints=checkpoints)
    encoder.transformer.round_weights()
    with run.phase("vectors", total=len(documents) + len(labels)) as phase, torch_threads():
        X, text = encoder(documents, phase.advance), encoder(labels, phase.advance)
    watched = None if valid is None else watch(encoder, valid, pairs.Y, config, len(train))
    learned = text
    if config.labels.learned and pairs.Y.nnz:
        learned = label_vectors(X, text, pairs, config, watched, run, checkpoints)
    voters = Voters.of(X, pairs.Y) if config.votes.neighbours else None
    start = Weights(
        label=float(config.labels.learned), votes=DEFAULT_VOTES if config.votes.neighbours else 0.0
    )
    made = Predictor(encoder, LabelVectors(text, learned), voters, start, config.votes)
    if watched is None:
        return made
    with run.phase("weights"):
        return weighted(made, watched, run)


def watch(encoder: MeanEncoder, valid: Dataset, Y: csr_array, config: DualConfig, n_train: int) -> Watched:
    """A sample of the validation documents, encoded."""
    truth, unscored = scored_pairs(valid, Y.shape[1])
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    whole = ValidationSet(csr_array(np.zeros((len(valid), 0), np.float32)), truth, unscored, counts, n_train)
    rows = whole.sample_rows(VALIDATED, config.seed)
    tokens = FeatureStore(valid.documents.take(rows)).tokens(encoder.subwords, config.fields)
    with torch_threads():
        return Watched(encoder(tokens), whole.take(rows))


def label_vectors(
    X: np.ndarray,
    text: np.ndarray,
    pairs: TextPairs,
    config: DualConfig,
    watched: Watched | None,
    run: Run,
    checkpoints: Checkpoints | None,
) -> np.ndarray:
    """Learned vectors of all labels [L, D]; those without documents have that of their text."""

    def metrics(vectors: np.ndarray) -> dict[str, float] | None:
        return None if watched is None else watched.metrics(vectors)

    known = with_own(pairs.Y, pairs.self_label)
    task = LabelVectorTask(X, text, pairs.Y, known, pairs.self_label, config.labels, metrics)
    run_stage(
        task, config.labels.train, stage="label vectors", seed=config.seed, run=run, checkpoints=checkpoints
    )
    return task.vectors()


def weighted(made: Predictor, watched: Watched, run: Run) -> Predictor:
    """The predictor with the weights that rank validation documents best."""
    encoded = EncodedTexts(made, watched.vectors)
    # Each part proposes labels, so that every weight finds its best ones among them.
    gathered = encoded.gathered(100)
    for alone in (Weights(cosine=1, label=0), Weights(cosine=0, label=1)):
        part = Predictor(made.encoder, made.labels, None, alone, made.config)
        gathered = gathered.union(part.search.top(watched.vectors, 50))
    weights = fit(made.weights, gathered, encoded.parts(gathered), watched.truth)
    run.say(
        f"weights of the score: text cosine {weights.cosine:g}, label vector {weights.label:g}, "
        f"votes {weights.votes:g}"
    )
    return Predictor(made.encoder, made.labels, made.voters, weights, made.config)
