"""What is fuzzed: every system's model folder and every reader of data."""

import shutil
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from longtail import storage
from longtail.storage.manifest import MANIFEST, write_manifest
from longtail.systems.ensemble.reranker import DEPTH, LEAVES
from tests.fuzz import models, numbers, readers

N_TREES = 7
GOLDEN = Path(__file__).parents[1] / "golden"


class Target(ABC):
    """Something that takes files from others."""

    name: str

    @property
    def size(self) -> int | None:
        """How many cases there are, if they have an end."""
        return None

    @abstractmethod
    def warm_up(self) -> None:
        """Compile what cases need, so that their time is their own."""

    @abstractmethod
    def make(self, place: Path, seed: int) -> str:
        """Write the case of that number to ``place``; says what was changed."""

    @abstractmethod
    def run(self, place: Path) -> str:
        """Use it: ``answered`` or ``refused``; anything that must not happen is raised."""


@dataclass(frozen=True)
class ModelTarget(Target):
    """A golden model."""

    name: str

    def warm_up(self) -> None:
        """Use the unchanged model."""
        self.run(GOLDEN / self.name)

    def make(self, place: Path, seed: int) -> str:
        """A changed copy of the model."""
        shutil.copytree(GOLDEN / self.name, place)
        return models.mutate(place, seed)

    def run(self, place: Path) -> str:
        """Load and predict."""
        texts = orjson.loads((GOLDEN / f"{self.name}.json").read_bytes())["texts"]
        return models.outcome(place, texts[:4])


@dataclass(frozen=True)
class TreesTarget(Target):
    """The golden ensemble with trees in its re-rankers: it is fitted on too few documents to have some."""

    name: str
    _golden = ModelTarget("ensemble-format-2")

    def warm_up(self) -> None:
        """Use a model with trees that is not changed."""
        with tempfile.TemporaryDirectory() as folder:
            assert self.run(self._planted(Path(folder) / "model")) == models.ANSWERED

    def make(self, place: Path, seed: int) -> str:
        """A changed copy: every other case changes a re-ranker, the others anything."""
        self._planted(place)
        return models.mutate(place, seed, only="reranker-*" if seed % 2 else "*")

    def run(self, place: Path) -> str:
        """Load and predict."""
        return self._golden.run(place)

    def _planted(self, place: Path) -> Path:
        shutil.copytree(GOLDEN / self._golden.name, place)
        draw = np.random.default_rng(0)
        for path in sorted(place.glob("reranker-*.safetensors")):
            arrays = storage.read_arrays(path)
            features = arrays["weights"].shape[1]
            arrays["compared"] = draw.integers(0, features + 1, (N_TREES, DEPTH), np.int32)
            arrays["thresholds"] = draw.normal(size=(N_TREES, DEPTH)).astype(np.float32)
            arrays["values"] = draw.normal(size=(N_TREES, LEAVES)).astype(np.float32)
            storage.write_arrays(path, arrays)
        (place / MANIFEST).unlink()
        write_manifest(place)
        return place


@dataclass(frozen=True)
class NumbersTarget(Target):
    """A golden model with one absurd number."""

    name: str

    @property
    def golden(self) -> ModelTarget:
        """The model."""
        return ModelTarget(self.name.removeprefix(NUMBERS))

    @property
    def size(self) -> int:
        """Numbers times values."""
        return len(numbers.cases(GOLDEN / self.golden.name))

    def warm_up(self) -> None:
        """Use the unchanged model."""
        self.golden.warm_up()

    def make(self, place: Path, seed: int) -> str:
        """A copy of the model with the number of this case."""
        file, keys, value = numbers.cases(GOLDEN / self.golden.name)[seed]
        shutil.copytree(GOLDEN / self.golden.name, place)
        numbers.put(place, file, keys, value)
        return f"{file} {'.'.join(map(str, keys))} = {value}"

    def run(self, place: Path) -> str:
        """Load and predict."""
        return self.golden.run(place)


@dataclass(frozen=True)
class ReaderTarget(Target):
    """A small data set of one format."""

    name: str

    def warm_up(self) -> None:
        """Read an unchanged data set."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "train.txt").write_text(readers.SEEDS["xmc"]["train.txt"])
            readers.outcome(Path(folder))

    def make(self, place: Path, seed: int) -> str:
        """Changed files."""
        return readers.make(place, self.name.removeprefix(READ), seed)

    def run(self, place: Path) -> str:
        """Read them in all ways."""
        return readers.outcome(place)


READ, NUMBERS = "read-", "numbers-"
MODELS = tuple(sorted(path.stem for path in GOLDEN.glob("*-format-*.json")))
READERS = tuple(f"{READ}{kind}" for kind in readers.SEEDS)
TREES = "ensemble-trees"
TARGETS = (*READERS, *MODELS, TREES)
SWEEPS = tuple(f"{NUMBERS}{name}" for name in MODELS)


def target_named(name: str) -> Target:
    """The target of that name."""
    if name in SWEEPS:
        return NumbersTarget(name)
    if name == TREES:
        return TreesTarget(name)
    return ReaderTarget(name) if name in READERS else ModelTarget(name)
