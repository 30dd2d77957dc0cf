"""All that a trained GUDN keeps besides its encoder, as arrays that are checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.storage import read_arrays
from longtail.systems.common.fusion import BINS, Fusion, columns_of

EVIDENCE = ("classifier", "probability", "text", "linear", "linear probability")
"""What is known of a candidate, in the order of the weights of a learnt score."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Shapes: labels [L, width + 1]; project [width, features + 1] (0 rows: features are the query);
    clusters [K, features + 1] (0 rows: all labels are ranked); codes int64 [L], the cluster of each label;
    fusion_weights, fusion_start and group are those of a Fusion (0 rows: there is no learnt score).
    """

    labels: np.ndarray
    project: np.ndarray
    clusters: np.ndarray
    codes: np.ndarray
    fusion_weights: np.ndarray
    fusion_start: np.ndarray
    group: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def fusion(self) -> Fusion | None:
        """The learnt score, if there is one."""
        return Fusion(self.fusion_weights, self.fusion_start, self.group) if len(self.fusion_start) else None

    def with_fusion(self, fusion: Fusion) -> Weights:
        """The same with a learnt score."""
        return replace(self, fusion_weights=fusion.weights, fusion_start=fusion.start)

    @classmethod
    def load(cls, path: Path, *, n_labels: int, n_features: int) -> Weights:
        """Read saved weights and make sure that no kernel can be led astray by them."""
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        if set(arrays) != {field.name for field in fields(cls)}:
            raise ModelIntegrityError(f"{path} has not the arrays of a GUDN model")
        weights = cls(**arrays)
        wrong = weights._first_fault(n_labels, n_features)
        if wrong is not None:
            raise ModelIntegrityError(f"{path} does not fit this model: {wrong}")
        return weights

    def _first_fault(self, n_labels: int, n_features: int) -> str | None:
        kinds = {"codes": np.int64, "group": np.int8}
        for name, array in self.arrays().items():
            if array.dtype != kinds.get(name, np.float32):
                return f"{name} has values of the type {array.dtype}"
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                return f"{name} has values that are not finite"
        width, groups = len(self.project) or n_features, len(self.fusion_start)
        shapes = {
            "labels": (n_labels, width + 1),
            "project": (len(self.project), n_features + 1),
            "clusters": (len(self.clusters), n_features + 1),
            "codes": (n_labels,),
            "fusion_weights": (groups, columns_of(self.fusion_weights, len(EVIDENCE))),
            "fusion_start": (groups,),
            "group": (n_labels,),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                return f"{name} is {getattr(self, name).shape}, not {shape}"
        if groups not in (0, len(BINS) + 1):
            return f"the learnt score has {groups} groups, not {len(BINS) + 1}"
        if n_labels and (self.codes.min() < 0 or self.codes.max() >= max(len(self.clusters), 1)):
            return "not every label is in one of its clusters"
        if n_labels and (self.group.min() < 0 or self.group.max() > len(BINS)):
            return "its groups of labels do not fit together"
        return None
