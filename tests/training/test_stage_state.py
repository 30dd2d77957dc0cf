"""How far a stage is, as data."""

from __future__ import annotations

from longtail.training.stage_state import EpochRecord, StageResult


def test_best_and_fruitless() -> None:
    result = StageResult()
    assert (result.epochs, result.best_metric("P@1"), result.fruitless()) == (0, None, 0)
    result.history = [
        EpochRecord(0, 1.0, {"P@1": 0.1}),
        EpochRecord(1, 0.9, {"P@1": 0.3}),
        EpochRecord(2, 0.8),
        EpochRecord(3, 0.7, {"P@1": 0.2}),
    ]
    assert result.fruitless() == 0
    result.best_epoch = 1
    assert (result.epochs, result.best_metric("P@1"), result.fruitless()) == (4, 0.3, 1)


def test_there_and_back() -> None:
    result = StageResult([EpochRecord(0, 1.5, {"P@1": 0.1}), EpochRecord(1, 0.5)], best_epoch=0)
    assert StageResult.from_dict(result.as_dict()) == result
    assert StageResult.from_dict(StageResult().as_dict()) == StageResult()
