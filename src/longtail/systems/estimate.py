"""What a training will take, before it begins: peak memory, disk, size of the model, time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any

from longtail import threads
from longtail.errors import UsageError
from longtail.systems import cost, create, get
from longtail.systems.base import System
from longtail.systems.memory import (
    FEATURES,
    FORMULAS,
    SHARE_BYTES,
    Bytes,
    compared_pairs,
    data_bytes,
    label_bytes,
)
from longtail.systems.shape import Shape
from longtail.systems.speed import exact_speed_here, multiplies_bfloat16
from longtail.types import Dataset

EPOCHS = {
    "eclare": ("stages.embed", "stages.shortlist", "stages.rank"),
    "galaxc": ("initial.embed", "initial.rank", "stages.joint"),
    "gnnxml": ("match",),
    "xgrank": ("train",),
    "gudn": ("train",),
    "dual": ("encoder.train",),
}
"""The settings of the stages of each system."""
IN_PIECES = ("xgrank", "gudn")
"""Systems whose batches can be worked on in pieces to save memory ('train.accumulate')."""
MOST_PIECES = 16
START, PER_LABEL, PER_DOCUMENT, PER_PAIR = 800.0, 0.015, 0.02, 1.8e-4
"""Milliseconds of the command besides the fit: its start, what is read and written, and the comparison of documents
that chooses the weight of titles."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(KB|MB|GB|TB)", re.IGNORECASE)
_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one training on this machine.

    Attributes:
        memory_bytes: at the peak.
        disk_bytes: model and checkpoints, at most at one time.
        model_bytes: of the saved model.
        seconds: from the start of the command to the saved model.
    """

    memory_bytes: int
    disk_bytes: int
    model_bytes: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def estimate(
    system: System, train: Dataset, *, cores: int | None = None, speed: float | None = None
) -> Estimate:
    """The estimate of an untrained system with its settings.

    Args:
        cores: threads of the training; None: those in force.
        speed: of a core, relative to that of the measurements; None: a short probe.
    """
    members = _members(system)
    speed = exact_speed_here() if speed is None else speed
    pace = cost.BFLOAT16 if multiplies_bfloat16() else cost.FLOAT32
    machine = {"cores": cores or threads.jobs(), "speed": speed, "pace": pace}
    shapes = [_shape(member, train) for member in members]
    each = [
        FORMULAS[member.name](shape, member.config) for member, shape in zip(members, shapes, strict=True)
    ]
    first = shapes[0]
    size, compared = first.size, max(map(compared_pairs, shapes))
    fits = [_seconds(member, size, machine) for member in members]
    # Members share what is fixed: imports, compiled kernels.
    fixed = [_fixed_seconds(member, machine) for member in members]
    factor = cost.ENSEMBLE_FACTOR if len(members) > 1 else 1.0
    command = START + PER_LABEL * size.labels + PER_DOCUMENT * size.documents + PER_PAIR * compared
    model = sum(part.model for part in each) + label_bytes(first)
    return Estimate(
        round(_peak(each, first, compared)),
        round(model + sum(part.checkpoints for part in each)),
        round(model),
        max(fixed) + factor * (sum(fits) - sum(fixed)) + command / 1e3 / speed,
    )


def _members(system: System) -> list[System]:
    """The systems that are trained one after another: the members of an ensemble, or the system itself."""
    members = [system]
    if system.name == "ensemble":
        from longtail.systems.ensemble.config import EnsembleConfig
        from longtail.systems.ensemble.members import create_members

        assert isinstance(system.config, EnsembleConfig)
        members = [member.system for member in create_members(system.config)]
    unknown = next((member.name for member in members if member.name not in FORMULAS), None)
    if unknown is not None:
        raise UsageError(
            f"there is no estimate for the system '{unknown}': there is one for {', '.join(FORMULAS)} and ensembles"
        )
    return members


def _shape(system: System, train: Dataset) -> Shape:
    return Shape.of(train, system.config.fields, getattr(system.config, "text", None))


def _peak(each: Sequence[Bytes], shape: Shape, compared: int) -> float:
    """Members are trained one after another, and those that are trained stay in memory."""
    data = data_bytes(shape)
    trained = sum(part.model for part in each) if len(each) > 1 else 0.0
    highest = max(part.training + part.batch for part in each)
    training = max(part.base for part in each) + data + trained + highest
    return max(FEATURES + data + SHARE_BYTES * compared, training)


def _fixed_seconds(system: System, machine: Mapping[str, Any]) -> float:
    return cost.training_seconds(system.name, cost.DataSize(0, 0, 0, 0.0), **machine)


def _seconds(system: System, size: cost.DataSize, machine: Mapping[str, Any]) -> float:
    """The fit; what is not fixed of it grows with the epochs."""
    fixed = _fixed_seconds(system, machine)
    whole = cost.training_seconds(system.name, size, **machine)
    if system.name != "xgrank":
        return fixed + (whole - fixed) * _relative_epochs(system)
    # Its encoder is trained apart and reads every text once, whatever the number of epochs.
    config: Any = system.config
    epochs = config.encoder.pretrain_epochs(size.tokens)
    faster = float(machine["speed"] ** cost.ENCODER_EXPONENT)
    per_core = 1e3 * faster * float(min(machine["cores"], cost.MEASURED_CORES))
    usual = cost.ENCODER["xgrank"](size, machine["pace"]) / per_core
    own = cost.ENCODER["xgrank"](size, machine["pace"], epochs, config.encoder.depth) / per_core
    return fixed + own + (whole - fixed - usual) * _relative_epochs(system)


def _relative_epochs(system: System) -> float:
    """Epochs (or trees) of the settings over those that the cost was measured with."""
    usual: Any = get(system.name).Config()
    config: Any = system.config
    if system.name == "linear":
        return 1.0 if config.tree.trees == "auto" else config.tree.trees / 2
    stages = EPOCHS.get(system.name, ())
    if not stages:
        return 1.0
    own, common = (sum(_at(one, stage).epochs for stage in stages) for one in (config, usual))
    return float(getattr(config, "models", 1) * own / common)


def _at(config: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), config)


def memory_limit(text: str) -> int:
    """Bytes of a limit like 8GB."""
    found = _SIZE.fullmatch(text.strip())
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not size:
        raise UsageError(f"a memory limit must be a size like 800MB or 8GB, not {text!r}")
    return size


def fitted(system: System, train: Dataset, limit: int) -> tuple[System, Estimate, int]:
    """The system with batches in as few pieces as fit the limit; an error with the numbers if none do.

    Returns:
        the system, its estimate, and the number of pieces.
    """
    pieces = 1 if system.name not in IN_PIECES else _at(system.config, "train").accumulate
    while True:
        found = estimate(system, train)
        if found.memory_bytes <= limit:
            return system, found, pieces
        most = min(MOST_PIECES, _at(system.config, "train").batch_size) if system.name in IN_PIECES else 1
        if 2 * pieces > most:
            raise UsageError(
                f"training takes about {in_gigabytes(found.memory_bytes)} of memory, more than the limit of "
                f"{in_gigabytes(limit)}: choose fewer documents or labels, narrower vectors, or another system"
            )
        pieces *= 2
        system = create(system.name, _with_pieces(system, pieces))


def _with_pieces(system: System, pieces: int) -> dict[str, Any]:
    from longtail.config import merge, to_dict

    return merge(to_dict(system.config), {"train": {"accumulate": pieces}})


def in_gigabytes(size: float) -> str:
    """Bytes in the unit of a limit."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"


def sentence(found: Estimate) -> str:
    """The estimate as a person says it."""
    return (
        f"estimate: {in_gigabytes(found.memory_bytes)} of memory, {in_gigabytes(found.disk_bytes)} of disk, "
        f"a model of {in_gigabytes(found.model_bytes)}, {cost.in_words(found.seconds)}"
    )
