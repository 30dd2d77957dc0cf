"""What an engine works on in a training: systems, and whether another engine gives the same model folders."""

from __future__ import annotations

from pathlib import Path

from longtail import engine, systems
from tests.contract.test_systems import FASTEST
from tests.planted import Parts

SYSTEMS = ("linear", "gnnxml", "eclare", "ensemble")
"""With parts for an engine: classifiers of nodes, random walks, members."""


def trained(name: str, parts: Parts, folder: Path, used: engine.Engine) -> dict[str, bytes]:
    """The files of the model that the engine has a part in."""
    with engine.use(used):
        model = systems.create(name, FASTEST[name]).fit(parts.train, valid=parts.valid)
    model.save(folder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
