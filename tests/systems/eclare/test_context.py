"""What the modules of one training of ECLARE share."""

from __future__ import annotations

from dataclasses import replace

import torch

from longtail.run import Run
from longtail.systems.eclare.context import TrainingContext
from longtail.systems.eclare.inputs import Inputs
from tests.planted import planted
from tests.systems.eclare.worlds import config_of


def context() -> TrainingContext:
    config = config_of()
    return TrainingContext(config, Inputs.of(planted(60, 12), config, Run()), None, 0, Run())


def test_each_model_has_a_seed_of_its_own() -> None:
    first = context()
    second = replace(first, number=2)
    assert (first.seed, second.seed) == (first.config.seed, first.config.seed + 2)
    one, same, other = (each.network(refinement=False).state_dict() for each in (first, first, second))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_the_width_of_the_paper_depends_on_the_number_of_labels() -> None:
    first = context()
    assert replace(first, config=replace(first.config, width=None)).width == 300
    assert replace(first, config=replace(first.config, width=24)).width == 24


def test_easy_negatives_are_those_of_the_batch_and_random_ones() -> None:
    first = context()
    negatives = first.config.negatives
    labels, clusters = first.easy_negatives("labels"), first.easy_negatives("clusters")
    assert (labels.scope, labels.random) == ("batch", negatives.random)
    assert (clusters.scope, clusters.random) == ("batch", negatives.random_clusters)
