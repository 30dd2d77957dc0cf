"""What a step of a split training takes: a model of its time, its exchanges and its memory, beside measurements.

    python -m benchmarks.scale_model --measure --out benchmarks/results/scale-model.json
    python -m benchmarks.scale_model --out benchmarks/results/scale-model.json

The first measures steps in one, two and three gloo processes (``scale_measure``); both print how well the model
reproduces them, and the plan for 50 million labels. docs/scale.md has the tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import code, machine
from benchmarks.scale_measure import BATCHES, DOCUMENTS, LABELS, ROOT, WIDTH, measured

FLOAT, INDEX = 4, 8
"""Bytes of a number, and of the number of a row."""
PROCESSES = (1, 2, 3)
FITTED = ((1, 128), (1, 512), (2, 128), (2, 512))
"""Processes and documents per batch of the points that the constants are fitted to; all others are predicted."""


@dataclass(frozen=True, slots=True)
class Step:
    """The sizes of one step.

    Attributes:
        documents: in the batch of all processes.
        labels: sampled ones, that all documents are scored against.
        token_rows: token embeddings that the step reads and updates.
        width: D.
        dense: parameters of the blocks, which every process has.
    """

    documents: int
    labels: int
    token_rows: int
    width: int
    dense: int


def sent(step: Step, processes: int) -> int:
    """Bytes that each process sends in a step, with ring algorithms.

    Vectors of documents and scores are gathered, and the sum of their gradients comes back; gradients of token
    embeddings and of dense parameters are summed. Nothing depends on the number of all labels.
    """
    if processes == 1:
        return 0
    vectors, scores = step.documents * step.width, step.documents * step.labels
    gathered = FLOAT * (vectors + scores) + INDEX * step.token_rows * processes
    summed = FLOAT * (vectors + scores + step.token_rows * step.width + step.dense)
    others = processes - 1
    return round(others * gathered / processes + 2 * others * summed / processes)


@dataclass(frozen=True, slots=True)
class Constants:
    """Processor seconds of one process, on the machine that they were fitted on.

    Attributes:
        repeated: of what each process does whatever the batch.
        repeated_row: of each token row, which every process updates.
        split: of each pair of a document and a sampled label, of which each process has its part.
        call: of an exchange, with ``calls`` of them in a step.
        byte: of a byte that is sent.
    """

    repeated: float
    repeated_row: float
    split: float
    call: float
    byte: float
    calls: float


def seconds(step: Step, processes: int, constants: Constants) -> float:
    """Processor seconds of one process in a step."""
    exchange = constants.call * constants.calls + constants.byte * sent(step, processes)
    return (
        constants.repeated
        + constants.repeated_row * step.token_rows
        + constants.split * step.documents * step.labels / processes
        + (exchange if processes > 1 else 0.0)
    )


def wall(step: Step, processes: int, cores: int, constants: Constants) -> float:
    """Seconds of a step on so many cores that have nothing else to do."""
    return seconds(step, processes, constants) * max(1.0, processes / cores)


def steps_of(points: Sequence[dict[str, Any]], dense: int) -> dict[int, Step]:
    """The sizes of measured steps by documents per batch: those of one process are those of all."""
    return {
        int(p["documents"]): Step(int(p["documents"]), int(p["labels"]), int(p["token_rows"]), WIDTH, dense)
        for p in points
        if p["processes"] == 1
    }


def fit(points: Sequence[dict[str, Any]], exchange: dict[str, float], dense: int) -> Constants:
    """Constants from some points by least squares of relative errors, none below zero."""
    from scipy.optimize import nnls

    steps = steps_of(points, dense)
    calls = max(p["calls"] for p in points)
    rows, values = [], []
    for point in points:
        processes, documents = int(point["processes"]), int(point["documents"])
        if (processes, documents) not in FITTED:
            continue
        step = steps[documents]
        known = exchange["call"] * calls + exchange["byte"] * sent(step, processes) if processes > 1 else 0.0
        rows.append([1.0, step.token_rows, step.documents * step.labels / processes])
        rows[-1] = [value / point["seconds"] for value in rows[-1]]
        values.append((point["seconds"] - known) / point["seconds"])
    matrix = np.array(rows)
    scale = matrix.max(axis=0)
    found = nnls(matrix / scale, np.array(values))[0] / scale
    repeated, row, split = map(float, found)
    return Constants(repeated, row, split, exchange["call"], exchange["byte"], calls)


# --- memory ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A training on many cards.

    Attributes:
        texts: bytes per label of texts and graph, which every process reads (in memory, not on the card).
        half: whether label vectors on the card are float16 (moments stay float32).
    """

    labels: int
    width: int
    vocabulary: int
    processes: int
    texts: int = 160
    half: bool = False


