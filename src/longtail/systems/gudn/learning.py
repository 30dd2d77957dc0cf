"""The course of GUDN's training, top to bottom as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.sparse import csr_array

from longtail.blocks.transformer import Transformer
from longtail.run import Run
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.common.fusion import groups_of
from longtail.systems.common.holding_out import ENOUGH_TO_HOLD_OUT, TAUGHT_BY, held_documents, held_out
from longtail.systems.common.label_clusters import label_clusters
from longtail.systems.common.label_loss import log_odds
from longtail.systems.common.label_texts import LabelTexts
from longtail.systems.common.rows import Rows
from longtail.systems.common.teach_fusion import teach
from longtail.systems.common.validation import Held, figures
from longtail.systems.common.witness import Witness
from longtail.systems.gudn.config import GudnConfig
from longtail.systems.gudn.folded import Folded, Others, queries
from longtail.systems.gudn.label_inputs import LabelSentences
from longtail.systems.gudn.network import Network
from longtail.systems.gudn.reader import Reader
from longtail.systems.gudn.semantics import WEAK, meaningful
from longtail.systems.gudn.task import Corpus, Learn, Tables
from longtail.systems.gudn.weights import EVIDENCE, Weights
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.text.tfidf import TfidfFeatures
from longtail.training.checkpoint import Checkpoints, open_for
from longtail.training.surroundings import torch_threads
from longtail.training.trainer import train as run_stage
from longtail.types import Dataset

WATCHED = 1500
"""Validation documents that are looked at after an epoch at most: the encoder reads each of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """All that a model keeps."""

    reader: Reader
    folded: Folded
    features: TfidfFeatures | None
    texts: LabelTexts | None
    witness: Witness | None
    meaningful: np.ndarray


def learn(train: Dataset, valid: Dataset | None, config: GudnConfig, run: Run) -> Trained:
    """Tokens, clusters where there are many labels, the network, then everything folded into matrices."""
    checkpoints = open_for(run, fingerprint(train, valid, config))
    if valid is None and config.score == "learnt" and len(train) >= ENOUGH_TO_HOLD_OUT:
        train, valid = held_out(train, config.seed)
        run.say(f"no validation data: {len(valid)} training documents were held out to learn the score from")
    with run.phase("features"):
        # Bags of words are for clusters and alike texts alone: labels without a text are nothing to speak of.
        rows = Rows.of(train, config.text, config.fields, Run())
        means = meaningful(train.labels, train.documents.joined(config.fields))
    if config.guide.on and config.guide.labels == "text" and means.mean() < WEAK:
        run.say(
            f"only {100 * means.mean():.0f} % of the labels have a name with a word of the documents: the guide "
            "can learn little from them, and another system may do better"
        )
    held, texts, witness = None, [""], None
    if valid is not None:
        texts = valid.documents.joined(config.fields)
        if config.linear and config.score == "learnt":
            witness = Witness.learn(train, config, run)
        held = held_documents(valid, rows, config.fields, witness)
    reader, weights = guided(train, rows, config, run, checkpoints, held, texts)
    folded = Folded(weights, config)
    label_texts = None
    if config.score == "learnt" and held is not None:
        with run.phase("fusion"), torch_threads():
            if config.lexical and train.labels.has_text:
                label_texts = LabelTexts(_named(rows, train), rows.Y.shape[1])
            folded = taught(reader, folded, label_texts, held, texts)
    features = None if label_texts is None else rows.features
    return Trained(reader, folded, features, label_texts, witness, means)


