"""The TF-IDF features that training asks for, so that they can be computed before it."""

from __future__ import annotations

from longtail.systems.base import System
from longtail.text.config import TextConfig
from longtail.text.feature_store import TfidfSettings
from longtail.types import LabelSet


def tfidf_settings(system: System, labels: LabelSet) -> list[TfidfSettings]:
    """Those of a system or of the members of an ensemble, each once; none for systems that read texts alone."""
    found: dict[TfidfSettings, None] = {}
    for member in _members(system):
        text = getattr(member.config, "text", None)
        if isinstance(text, TextConfig):
            # Only 'linear' has this setting; its vocabulary has label texts where they are examples.
            without = getattr(member.config, "label_text", None) == "none"
            texts = () if without else tuple(name for name in labels.texts if name)
            found[TfidfSettings(text, tuple(member.config.fields), texts)] = None
    return list(found)


def _members(system: System) -> list[System]:
    if system.name != "ensemble":
        return [system]
    from longtail.systems.ensemble.config import EnsembleConfig
    from longtail.systems.ensemble.members import create_members

    assert isinstance(system.config, EnsembleConfig)
    return [member.system for member in create_members(system.config)]
