"""The network; the loss of Eq. 9 against the equations by hand, its schedule and rates; unlabelled documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.run import Run
from longtail.systems.xgrank.config import XgrankConfig
from longtail.systems.xgrank.label_vectors import LabelVectors, bags_of_tokens
from longtail.systems.xgrank.model import COSINE_START, Corpus, Network, XgrankTask, thinned
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.training.frozen_texts import FrozenTexts
from longtail.training.task import Batch
from tests.planted import Parts
from tests.systems.xgrank.worlds import config as worlds_config
from tests.tiny_encoders import WIDTH


def made(encoder: Path, *, layers: int = 5, clusters: int = 3) -> Network:
    transformer = Transformer.of(EncoderFolder.of(encoder))
    return Network(PooledStates(transformer, layers, "cls"), clusters=clusters, width=8, dropout=0.5)


def pooled_by(network: Network, texts: list[str]) -> torch.Tensor:
    tokens = Subwords(network.encoder.folder)(texts)
    pooled: torch.Tensor = network.dropout(network.states(tokens.take(np.arange(len(texts)))))
    return pooled


def test_shapes(encoder: Path) -> None:
    network, texts = made(encoder).eval(), ["bade", "", "fi go"]
    pooled = pooled_by(network, texts)
    # The encoder has two layers only.
    assert pooled.shape == (3, 2 * WIDTH)
    assert network.project(pooled).shape == (3, 8)
    assert network.retrieve is not None
    assert network.retrieve(pooled).shape == (3, 3)
    assert pooled_by(made(encoder, layers=1), texts).shape == (3, WIDTH)
    assert made(encoder, clusters=0).retrieve is None


def test_dropout_is_of_the_pooled_vector_and_of_training_alone(encoder: Path) -> None:
    network = made(encoder)
    network.train()
    assert (pooled_by(network, ["bade"]) == 0).float().mean() > 0.2
    network.eval()
    assert torch.equal(pooled_by(network, ["bade"]), pooled_by(network, ["bade"]))
    assert (pooled_by(network, ["bade"]) != 0).all()


def test_an_exported_layer_reads_what_is_not_standardised(encoder: Path) -> None:
    network = made(encoder).eval()
    pooled = np.random.default_rng(0).normal(3, 2, (50, 2 * WIDTH)).astype(np.float32)
    network.standardise(pooled)
    document = network.standardised(torch.from_numpy(pooled))
    torch.testing.assert_close(document.mean(dim=0), torch.zeros(2 * WIDTH), atol=1e-5, rtol=0)
    assert float(document.std()) == pytest.approx(1, abs=0.01)
    weight, bias = network.affine(network.project)
    by_hand = network.project(document).detach().numpy()
    np.testing.assert_allclose(pooled @ weight.T + bias, by_hand, atol=1e-4)


def test_the_part_of_encoded_texts_starts_with_the_last_layer(encoder: Path) -> None:
    states = PooledStates(Transformer.of(EncoderFolder.of(encoder)), 2, "mean")
    network = Network(states, clusters=0, width=8, dropout=0.0, encoded=WIDTH)
    document = torch.randn(3, 2 * WIDTH)
    ranked = network.ranked(document, document)
    torch.testing.assert_close(ranked[:, :8], network.project(document))
    torch.testing.assert_close(ranked[:, 8:], COSINE_START * document[:, :WIDTH])
    weight, bias = network.affine(network.project, network.compare)
    np.testing.assert_allclose(document.numpy() @ weight.T + bias, ranked.detach().numpy(), atol=1e-5)


def made_task(
    place: Path, tiny: Parts, *, bag: bool = True, clustered: bool = True, **more: Any
) -> XgrankTask:
    settings: XgrankConfig = worlds_config(place, **more)
    folder = EncoderFolder.of(place)
    subwords = Subwords(folder, 24)
    train = tiny.train
    n_labels = len(train.labels)
    Z = bags_of_tokens(
        subwords([text or "" for text in train.labels.texts], special=False), subwords.size, None
    )
    texts = train.documents.joined()
    bags = bags_of_tokens(subwords(texts, special=False), subwords.size, None) if bag else None
    cluster_of = np.arange(n_labels) % 8 if clustered else np.zeros(n_labels, np.int64)
    Y = train.Y.astype(np.float32)
    labels = LabelVectors(Z, np.ones(n_labels), 16, seed=0)
    states = PooledStates(Transformer.of(folder), 2, settings.encoder.pooling)
    encoder = settings.encoder
    read = FrozenTexts.of(states, subwords(texts), encoder.frozen, encoder.cache, settings.train, Run())
    corpus = Corpus(read, bags, Y, np.full(len(train), -1), cluster_of)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Network(
            states,
            clusters=8 if clustered else 0,
            width=32,
            dropout=0.0,
        )
    return XgrankTask(network, labels, corpus, settings)


def batch(rows: list[int], epoch: int = 0) -> Batch:
    return Batch(np.array(rows), 7, epoch, 0)


def eq4(scores: torch.Tensor, right: np.ndarray, wrong: np.ndarray) -> torch.Tensor:
    """GRank of each document as it is written in the paper."""
    out = []
    for row, yes, no in zip(scores, right, wrong, strict=True):
        sums = row[torch.from_numpy(no)].exp().sum() * (-row[torch.from_numpy(yes)]).exp().sum()
        out.append(torch.log(1 + sums))
    return torch.stack(out)


ALL = {
    "negatives": {"scope": "document", "most": None},
    "clusters": {"size": 4, "training_beam": 8},
    "labels": {"width": 16, "bag_dropout": 0.0},
}


def test_it_is_equation_9(encoder: Path, tiny: Parts) -> None:
    task = made_task(encoder, tiny, **ALL)
    rows = [0, 3, 4, 9]
    found = task.loss(batch(rows, epoch=1)).detach()
    corpus, network = task.corpus, task.network
    right = corpus.Y[rows].toarray() > 0
    clusters = np.zeros((4, 8), bool)
    for row, label in zip(*right.nonzero(), strict=True):
        clusters[row, corpus.cluster_of[label]] = True
    with torch.no_grad():
        pooled = network.states(corpus.texts.tokens.take(np.array(rows)))
        assert network.retrieve is not None
        retrieving = eq4(network.retrieve(pooled), clusters, ~clusters).mean()
        document = network.project(pooled).numpy()
        assert task.labels.tokens is not None
        assert corpus.bags is not None
        document[:, :16] += corpus.bags[rows] @ task.labels.tokens.weight.numpy()
        scores = torch.from_numpy(document @ task.labels.export().T)
        ranking = eq4(scores, right, ~right).mean()
    assert task.rank_share(1) == 0.5
    assert float(found) == pytest.approx(float(0.5 * retrieving + 0.5 * ranking), rel=1e-4)


def test_the_share_of_ranking_rises_linearly(encoder: Path, tiny: Parts) -> None:
    stage = {"epochs": 5, "lr": 0.1}
    task = made_task(encoder, tiny, train=stage)
    assert [task.rank_share(epoch) for epoch in range(5)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    task = made_task(encoder, tiny, train=stage, rank_start=0.5)
    assert [task.rank_share(epoch) for epoch in range(5)] == [0.5] * 5


def test_without_clusters_ranking_is_all(encoder: Path, tiny: Parts) -> None:
    task = made_task(encoder, tiny, clustered=False, **ALL)
    found = task.loss(batch([0, 3])).detach()
    right = task.corpus.Y[[0, 3]].toarray() > 0
    bags = task.corpus.bags
    assert bags is not None
    network = task.network
    with torch.no_grad():
        pooled = network.states(task.corpus.texts.tokens.take(np.array([0, 3])))
        document = task.network.project(pooled)
        vectors, text = task.labels.take(np.arange(right.shape[1]), bags[[0, 3]])
        document[:, :16] += text
        expected = eq4(document @ vectors.T, right, ~right).mean()
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("loss", ["grank", "bce"])
def test_nothing_is_trained_on_documents_without_labels(encoder: Path, tiny: Parts, loss: str) -> None:
    """Document 1 has no labels."""
    task = made_task(encoder, tiny, loss=loss)
    task.on_epoch_start(0)
    value = task.loss(batch([1]))
    assert float(value.detach()) == 0
    value.backward()
    assert all(p.grad is None or (p.grad == 0).all() for p in task.network.parameters())
    assert task.unlabelled == 1


def test_what_learns_at_which_rate(encoder: Path, tiny: Parts) -> None:
    more = {"names": [str(encoder)], "tokens": 24, "frozen": None, "layer_decay": 0.5}
    task = made_task(encoder, tiny, encoder=more)
    rates = {name: task.rate(name) for name, _ in task.network.named_parameters()}
    assert rates["project.weight"] == rates["retrieve.bias"] == 10
    assert {rate for name, rate in rates.items() if "layer.1." in name} == {1}
    assert {rate for name, rate in rates.items() if "layer.0." in name} == {0.5}
    assert {rate for name, rate in rates.items() if "embeddings" in name} == {0.25}
    assert task.rate("table/identity") == 1
    # Word embeddings are a table, but task as the encoder does: 0.001 of 0.02.
    assert task.rate("table/words") == pytest.approx(0.05 * 0.25)


def test_a_step_touches_its_batch_alone(encoder: Path, tiny: Parts) -> None:
    task = made_task(encoder, tiny, negatives={"most": 3})
    task.loss(batch([0])).backward()
    identity, words = task.labels.identity.gradient(), task.words.gradient()
    assert identity is not None
    assert words is not None
    assert len(identity[0]) <= 3 + task.corpus.Y[[0]].nnz
    assert words[0].tolist() == sorted(set(task.corpus.texts.tokens.take(np.array([0])).ids.ravel().tolist()))


def test_frozen_layers_and_words_do_not_learn(encoder: Path, tiny: Parts) -> None:
    task = made_task(encoder, tiny, encoder={"names": [str(encoder)], "tokens": 24, "frozen": 2})
    task.loss(batch([0, 3])).backward()
    assert task.words.gradient() is None
    assert all(p.grad is None for p in task.network.encoder.parameters())
    assert task.network.project.weight.grad is not None


@pytest.mark.parametrize("layers", [1, 2])
def test_kept_states_are_as_good_as_computed_ones(encoder: Path, tiny: Parts, layers: int) -> None:
    more = {"names": [str(encoder)], "tokens": 24, "frozen": layers}
    # Outside training nothing is rounded, so what is kept must not be either.
    exact = {"train": {"precision": "float32"}}
    kept = made_task(encoder, tiny, encoder={**more, "cache": "float32"}, **exact)
    computed = made_task(encoder, tiny, encoder={**more, "cache": "none"}, **exact)
    assert not computed.texts.keeps
    for task in (kept, computed):
        task.on_epoch_start(0)
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
    task = made_task(encoder, tiny, negatives={"most": 5})
    first = float(task.loss(batch([0, 3])).detach())
    assert float(task.loss(batch([0, 3])).detach()) == first
    assert float(task.loss(Batch(np.array([0, 3]), 8, 0, 0)).detach()) != first


def test_some_tokens_are_left_out_and_the_mean_stays() -> None:
    bags = csr_array(np.full((400, 50), 0.5, np.float32))
    found = thinned(bags, 0.25, seed=1)
    assert set(np.unique(found.data)) == {0, np.float32(0.5 / 0.75)}
    assert float(found.data.mean()) == pytest.approx(0.5, abs=0.01)
    assert (thinned(bags, 0.25, seed=1).data == found.data).all()
    assert (thinned(bags, 0.25, seed=2).data != found.data).any()
    assert thinned(bags, 0.0, seed=1) is bags
