"""A system as Python and notebooks print it: what it is, what it was trained on, its validation metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longtail.notebook import html_table

if TYPE_CHECKING:
    from longtail.systems.base import System


def in_one_line(system: System) -> str:
    """LinearTree(1,000 labels, 3 of them cold, trained on 5,000 documents; validation nDCG@5 61.25)."""
    if not hasattr(system, "labels_"):
        return f"{type(system).__name__}(not trained)"
    ranked = [name for name in system.facts_.metrics if name.startswith("nDCG@")][-1:]
    metric = "".join(f"; validation {name} {system.facts_.metrics[name]['value']:.2f}" for name in ranked)
    cold = int((system.label_counts_ == 0).sum())
    return (
        f"{type(system).__name__}({len(system.labels_):,} labels, {f'{cold:,} of them cold, ' if cold else ''}"
        f"trained on {system.facts_.documents:,} documents{metric})"
    )


def as_table(system: System) -> str:
    """The same as an HTML table, with members and validation metrics where there are some."""
    rows: list[list[Any]] = []
    members = getattr(system.config, "members", ())
    if members:
        rows.append(["members", ", ".join(members)])
    if hasattr(system, "labels_"):
        rows.append(["labels", f"{len(system.labels_):,}"])
        rows.append(["labels without training documents", f"{int((system.label_counts_ == 0).sum()):,}"])
        rows.append(["training documents", f"{system.facts_.documents:,}"])
        rows.extend([name, f"{metric['value']:.2f}"] for name, metric in system.facts_.metrics.items())
    else:
        rows.append(["state", "not trained"])
    return html_table(f"longtail model: {system.name}", ["", ""], rows)
