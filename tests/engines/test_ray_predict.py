from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail import systems
from longtail.engines.ray_predict import Batch, Work, predict_batch, predicted
from longtail.errors import EngineError, UsageError
from longtail.systems.base import System
from tests.engines.clusters import needs_ray, workers
from tests.planted import Parts


@pytest.fixture(scope="module")
def model(tiny: Parts, tmp_path_factory: pytest.TempPathFactory) -> tuple[System, Path]:
    folder = tmp_path_factory.mktemp("ray") / "model"
    trained = systems.create("linear", {}).fit(tiny.train, hold_out=False)
    trained.save(folder)
    return trained, folder


def batches(tiny: Parts, count: int) -> list[Batch]:
    return [Batch(tiny.test.documents[start : start + 3]) for start in range(0, 3 * count, 3)]


def test_a_batch_has_the_answers_of_the_model(tiny: Parts, model: tuple[System, Path]) -> None:
    trained, folder = model
    found = predict_batch(Work(str(folder), 4, {"threshold": 0.1}), Batch(tiny.test.documents))
    assert np.array_equal(found.indices, trained.predict(tiny.test, k=4, threshold=0.1).indices)


def test_a_worker_without_the_model_says_so(tiny: Parts, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="at the same path on every machine"):
        predict_batch(Work(str(tmp_path / "none"), 5), Batch(tiny.test.documents))


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_killed_worker_loses_nothing(
    ray: Any,
    tiny: Parts,
    model: tuple[System, Path],
) -> None:
    trained, folder = model
    given = batches(tiny, 18)
    answers: Iterator[Any] = predicted(ray, Work(str(folder), 5), given)
    found = [next(answers)]
    victim = workers()[0]
    os.kill(victim, signal.SIGKILL)
    found += answers
    assert victim not in workers()
    assert [batch for batch, _ in found] == given
    for batch, best in found:
        local = trained.predict(batch.documents, k=5)
        assert np.array_equal(best.indices, local.indices)
        assert np.array_equal(best.scores, local.scores)
    with pytest.raises(UsageError, match="threshold"):
        list(predicted(ray, Work(str(folder), 5, {"threshold": 7.0}), given[:1]))
