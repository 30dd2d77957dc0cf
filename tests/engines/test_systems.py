"""Systems trained by another engine: parts in other processes, or copies as those would have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longtail import engine
from longtail.engines.ray_engine import RayEngine
from tests.engines.clusters import needs_ray
from tests.engines.copies import Copies
from tests.engines.systems import SYSTEMS, trained
from tests.planted import Parts


@pytest.mark.parametrize("name", SYSTEMS)
def test_parts_that_are_copies_give_the_same_model(name: str, tiny: Parts, tmp_path: Path) -> None:
    copies = Copies()
    here = trained(name, tiny, tmp_path / "here", engine.Local())
    assert trained(name, tiny, tmp_path / "there", copies) == here
    assert copies.parts


@needs_ray
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_cluster_gives_the_same_models(ray: Any, tiny: Parts, tmp_path: Path) -> None:
    for name in SYSTEMS:
        here = trained(name, tiny, tmp_path / f"{name}-here", engine.Local())
        assert trained(name, tiny, tmp_path / f"{name}-there", RayEngine(ray)) == here, name
