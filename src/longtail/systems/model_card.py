"""The README.md of a model folder (model card): training data, metrics, use, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longtail import config as configuration

if TYPE_CHECKING:
    from longtail.systems.base import System


def model_card(system: System) -> str:
    """The card in Markdown; it depends on data, settings and seed alone: equal models have equal cards."""
    counts = system.label_counts_
    settings = "\n".join(f"{key} = {value!r}" for key, value in configuration.to_dict(system.config).items())
    rare = int(((counts > 0) & (counts <= 5)).sum())
    return f"""# A longtail model: {system.name}

## Data
- {system.facts_.documents:,} training documents, {int(counts.sum()):,} label assignments
- {len(counts):,} labels: {int((counts > 0).sum()):,} with training documents, {rare:,} of them with at most five
- fingerprint (sha256): `{system.facts_.fingerprint}`

## Metrics on the validation documents
{_metrics(system)}

## Use
```python
import longtail

model = longtail.load("path/to/this/folder")
best = model.predict(["a text to tag"], k=5)
print(best.labels[0])
```
On the command line: `longtail predict path/to/this/folder documents.jsonl -o tagged.jsonl -k 5`.

## Settings
```
{settings}
```
"""


def _metrics(system: System) -> str:
    if not system.facts_.metrics:
        return "None: the data had no validation part."
    head = "| metric | value | 95 % interval |\n|---|---|---|\n"
    rows = (
        f"| {name} | {metric['value']:.2f} | {metric['low']:.2f} to {metric['high']:.2f} |"
        for name, metric in sorted(system.facts_.metrics.items())
    )
    return head + "\n".join(rows)
