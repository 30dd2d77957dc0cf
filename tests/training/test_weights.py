"""Weights as arrays and back, into the memory that the task has."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.errors import ModelIntegrityError
from longtail.training.weights import load_weights, weights_of
from tests.training.tasks import Words, everything


def test_there_and_back() -> None:
    one, other = Words(seed=0), Words(seed=1)
    kept = {name: array.copy() for name, array in weights_of(one).items()}
    assert sorted(kept) == ["module/bias", "module/weight", "table/vectors"]
    before = other.vectors.weight
    assert everything(one) != everything(other)
    for array in kept.values():
        array.setflags(write=False)
    load_weights(other, kept)
    assert everything(one) == everything(other)
    assert other.vectors.weight is before


def test_numbers_of_every_shape() -> None:
    task = Words()
    task.module = torch.nn.BatchNorm1d(3)
    task.module(torch.randn(5, 3))
    kept = {name: np.array(array) for name, array in weights_of(task).items()}
    assert kept["module/num_batches_tracked"].shape == ()
    task.module.reset_running_stats()
    load_weights(task, kept)
    assert int(task.module.num_batches_tracked) == 1


def test_frozen_tables_are_left_out() -> None:
    task = Words()
    task.vectors.frozen = True
    assert sorted(weights_of(task)) == ["module/bias", "module/weight"]
    with pytest.raises(ModelIntegrityError, match="'table/vectors' is only on one side"):
        load_weights(task, weights_of(Words(seed=1)))


def test_another_shape() -> None:
    task = Words(n_words=40)
    before = everything(task)
    with pytest.raises(ModelIntegrityError, match=r"'table/vectors' have the shape \(41, 6\), not \(40, 6\)"):
        load_weights(task, weights_of(Words(n_words=41)))
    assert everything(task) == before
