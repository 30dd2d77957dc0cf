"""longtail: the few right labels out of a very large set, the rare ones included."""

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
    **settings: Any,
) -> System:
    """Train on texts and their tags: ``longtail.fit(texts, tags).predict(["a new text"])``.

    Args:
        texts: one string a document.
        tags: a list of label ids a document, or a sparse matrix (documents x labels).
        label_texts: the labels' own texts, where they have some.
        system: a system's name; ``auto`` takes the one that suits the data.
        settings: the system's settings, as in its configuration.
    """
    from longtail.systems import create
    from longtail.types import Dataset

    name = "linear" if system == "auto" else system
    return create(name, settings).fit(Dataset.from_texts(texts, tags, label_texts))


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
