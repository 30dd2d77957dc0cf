"""longtail: extreme multi-label text classification, rare labels included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longtail.systems.base import System
    from longtail.types import Dataset, Document, TopK

__version__ = "0.1.0"
__all__ = ["Dataset", "Document", "TopK", "__version__", "fit", "load"]


def fit(
    texts: Sequence[str],
    tags: Any,
    *,
    label_texts: Mapping[str, str] | Sequence[str] | None = None,
    system: str = "auto",
    budget: str | float | None = None,
    **settings: Any,
) -> System:
    """Train on texts and their tags: ``longtail.fit(texts, tags).predict(["a new text"])``.

    Args:
        texts: one string per document.
        tags: a list of label ids per document, or a sparse matrix (documents x labels).
        label_texts: the texts of labels, where they have some.
        system: the name of a system; ``auto`` chooses what suits the data, the installation and the budget.
        budget: training time that ``auto`` may use: seconds, or "90s", "30m", "2h".
        settings: the system's settings; those of a member of an ensemble by its name, ``eclare={"width": 512}``.
    """
    from longtail.errors import UsageError
    from longtail.systems import auto, create
    from longtail.systems.auto_settings import create_auto
    from longtail.types import Dataset

    if system != "auto":
        if budget is not None:
            raise UsageError(
                f"budget is for the system 'auto', which chooses by it: '{system}' is chosen already"
            )
        return create(system, settings).fit(Dataset.from_texts(texts, tags, label_texts))
    seconds = None if budget is None else auto.budget_seconds(budget)
    train = Dataset.from_texts(texts, tags, label_texts)
    return create_auto(settings, train, budget_seconds=seconds)[0].fit(train)


def load(path: str | Path) -> System:
    """The trained system in a model folder."""
    from longtail.systems import load

    return load(path)


def __getattr__(name: str) -> Any:
    # The nouns are imported on first use, so that `import longtail` stays instant.
    if name in ("Dataset", "Document", "TopK"):
        from longtail import types

        return getattr(types, name)
    raise AttributeError(f"module 'longtail' has no attribute '{name}'")
