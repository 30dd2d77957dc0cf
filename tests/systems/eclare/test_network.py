"""The network against a dense computation of Sec. 3.3, and its folding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.systems.eclare import network as network_module
from longtail.systems.eclare.config import ClassifierConfig
from longtail.systems.eclare.network import Network
from longtail.training.rows import RowTable

WIDTH, TOKENS, LABELS = 6, 15, 11
COUNTS = np.arange(LABELS)


def rows(n: int, seed: int) -> csr_array:
    return csr_array(
        random_array((n, TOKENS), density=0.3, rng=np.random.default_rng(seed), dtype=np.float32)
    )


def draw(
    refinement: bool = True, **settings: Any
) -> tuple[Network, tuple[csr_array, ...], RowTable, RowTable | None]:
    """A network whose weights are no longer those it starts with, label texts and tables."""
    torch.manual_seed(0)
    config = ClassifierConfig(refinement=refinement, **{"combine": "attention", "shrink": 5.0, **settings})
    network = Network(WIDTH, config, refinement=refinement, dropout=0.3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.5 * torch.randn(parameter.shape))
    network.train()
    network.documents(rows(2, 0), torch.randn((TOKENS, WIDTH)))
    texts = tuple(rows(LABELS, i + 1) for i in range(len(network.blocks)))
    rng = np.random.default_rng(0)
    tokens = RowTable(rng.standard_normal((TOKENS, WIDTH), np.float32))
    own = RowTable(rng.standard_normal((LABELS, WIDTH), np.float32)) if refinement else None
    return network, texts, tokens, own


SHAPES: list[dict[str, Any]] = [
    {},
    {"order": 2},
    {"refinement": False},
    {"lte": False},
    {"gale": "gcn"},
    {"gale": "lightgcn"},
    {"gale": "none"},
    {"combine": "sum"},
    {"gale": "none", "refinement": False},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_folded_classifiers_are_those_of_the_network(
    shape: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_module, "FOLDED_AT_ONCE", 4)
    network, texts, tokens, refinement = draw(**shape)
    folded, alpha = network.fold(texts, tokens, refinement, COUNTS)
    assert network.training
    network.eval()
    with torch.no_grad():
        own = None if refinement is None else refinement.weight * network.trust(COUNTS)
        expected, weights = network.classifiers(texts, tokens.weight, own)
    np.testing.assert_allclose(folded, expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(alpha, weights.numpy(), atol=1e-5)
    assert alpha.shape == (LABELS, len(texts) + (refinement is not None))


def test_it_is_the_formula() -> None:
    network, texts, tokens, refinement = draw()
    assert refinement is not None
    classifiers, alpha = network.fold(texts, tokens, refinement, COUNTS)
    E = tokens.weight.numpy().astype(np.float64)
    attention = network.eval().attention
    assert attention is not None
    T, A = attention.transform.weight.detach().numpy(), attention.weigh.weight.detach().numpy()
    parts = []
    for block, text in zip(network.blocks, texts, strict=True):
        assert isinstance(block, EmbeddingBlock)
        x = text.toarray() @ E
        R = block.linear.weight.detach().numpy()
        parts.append(x + float(block.scale.detach()) * np.maximum(x, 0) @ R.T)
    trust = COUNTS / (COUNTS + network.config.shrink)
    parts.append(refinement.weight.numpy().astype(np.float64) * trust[:, None])
    queries = np.concatenate([1 / (1 + np.exp(-np.maximum(z, 0) @ T.T)) for z in parts], axis=1)
    raised = np.exp(queries @ A.T)
    shares = raised / raised.sum(axis=1, keepdims=True)
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in parts], axis=1)
    np.testing.assert_allclose(alpha, shares * lengths, atol=1e-5)
    expected = sum(shares[:, [i]] * part for i, part in enumerate(parts))
    np.testing.assert_allclose(classifiers, expected, atol=1e-5)


def test_documents_are_relu_of_the_block_and_labels_are_not() -> None:
    network, texts, tokens, _ = draw(gale="none", refinement=False)
    network.eval()
    with torch.no_grad():
        documents = network.documents(texts[0], tokens.weight)
        x = torch.from_numpy(texts[0].toarray()) @ tokens.weight
        torch.testing.assert_close(documents, torch.relu(x + torch.relu(x) @ network.document.folded().T))
        labels, _ = network.classifiers(texts, tokens.weight, None)
    assert (documents >= 0).all()
    assert (labels < 0).any()


def test_dropout_of_documents_is_for_training() -> None:
    network, texts, tokens, _ = draw()
    assert not torch.equal(
        network.documents(texts[0], tokens.weight), network.documents(texts[0], tokens.weight)
    )
    network.eval()
    assert torch.equal(network.documents(texts[0], tokens.weight), network.documents(texts[0], tokens.weight))


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ({}, [EmbeddingBlock, EmbeddingBlock]),
        ({"lte": False}, [EmbeddingBlock]),
        ({"order": 3}, [EmbeddingBlock] * 4),
        ({"gale": "gcn"}, [EmbeddingBlock, Gcn]),
        ({"gale": "lightgcn"}, [EmbeddingBlock, torch.nn.Identity]),
        ({"gale": "none"}, [EmbeddingBlock]),
        ({"gale": "none", "combine": "sum"}, [EmbeddingBlock]),
    ],
)
def test_a_switch_builds_what_it_says(shape: dict[str, Any], kinds: list[type]) -> None:
    network, *_ = draw(**shape)
    assert [type(block) for block in network.blocks] == kinds
    parts = len(kinds) + 1
    attention = network.attention
    assert (attention is None) == (shape.get("combine") == "sum")
    if attention is not None:
        assert attention.weigh.weight.shape == (parts, parts * WIDTH)


def test_a_sum_needs_no_attention() -> None:
    network, texts, tokens, refinement = draw(combine="sum", shrink=0.0)
    assert network.attention is None
    assert refinement is not None
    classifiers, alpha = network.fold(texts, tokens, refinement, COUNTS)
    network.eval()
    with torch.no_grad():
        parts = [
            block(torch.from_numpy(text.toarray()) @ tokens.weight)
            for block, text in zip(network.blocks, texts, strict=True)
        ]
    np.testing.assert_allclose(classifiers, sum(parts).numpy() + refinement.weight.numpy(), atol=1e-5)
    every = [part.numpy() for part in parts] + [refinement.weight.numpy()]
    lengths = np.stack([np.linalg.norm(part, axis=1) for part in every], axis=1)
    np.testing.assert_allclose(alpha, lengths, atol=1e-5)


@pytest.mark.parametrize("gale", ["block", "gcn", "lightgcn"])
def test_folded_blocks_are_what_new_labels_need(gale: str) -> None:
    network, *_ = draw(gale=gale)
    folded = network.folded_blocks()
    assert folded.shape == (2, WIDTH, WIDTH)
    network.eval()
    lte, other = network.blocks
    assert isinstance(lte, EmbeddingBlock)
    np.testing.assert_allclose(folded[0], lte.folded().numpy(), atol=1e-6)
    if isinstance(other, EmbeddingBlock):
        np.testing.assert_allclose(folded[1], other.folded().numpy(), atol=1e-6)
    elif isinstance(other, Gcn):
        np.testing.assert_allclose(folded[1], other.linear.weight.detach().numpy(), atol=1e-6)
    else:
        assert (folded[1] == 0).all()


def test_refinement_vectors_of_rare_labels_are_trusted_less() -> None:
    counts = np.array([0, 1, 5, 95])
    network, *_ = draw(shrink=5.0)
    np.testing.assert_allclose(network.trust(counts)[:, 0], [0, 1 / 6, 1 / 2, 0.95], rtol=1e-6)
    paper, *_ = draw(shrink=0.0)
    assert paper.trust(counts).tolist() == [[1], [1], [1], [1]]


def test_one_part_alone_needs_no_attention() -> None:
    network, *_ = draw(gale="none", refinement=False)
    assert network.attention is None