def card_bytes(plan: Plan, *, split_rows: bool) -> int:
    """Bytes of tables on each card: vectors, and two moments of Adam.

    Args:
        split_rows: label vectors too are with the process that has the label; as built, only their moments are.
    """
    vector = plan.width * (2 if plan.half else FLOAT)
    moments = plan.width * 2 * FLOAT
    parts = plan.processes
    labels = plan.labels * (vector // parts if split_rows else vector) + plan.labels * moments // parts
    return labels + plan.vocabulary * plan.width * 3 * FLOAT


def host_bytes(plan: Plan) -> int:
    """Bytes of texts and graphs of labels in each process."""
    return plan.labels * plan.texts


@dataclass(frozen=True, slots=True)
class Card:
    """A graphics card as its maker describes it; ``reached`` is an assumption.

    Attributes:
        memory: bytes.
        flops: single-precision operations per second.
        link: bytes per second between cards of a machine, in one direction.
        network: bytes per second of each card between machines.
        reached: the share of them that a training reaches.
    """

    name: str
    memory: float
    flops: float
    link: float
    network: float
    reached: float = 0.4


V100 = Card("V100 32 GB", 32e9, 15.7e12, 150e9, 12.5e9)
LATENCY = 30e-6
"""Seconds of an exchange between cards, whatever its size."""


def operations(step: Step) -> float:
    """Multiplications and additions of the scores, forwards and backwards, of all processes together."""
    return 3 * 2 * float(step.documents) * step.labels * step.width


def step_on_cards(
    step: Step, processes: int, card: Card, calls: float, per_machine: int = 8
) -> tuple[float, float]:
    """Seconds of computing and of exchanging in a step."""
    link = card.link if processes <= per_machine else card.network
    computing = operations(step) / processes / (card.flops * card.reached)
    return computing, calls * LATENCY + sent(step, processes) / (link * card.reached)


LARGE_STEP = Step(documents=4_096, labels=30_000, token_rows=40_000, width=300, dense=400_000)
"""A batch of 1,024 documents for each of 4 cards, with three labels per document and as many negatives."""
LABELS_50M = 50_000_000
DOCUMENTS_50M = 97_000_000
VOCABULARY_50M = 500_000
"""Q2K-50M of the paper of GalaXC: trained on four V100 of 32 GB within four days."""


# --- the program ----------------------------------------------------------------------------------------------


def measure() -> dict[str, Any]:
    """The points of all numbers of processes, each the mean over its processes."""
    points, exchange = [], {}
    for size in PROCESSES:
        found = measured(size)
        for place, batch in enumerate(BATCHES):
            each = [one["points"][place] for one in found]
            mean = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
            points.append({"processes": size, **mean, "documents": batch})
        if size > 1:
            exchange[str(size)] = {
                name: float(np.mean([one["exchange"][name] for one in found])) for name in ("call", "byte")
            }
    return {
        "machine": machine(),
        "code": code(ROOT),
        "data": {"labels": LABELS, "documents": DOCUMENTS, "width": WIDTH},
        "points": points,
        "exchange": exchange,
    }


def reproduction(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Measured and modelled processor seconds and bytes of each point."""
    points, dense = result["points"], dense_parameters()
    constants = fit(points, result["exchange"]["2"], dense)
    steps = steps_of(points, dense)
    rows = []
    for point in points:
        processes, documents = int(point["processes"]), int(point["documents"])
        guess = seconds(steps[documents], processes, constants)
        rows.append(
            {
                "processes": processes,
                "documents": documents,
                "fitted": (processes, documents) in FITTED,
                "measured": point["seconds"],
                "model": guess,
                "error": guess / point["seconds"] - 1,
                "sent": point["sent"],
                "sent_model": sent(steps[documents], processes),
                "two_cores": wall(steps[documents], 1, 2, constants)
                / wall(steps[documents], processes, 2, constants),
            }
        )
    return rows


def dense_parameters() -> int:
    """Of the blocks of the measured network: document, label text, graph-convolved text."""
    return 3 * (WIDTH * WIDTH + 1)


def tables(result: dict[str, Any]) -> str:
    """Reproduction and plan as Markdown."""
    measured_rows = [
        [
            str(row["processes"]),
            str(row["documents"]),
            f"{1e3 * row['measured']:.1f}",
            f"{1e3 * row['model']:.1f}",
            f"{100 * row['error']:+.0f} %" + (" (fitted)" if row["fitted"] else ""),
            f"{row['sent'] / 1e6:.2f}",
            f"{row['sent_model'] / 1e6:.2f}",
            f"{row['two_cores']:.2f}",
        ]
        for row in reproduction(result)
    ]
    memory_rows, time_rows = [], []
    calls = max(point["calls"] for point in result["points"])
    for processes in (4, 16):
        for width, half in ((128, False), (128, True), (300, False), (300, True)):
            plan = Plan(LABELS_50M, width, VOCABULARY_50M, processes, half=half)
            built, split = (card_bytes(plan, split_rows=rows) / 1e9 for rows in (False, True))
            kind = "float16" if half else "float32"
            memory_rows.append([str(processes), str(width), kind, f"{built:.1f}", f"{split:.1f}"])
        computing, exchanging = step_on_cards(LARGE_STEP, processes, V100, calls)
        hours = DOCUMENTS_50M / LARGE_STEP.documents * (computing + exchanging) / 3600
        mega = sent(LARGE_STEP, processes) / 1e6
        time_rows.append(
            [
                str(processes),
                f"{mega:,.0f}",
                f"{1e3 * computing:.1f}",
                f"{1e3 * exchanging:.1f}",
                f"{hours:.1f}",
            ]
        )
    return "\n\n".join(
        [
            table(
                "processes, documents per batch, processor ms per process, model, error, MB sent, model, "
                "speed-up on two idle cores (model)",
                measured_rows,
            ),
            table("cards, D, label vectors, GB of tables per card as built, with rows split", memory_rows),
            table(
                "cards, MB sent per card and step, ms computing, ms exchanging, hours per epoch", time_rows
            ),
        ]
    )


def table(headings: str, rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    names = headings.split(", ")
    lines = [names, ["---:"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options; measure if asked to; print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_model", description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "scale-model.json")
    options = parser.parse_args(arguments)
    if options.measure:
        options.out.write_text(json.dumps(measure(), indent=1) + "\n")
    print(tables(json.loads(options.out.read_text())))


if __name__ == "__main__":
    main()
