"""What classifiers are made of, as the switches of the ablations say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.embedding_block import EmbeddingBlock
from longtail.blocks.gcn import Gcn
from longtail.blocks.sparse_product import multiply
from tests.planted import Parts
from tests.systems.eclare.workshop import Workshop
from tests.systems.eclare.worlds import course_of


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
    work = Workshop(tiny, classifier=classifier)
    for stage in ("embed", "shortlist", "rank"):
        task = work[stage]
        assert [type(block) for block in task.network.blocks] == blocks
        assert len(task.targets.texts) == len(blocks)
        own = refinement and stage != "embed"
        assert (task.refinement is not None) == own
        assert ("refinement" in task.tables()) == own
        attention = task.network.attention
        if attention is not None:
            assert len(attention.weigh.weight) == len(blocks) + own
    assert work.folded.weights.parts.shape == (40, len(blocks) + refinement)


@pytest.mark.parametrize("combine", ["sum", "attention"])
def test_how_parts_become_one(tiny: Parts, combine: str) -> None:
    work = Workshop(tiny, classifier={"combine": combine, "shrink": 0.0})
    weights, summed = work.folded.weights, combine == "sum"
    assert (work["rank"].network.attention is None) == summed
    # Attention shares out what a sum counts in full.
    whole = Workshop(tiny, classifier={"combine": "sum", "shrink": 0.0}).folded.weights.parts
    shares = weights.parts / whole
    np.testing.assert_allclose(shares.sum(axis=1), 3 if summed else 1, rtol=1e-4)
    assert (len(weights.attention_transform) == 0) == summed


@pytest.mark.parametrize("classifier", [{}, {"lte": False}, {"gale": "none"}, {"order": 2}], ids=str)
@pytest.mark.parametrize("initialise", ["graph", "text", "zero"])
def test_where_refinement_vectors_start(tiny: Parts, initialise: str, classifier: dict[str, Any]) -> None:
    work = Workshop(
        tiny,
        classifier={"initialise": initialise, **classifier},
        graph={"max_distance": None},
        embed_on="clusters",
    )
    course = course_of(tiny, graph={"max_distance": None})
    text = multiply(course.inputs.Z, work["embed"].tokens.weight.numpy())
    start = {"graph": course.inputs.G @ text, "text": text, "zero": np.zeros_like(text)}[initialise]
    table = work["rank"].refinement
    assert table is not None
    np.testing.assert_allclose(table.weight.numpy(), start, atol=1e-5)
    clusters = work["shortlist"].refinement
    assert clusters is not None
    assert clusters.weight.shape == (8, 16)
    assert bool((clusters.weight == 0).all()) == (initialise == "zero")