def guided(
    train: Dataset,
    rows: Rows,
    config: GudnConfig,
    run: Run,
    checkpoints: Checkpoints | None,
    held: Held | None,
    held_texts: list[str],
) -> tuple[Reader, Weights]:
    """The encoder and the ranking classifier, learnt under the guide; the guide is left behind."""
    folder = EncoderFolder.of(config.encoder.name)
    subwords = Subwords(folder, config.encoder.tokens)
    with run.phase("tokens"):
        tokens = subwords(train.documents.joined(config.fields))
        sentences = _sentences(train, rows, subwords, config, run)
    codes = None
    if rows.Y.shape[1] > config.clusters.above:
        with run.phase("clusters"):
            codes = label_clusters(rows.X, rows.Y, rows.Z, config.clusters.size, config.seed)
    corpus = Corpus(tokens, sentences, rows.Y, rows.own, codes)
    on = config.guide.on and (sentences is not None or config.guide.labels == "one-hot")
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = Network(
            Transformer.of(folder, dropout=config.encoder.dropout),
            layers=config.encoder.layers,
            clusters=corpus.n_clusters,
            width=config.width,
            dropout=config.encoder.feature_dropout,
            own_link=on and config.guide.link and not config.guide.share_classifier,
        )
    # Most answers are no: what cross entropy would have to learn first.
    start = log_odds(rows.Y) if config.loss == "bce" else 0.0
    if network.retrieve is not None and config.loss == "bce":
        many = rows.Y.shape[1] / corpus.n_clusters
        torch.nn.init.constant_(network.retrieve.bias, start + float(np.log(many)))
    tables = Tables.of(network, config, rows.Y, guided=on, start=start)
    reader = Reader(network.encoder, subwords, config.encoder.layers)

    def fold() -> Weights:
        return _weights(network, tables, corpus)

    watched, watched_texts = _watched(held, held_texts, config.seed)

    def validation() -> dict[str, float] | None:
        if watched is None:
            return None
        weights = fold()
        return figures(queries(weights, reader(watched_texts)[0]), weights.labels, watched)

    task = Learn(network, tables, corpus, config, validation, run)
    run_stage(task, config.train, stage="train", seed=config.seed, run=run, checkpoints=checkpoints)
    network.encoder.words = task.words.weight
    if task.spread.first:
        epochs = ", ".join(f"{value:.3g}" for value in task.spread.by_epoch)
        run.say(f"the variance of features was {task.spread.start:.3g} at the start, and by epoch {epochs}")
    return reader, fold()


def taught(
    reader: Reader, folded: Folded, label_texts: LabelTexts | None, held: Held, texts: list[str]
) -> Folded:
    """The model with weights of its evidence from validation documents."""
    config = folded.config
    chosen = held.sample_rows(TAUGHT_BY, config.seed)
    held = held.rows(chosen)
    features, _ = reader([texts[i] for i in chosen])
    candidates, evidence = folded.evidence(features, Others(held.X, label_texts, held.linear))
    assert evidence.shape[1] == len(EVIDENCE)
    return Folded(folded.weights.with_fusion(teach(candidates, evidence, held, config.balance)), config)


def _sentences(
    train: Dataset, rows: Rows, subwords: Subwords, config: GudnConfig, run: Run
) -> LabelSentences | None:
    guide = config.guide
    if not guide.on or guide.labels == "one-hot":
        return None
    if not train.labels.has_text:
        run.say(
            "no label has a text: there is nothing for the guide to read, and the encoder learns without it"
        )
        return None
    return LabelSentences.of(
        [text or "" for text in train.labels.texts], rows.Y, subwords, guide.tokens, config.seed
    )


def _weights(network: Network, tables: Tables, corpus: Corpus) -> Weights:
    n_labels = corpus.Y.shape[1]
    counts = np.bincount(corpus.Y.indices, minlength=n_labels)
    return Weights(
        labels=tables.classifier.weight.detach().cpu().numpy(),
        project=_affine(network.project, network.n_features),
        clusters=_affine(network.retrieve, network.n_features),
        codes=np.zeros(n_labels, np.int64) if corpus.codes is None else corpus.codes,
        fusion_weights=np.zeros((0, len(EVIDENCE)), np.float32),
        fusion_start=np.zeros(0, np.float32),
        group=groups_of(counts),
    )


def _affine(layer: torch.nn.Linear | None, inputs: int) -> np.ndarray:
    """A layer as one matrix, its bias the last column [outputs, inputs + 1]; no layer has no rows."""
    if layer is None:
        return np.zeros((0, inputs + 1), np.float32)
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach().cpu().numpy()


def _named(rows: Rows, train: Dataset) -> csr_array:
    """Rows of label texts; a label without a text has none, as the words of its documents are no name."""
    assert rows.features is not None
    return rows.features.transform([text or "" for text in train.labels.texts])


def _watched(held: Held | None, texts: list[str], seed: int) -> tuple[Held | None, list[str]]:
    if held is None:
        return None, []
    chosen = held.sample_rows(WATCHED, seed)
    return replace(held, linear=None).rows(chosen), [texts[i] for i in chosen]
