"""The arithmetic of the model by hand, and its exchanges against those of real processes."""

from __future__ import annotations

import pytest

from benchmarks import scale_measure
from benchmarks.scale_model import (
    V100,
    Constants,
    Plan,
    Step,
    card_bytes,
    fit,
    host_bytes,
    reproduction,
    seconds,
    sent,
    step_on_cards,
    tables,
    wall,
)

STEP = Step(documents=10, labels=20, token_rows=30, width=4, dense=5)
CONSTANTS = Constants(repeated=1.0, repeated_row=0.1, split=0.01, call=0.5, byte=0.001, calls=2)


def test_bytes_of_a_step() -> None:
    assert sent(STEP, 1) == 0
    # Gathered: 40 numbers of vectors, 200 of scores, and 30 row numbers of each process; summed: the gradients of
    # these 240 numbers, of 120 of token embeddings and of 5 others.
    assert sent(STEP, 2) == (4 * 240 + 8 * 30 * 2) / 2 + 2 * (4 * 365) / 2
    assert sent(STEP, 4) == 3 * (4 * 240 + 8 * 30 * 4) / 4 + 2 * 3 * (4 * 365) / 4


def test_seconds_of_a_step() -> None:
    assert seconds(STEP, 1, CONSTANTS) == pytest.approx(1 + 3 + 2)
    assert seconds(STEP, 2, CONSTANTS) == pytest.approx(1 + 3 + 1 + 0.5 * 2 + 0.001 * sent(STEP, 2))
    assert wall(STEP, 1, 2, CONSTANTS) == pytest.approx(6)
    assert wall(STEP, 2, 2, CONSTANTS) == pytest.approx(seconds(STEP, 2, CONSTANTS))
    assert wall(STEP, 3, 2, CONSTANTS) == pytest.approx(1.5 * seconds(STEP, 3, CONSTANTS))


def test_constants_are_found_again() -> None:
    exchange = {"call": CONSTANTS.call, "byte": CONSTANTS.byte}
    points = []
    for processes in (1, 2, 3):
        for documents, rows in ((128, 700), (512, 1_100)):
            step = Step(documents, 1_000 + documents, rows, scale_measure.WIDTH, 5)
            points.append(
                {
                    "processes": processes,
                    "documents": documents,
                    "labels": step.labels,
                    "token_rows": rows,
                    "calls": 2 if processes > 1 else 0,
                    "sent": sent(step, processes),
                    "seconds": seconds(step, processes, CONSTANTS),
                }
            )
    found = fit(points, exchange, 5)
    assert found.repeated == pytest.approx(CONSTANTS.repeated, rel=1e-3)
    assert found.repeated_row == pytest.approx(CONSTANTS.repeated_row, rel=1e-3)
    assert found.split == pytest.approx(CONSTANTS.split, rel=1e-3)
    result = {"points": points, "exchange": {"2": exchange}}
    assert [row["fitted"] for row in reproduction(result)] == [True, True, True, True, False, False]
    assert "| 16 |" in tables(result)


def test_memory_of_tables() -> None:
    plan = Plan(labels=1_000, width=8, vocabulary=100, processes=4)
    tokens = 100 * 8 * 12
    assert card_bytes(plan, split_rows=False) == 1_000 * 8 * 4 + 1_000 * 8 * 8 // 4 + tokens
    assert card_bytes(plan, split_rows=True) == 1_000 * 8 * 12 // 4 + tokens
    half = Plan(labels=1_000, width=8, vocabulary=100, processes=4, half=True)
    assert card_bytes(plan, split_rows=True) - card_bytes(half, split_rows=True) == 1_000 * 8 * 2 // 4
    assert host_bytes(plan) == 160_000


def test_steps_on_cards() -> None:
    computing, exchanging = step_on_cards(STEP, 4, V100, calls=0)
    assert computing == pytest.approx(6 * 10 * 20 * 4 / 4 / (15.7e12 * 0.4))
    assert exchanging == pytest.approx(sent(STEP, 4) / (150e9 * 0.4))
    # More cards than a machine has exchange over the network.
    assert step_on_cards(STEP, 16, V100, calls=0)[1] == pytest.approx(sent(STEP, 16) / (12.5e9 * 0.4))


@pytest.mark.slow
def test_exchanges_are_those_of_real_processes() -> None:
    for size in (1, 2):
        for found in scale_measure.measured(size):
            for point in found["points"]:
                step = Step(
                    int(point["documents"]),
                    int(point["labels"]),
                    int(point["token_rows"]),
                    scale_measure.WIDTH,
                    3 * (scale_measure.WIDTH**2 + 1),
                )
                assert point["sent"] == pytest.approx(sent(step, size), rel=0.1)
