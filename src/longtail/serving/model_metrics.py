"""What was measured when a model was trained: metrics, label frequency, calibration."""

from __future__ import annotations

from typing import Any

from longtail.evaluation.evaluate import frequency_curve
from longtail.systems.base import System


def measured(system: System) -> dict[str, Any]:
    """The metrics by name, and under names of their own what plots need; what is not known is left out.

    ``bins`` has the metrics by label frequency at ``k``, ``calibration`` the expected calibration errors (x100)
    and the points of the reliability curve of the best labels, ``frequency_curve`` the training documents by rank.
    """
    found = dict(system.facts_.metrics)
    validation = system.facts_.validation
    if validation:
        found |= {"k": validation["k"], "bins": validation["bins"]}
    if system.calibration_ is not None:
        facts = system.calibration_.facts
        errors = {when: facts[when]["errors"] for when in ("before", "after") if facts[when] is not None}
        found["calibration"] = {"errors": errors, "points": facts["after"]["points"]}
    return found | {"frequency_curve": frequency_curve(system.label_counts_)}
