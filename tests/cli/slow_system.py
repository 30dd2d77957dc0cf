"""A system that is slow on purpose, and the command line with it: for interruptions at a known moment.

Run as ``python -m tests.cli.slow_system train ...``; the file named in READY appears once the moment has come.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from longtail.run import Run
from longtail.systems import REGISTRY
from longtail.systems.base import SystemConfig
from longtail.systems.dummy import Dummy
from longtail.text.feature_store import FeatureStore
from longtail.text.shared_features import FeatureWriter
from longtail.types import Dataset


class Slow(Dummy):
    """Waits in the phase that its setting names."""

    name: ClassVar[str] = "slow"

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(SystemConfig):
        wait: Literal["fit", "save"] = "fit"
        """Where to wait."""

    def _fit(self, train: Dataset, valid: Dataset | None, run: Run, store: FeatureStore) -> None:
        with run.phase("train slowly", total=1200) as phase:
            while self.setting == "fit" and phase.done < phase.total:
                phase.advance()
                wait()
        super()._fit(train, valid, run, store)

    @property
    def setting(self) -> str:
        return str(getattr(self.config, "wait", ""))

    def _save_parts(self, folder: Path, features: FeatureWriter) -> None:
        (folder / "half").write_bytes(b"a part that is only half there")
        while self.setting == "save":
            wait()


def wait() -> None:
    Path(os.environ["READY"]).touch()
    time.sleep(0.05)


if __name__ == "__main__":
    from longtail import progress
    from longtail.cli.main import main

    REGISTRY["slow"] = "tests.cli.slow_system:Slow"
    progress.SECONDS_BETWEEN_LINES = 0.2
    sys.exit(main())
