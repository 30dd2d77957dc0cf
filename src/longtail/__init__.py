"""longtail: extreme multi-label text classification, rare labels included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from longtail.data.reading import read, read_folder
    from longtail.progress import Callback
    from longtail.run import Run
    from longtail.systems.base import System
    from longtail.types import Dataset, Document, TopK

__version__ = "0.1.0"
__all__ = [
    "Dataset",
    "Document",
    "TopK",
    "__version__",
    "create",
    "fit",
    "load",
    "read",
    "read_folder",
]

_LAZY = {
    "Dataset": "longtail.types",
    "Document": "longtail.types",
    "TopK": "longtail.types",
    "read": "longtail.data.reading",
    "read_folder": "longtail.data.reading",
}
"""Names that are imported on first use, so that ``import longtail`` stays instant."""


def fit(
    data: Any,
    tags: Any = None,
    *,
    text: str | None = None,
    labels: str | None = None,
    valid: Any = None,
    label_texts: Mapping[str, str] | Sequence[str] | None = None,
    label_separator: str | None = None,
    system: str = "auto",
    budget: str | float | None = None,
    progress: bool | Callback | Run | None = None,
    **settings: Any,
) -> System:
    """Train on texts and their tags: ``longtail.fit(texts, tags).predict(["a new text"])``.

    Args:
        data: texts, one string per document; or a Dataset; or a data frame (pandas, polars, pyarrow, Hugging Face
            ``datasets``), a dict of columns, records; or a dict of parts (``train`` and ``valid``).
        tags: with texts, a list of label ids per document, or a sparse matrix (documents x labels).
        text: the column of the text in a data frame; guessed where it is not named.
        labels: the column of the labels in a data frame.
        valid: validation data: (texts, tags), or a Dataset or data frame like ``data``. Without them, a
            twentieth of the documents is held out (from 1,000 on) to measure on; False: train on all, no metrics.
        label_texts: the texts of labels, where they have some.
        label_separator: what stands between labels where those of a document are one string; "none": each string
            is one label. Inferred where it is not named.
        system: the name of a system; ``auto`` chooses what suits the data, the installation and the budget.
        budget: training time that ``auto`` may use: seconds, or "90s", "30m", "2h".
        progress: True shows bars on stderr; a function is called with (phase, steps done, steps in all).
        settings: the system's settings; those of a member of an ensemble by its name, ``eclare={"width": 512}``.
    """
    from longtail.systems import fitting

    return fitting.fit(
        data,
        tags,
        text=text,
        labels=labels,
        valid=valid,
        label_texts=label_texts,
        label_separator=label_separator,
        system=system,
        budget=budget,
        progress=progress,
        settings=settings,
    )


def create(system: str, settings: Mapping[str, Any] | None = None, /, **more: Any) -> System:
    """An untrained system: ``longtail.create("linear", beam=20).fit(train, valid=valid)``.

    Args:
        system: its name (see ``longtail info``).
        settings: its settings, nested tables as dicts; they can also be given by name.
    """
    from longtail.systems import create

    return create(system, {**(settings or {}), **more})


def load(path: str | Path) -> System:
    """The trained system in a model folder."""
    from longtail.systems import load

    return load(path)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'longtail' has no attribute '{name}'")
