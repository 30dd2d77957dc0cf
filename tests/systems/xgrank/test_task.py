"""The loss of Eq. 9 against the equations by hand, its schedule, its rates, and documents without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.transformer import Transformer
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors, bags_of
from longtail.systems.xgrank.network import Network
from longtail.systems.xgrank.task import Corpus, Learn
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.training.task import Batch
from tests.planted import Parts
from tests.systems.xgrank.worlds import config as worlds_config


def task(place: Path, tiny: Parts, *, bag: bool = True, clustered: bool = True, **more: Any) -> Learn:
    settings: XgrankConfig = worlds_config(place, **more)
    folder = EncoderFolder.of(place)
    subwords = Subwords(folder, 24)
    train = tiny.train
    n_labels = len(train.labels)
    Z = bags_of(subwords([text or "" for text in train.labels.texts], special=False), subwords.size, None)
    texts = train.documents.joined()
    bags = bags_of(subwords(texts, special=False), subwords.size, None) if bag else None
    codes = np.arange(n_labels) % 8 if clustered else np.zeros(n_labels, np.int64)
    Y = train.Y.astype(np.float32)
    corpus = Corpus(subwords(texts), bags, Y, np.full(len(train), -1), codes)
    labels = LabelVectors(Z, np.ones(n_labels), 16, seed=0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Network(
            Transformer.of(folder), layers=2, clusters=8 if clustered else 0, width=32, dropout=0.0
        )
    return Learn(network, labels, corpus, settings)


def batch(rows: list[int], epoch: int = 0) -> Batch:
    return Batch(np.array(rows), 7, epoch, 0)


def eq4(scores: torch.Tensor, right: np.ndarray, wrong: np.ndarray) -> torch.Tensor:
    """GRank of each document as it is written in the paper."""
    out = []
    for row, yes, no in zip(scores, right, wrong, strict=True):
        sums = row[torch.from_numpy(no)].exp().sum() * (-row[torch.from_numpy(yes)]).exp().sum()
        out.append(torch.log(1 + sums))
    return torch.stack(out)


ALL = {"negatives": {"scope": "own", "most": None}, "clusters": {"size": 4, "training_beam": 8}}


def test_it_is_equation_9(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny, **ALL)
    rows = [0, 3, 4, 9]
    found = learn.loss(batch(rows, epoch=1)).detach()
    corpus, network = learn.corpus, learn.network
    right = corpus.Y[rows].toarray() > 0
    clusters = np.zeros((4, 8), bool)
    for row, label in zip(*right.nonzero(), strict=True):
        clusters[row, corpus.codes[label]] = True
    with torch.no_grad():
        pooled = network.pooled(corpus.tokens.take(np.array(rows)))
        assert network.retrieve is not None
        retrieving = eq4(network.retrieve(pooled), clusters, ~clusters).mean()
        document = network.project(pooled).numpy()
        assert learn.labels.tokens is not None
        assert corpus.bags is not None
        document[:, :16] += corpus.bags[rows] @ learn.labels.tokens.weight.numpy()
        scores = torch.from_numpy(document @ learn.labels.folded().T)
        ranking = eq4(scores, right, ~right).mean()
    assert learn.share(1) == 0.5
    assert float(found) == pytest.approx(float(0.5 * retrieving + 0.5 * ranking), rel=1e-4)


def test_the_share_of_ranking_rises_linearly(encoder: Path, tiny: Parts) -> None:
    stage = {"epochs": 5, "lr": 0.1}
    learn = task(encoder, tiny, train=stage)
    assert [learn.share(epoch) for epoch in range(5)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    learn = task(encoder, tiny, train=stage, rank_start=0.5)
    assert [learn.share(epoch) for epoch in range(5)] == [0.5] * 5


def test_without_clusters_ranking_is_all(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny, clustered=False, **ALL)
    found = learn.loss(batch([0, 3])).detach()
    right = learn.corpus.Y[[0, 3]].toarray() > 0
    bags = learn.corpus.bags
    assert bags is not None
    with torch.no_grad():
        document = learn.network.project(learn.network.pooled(learn.corpus.tokens.take(np.array([0, 3]))))
        vectors, own = learn.labels.take(np.arange(right.shape[1]), bags[[0, 3]])
        document[:, :16] += own
        expected = eq4(document @ vectors.T, right, ~right).mean()
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("loss", ["grank", "bce"])
def test_nothing_is_learnt_from_documents_without_labels(encoder: Path, tiny: Parts, loss: str) -> None:
    """Document 1 has no labels."""
    learn = task(encoder, tiny, loss=loss)
    learn.on_epoch_start(0)
    value = learn.loss(batch([1]))
    assert float(value) == 0
    value.backward()
    assert all(p.grad is None or (p.grad == 0).all() for p in learn.network.parameters())
    assert learn.unranked == 1


def test_what_learns_at_which_rate(encoder: Path, tiny: Parts) -> None:
    more = {"names": [str(encoder)], "tokens": 24, "frozen": None, "layer_decay": 0.5}
    learn = task(encoder, tiny, encoder=more)
    rates = {name: learn.rate(name) for name, _ in learn.network.named_parameters()}
    assert rates["project.weight"] == rates["retrieve.bias"] == 10
    assert {rate for name, rate in rates.items() if "layer.1." in name} == {1}
    assert {rate for name, rate in rates.items() if "layer.0." in name} == {0.5}
    assert {rate for name, rate in rates.items() if "embeddings" in name} == {0.25}
    assert learn.rate("table/identity") == 1
    # Word embeddings are a table, but learn as the encoder does: 0.001 of 0.02.
    assert learn.rate("table/words") == pytest.approx(0.05 * 0.25)


def test_a_step_touches_its_batch_alone(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny, negatives={"most": 3})
    learn.loss(batch([0])).backward()
    identity, words = learn.labels.identity.gradient(), learn.words.gradient()
    assert identity is not None
    assert words is not None
    assert len(identity[0]) <= 3 + learn.corpus.Y[[0]].nnz
    assert words[0].tolist() == sorted(set(learn.corpus.tokens.take(np.array([0])).ids.ravel().tolist()))


def test_frozen_layers_and_words_do_not_learn(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny, encoder={"names": [str(encoder)], "tokens": 24, "frozen": 2})
    learn.loss(batch([0, 3])).backward()
    assert learn.words.gradient() is None
    assert all(p.grad is None for p in learn.network.encoder.parameters())
    assert learn.network.project.weight.grad is not None


@pytest.mark.parametrize("layers", [1, 2])
def test_kept_states_are_as_good_as_computed_ones(encoder: Path, tiny: Parts, layers: int) -> None:
    more = {"names": [str(encoder)], "tokens": 24, "frozen": layers}
    kept = task(encoder, tiny, encoder={**more, "cache": "float32"})
    computed = task(encoder, tiny, encoder={**more, "cache": "none"})
    assert not computed.texts.keeps
    for learn in (kept, computed):
        learn.on_epoch_start(0)
    rows = [0, 3, 9]
    one, other = kept.loss(batch(rows)), computed.loss(batch(rows))
    torch.testing.assert_close(one.detach(), other.detach())
    one.backward()
    other.backward()
    for (name, a), (_, b) in zip(
        kept.network.named_parameters(), computed.network.named_parameters(), strict=True
    ):
        assert (a.grad is None) == (b.grad is None), name
        if a.grad is not None and b.grad is not None:
            torch.testing.assert_close(a.grad, b.grad, atol=1e-4, rtol=1e-3)


def test_the_seed_of_a_batch_decides(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny, negatives={"most": 5})
    first = float(learn.loss(batch([0, 3])).detach())
    assert float(learn.loss(batch([0, 3])).detach()) == first
    assert float(learn.loss(Batch(np.array([0, 3]), 8, 0, 0)).detach()) != first
