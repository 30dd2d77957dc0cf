"""The parts of classifiers under each switch of the ablations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.blocks.sparse_product import multiply
from tests.planted import Parts
from tests.systems.eclare.dry_run import DryRun
from tests.systems.eclare.worlds import context_of


@pytest.mark.parametrize(
    ("classifier", "blocks", "refinement"),
    [
        ({"combine": "attention"}, [EmbeddingBlock, EmbeddingBlock], True),
        ({"lte": False}, [EmbeddingBlock], True),
        ({"gale": "gcn"}, [EmbeddingBlock, Gcn], True),
        ({"gale": "lightgcn"}, [EmbeddingBlock, torch.nn.Identity], True),
        ({"gale": "none"}, [EmbeddingBlock], True),
        ({"order": 2}, [EmbeddingBlock] * 3, True),
        ({"refinement": False}, [EmbeddingBlock, EmbeddingBlock], False),
    ],
    ids=str,
)
def test_what_a_classifier_is_made_of(
    tiny: Parts, classifier: dict[str, Any], blocks: list[type], refinement: bool
) -> None:
    run = DryRun(tiny, classifier=classifier)
    for stage in ("embed", "shortlist", "rank"):
        task = run[stage]
        assert [type(block) for block in task.network.blocks] == blocks
        assert len(task.targets.texts) == len(blocks)
        refined = refinement and stage != "embed"
        assert (task.refinement is not None) == refined
        assert ("refinement" in task.tables()) == refined
        attention = task.network.attention
        if attention is not None:
            assert len(attention.weigh.weight) == len(blocks) + refined
    assert run.weights.parts.shape == (40, len(blocks) + refinement)


@pytest.mark.parametrize("combine", ["sum", "attention"])
def test_how_parts_are_combined(tiny: Parts, combine: str) -> None:
    run = DryRun(tiny, classifier={"combine": combine, "shrinkage": 0.0})
    weights, summed = run.weights, combine == "sum"
    assert (run["rank"].network.attention is None) == summed
    # The weights of attention sum to 1, those of a sum are 1 each.
    whole = DryRun(tiny, classifier={"combine": "sum", "shrinkage": 0.0}).weights.parts
    shares = weights.parts / whole
    # Stored in half precision: 11 bits.
    np.testing.assert_allclose(shares.sum(axis=1), 3 if summed else 1, rtol=2**-10)
    assert (len(weights.attention_transform) == 0) == summed


@pytest.mark.parametrize("classifier", [{}, {"lte": False}, {"gale": "none"}, {"order": 2}], ids=str)
@pytest.mark.parametrize("initialise", ["graph", "text", "zero"])
def test_initial_refinement_vectors(tiny: Parts, initialise: str, classifier: dict[str, Any]) -> None:
    run = DryRun(
        tiny,
        classifier={"initialise": initialise, **classifier},
        graph={"max_distance": None},
        embed_on="clusters",
    )
    context = context_of(tiny, graph={"max_distance": None})
    text = multiply(context.inputs.Z, run["embed"].tokens.weight.numpy())
    initial = {"graph": context.inputs.G @ text, "text": text, "zero": np.zeros_like(text)}[initialise]
    table = run["rank"].refinement
    assert table is not None
    np.testing.assert_allclose(table.weight.numpy(), initial, atol=1e-5)
    clusters = run["shortlist"].refinement
    assert clusters is not None
    assert clusters.weight.shape == (8, 16)
    assert bool((clusters.weight == 0).all()) == (initialise == "zero")
