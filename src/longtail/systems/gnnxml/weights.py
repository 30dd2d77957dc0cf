"""The arrays of a trained GNN-XML, by name: clusters, folded network, and the weights of the learnt score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.storage import checks, read_arrays
from longtail.systems.common.fusion import Fusion, columns_of
from longtail.systems.gnnxml.config import NetworkConfig
from longtail.systems.gnnxml.labels import Clusters

EVIDENCE = ("product", "cluster", "ranker", "text", "linear", "linear probability")
"""What is known of a candidate: the logarithm of the paper's score, that of its cluster's probability, the score of
its ranker, the match of the texts, the score of a linear label tree as a logarithm and as it is."""


LAYER_ARRAYS = ("factor", "inner", "inner_bias", "outer", "outer_bias")
"""What a folded GIN layer has."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What a model folder keeps beside rankers and texts.

    Shapes (K clusters, L labels):
        network: by name, as ``network_shapes`` lists them
        fusion_weights, fusion_start, group: of a Fusion (0 groups: the paper's score)
    """

    clusters: Clusters
    network: Mapping[str, np.ndarray]
    fusion_weights: np.ndarray
    fusion_start: np.ndarray
    group: np.ndarray

    @property
    def fusion(self) -> Fusion | None:
        """The learnt score; None: the paper's."""
        taught = len(self.fusion_start) > 0
        return Fusion(self.fusion_weights, self.fusion_start, self.group) if taught else None

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, for saving."""
        return {
            "bounds": self.clusters.bounds,
            "order": self.clusters.order,
            "fusion_weights": self.fusion_weights,
            "fusion_start": self.fusion_start,
            "group": self.group,
            **{f"network/{name}": array for name, array in self.network.items()},
        }

    @classmethod
    def load(cls, path: Path, config: NetworkConfig, *, width: int, n_labels: int) -> Weights:
        """Read saved weights and make sure that no kernel can be led astray by them.

        Args:
            width: numbers of a vertex.
        """
        arrays = {
            name: np.require(array, requirements=["C", "W"]) for name, array in read_arrays(path).items()
        }
        with checks.of_file(path):
            clusters = _clusters(arrays, n_labels)
            shapes = {
                f"network/{name}": s for name, s in network_shapes(config, width, len(clusters)).items()
            }
            start = checks.vector(
                checks.named(arrays, "fusion_start", "fusion_start"), np.float32, "fusion_start"
            )
            columns = columns_of(checks.named(arrays, "fusion_weights", "fusion_weights"), len(EVIDENCE))
            shapes |= {"fusion_weights": (len(start), columns), "fusion_start": start.shape}
            if set(arrays) != {*shapes, "bounds", "order", "group"}:
                raise ModelIntegrityError("these are not the arrays of a GNN-XML model with its settings")
            for name, shape in shapes.items():
                if arrays[name].shape != shape or arrays[name].dtype != np.float32:
                    raise ModelIntegrityError(
                        f"{name} is {arrays[name].dtype} {arrays[name].shape}, not float32 {shape}"
                    )
                checks.finite(arrays[name], name)
            checks.vector(arrays["group"], np.int8, "group", size=n_labels)
            checks.within(arrays["group"], 0, len(start) or 127, "group")
        network = {
            name.removeprefix("network/"): arrays[name] for name in arrays if name.startswith("network/")
        }
        return cls(clusters, network, arrays["fusion_weights"], start, arrays["group"])


def network_shapes(config: NetworkConfig, width: int, n_clusters: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array of the folded network."""
    widths = [width] + [config.width] * config.layers
    size = sum(widths) if config.concatenate else widths[-1]
    shapes: dict[str, tuple[int, ...]] = {}
    for branch in range(config.branches):
        shapes |= {f"{branch}/classifier": (n_clusters, size), f"{branch}/bias": (n_clusters,)}
    for owner, layer in layers_of(config):
        before, after = widths[layer], widths[layer + 1]
        shapes |= {
            f"{owner}/{layer}/factor": (1,),
            f"{owner}/{layer}/inner": (after, before),
            f"{owner}/{layer}/inner_bias": (after,),
            f"{owner}/{layer}/outer": (after, after),
            f"{owner}/{layer}/outer_bias": (after,),
        }
    return shapes


def n_shared(config: NetworkConfig) -> int:
    """How many layers both branches share."""
    return min(config.shared, config.layers) if config.branches == 2 else 0


def layers_of(config: NetworkConfig) -> list[tuple[str, int]]:
    """Whose each layer is (``shared``, or the number of a branch), and its number from the first one."""
    shared = n_shared(config)
    own = [(str(branch), k) for branch in range(config.branches) for k in range(shared, config.layers)]
    return [("shared", k) for k in range(shared)] + own


def _clusters(arrays: Mapping[str, np.ndarray], n_labels: int) -> Clusters:
    bounds = checks.vector(checks.named(arrays, "bounds", "bounds"), np.int64, "bounds")
    order = checks.vector(checks.named(arrays, "order", "order"), np.int32, "order")
    checks.pointers(bounds, len(order), "bounds")
    checks.within(order, 0, n_labels, "order")
    if len(bounds) < 2 or len(np.unique(order)) != len(order):
        raise ModelIntegrityError("a label must be in one cluster, and there must be clusters")
    return Clusters(bounds, order)
