"""A longtail system as a contestant: on the same feature rows as its peers, or from text."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import longtail
from benchmarks.contestant import Contestant, load_matrix
from benchmarks.measure import main
from longtail import systems
from longtail.data import ReadOptions, read_folder
from longtail.run import Run
from longtail.systems import auto
from longtail.types import Dataset, Documents, LabelSet

FROM_TEXT = "@text"
"""`linear@text` is the system `linear`, reading text."""

AUTO = "auto"
"""`auto` is what longtail chooses without a budget, `auto-5m` within five minutes."""

WARM_UP_DOCUMENTS = 200


class LongtailSystem(Contestant):
    """Whichever system the job names."""

    packages = ("longtail", "numpy", "scipy", "numba", "torch")
    valid: Dataset | None = None
    choice: Mapping[str, Any] = MappingProxyType({})
    reason = ""

    @property
    def name(self) -> str:
        """The system's name."""
        return self.job.contestant.removesuffix(FROM_TEXT)

    @property
    def chosen_by_auto(self) -> bool:
        """Whether the system is the choice of ``auto``, within the budget that its name ends with."""
        return self.name == AUTO or self.name.startswith(f"{AUTO}-")

    @property
    def reads_text(self) -> bool:
        """Because it was asked to, or because it can do nothing else."""
        if self.chosen_by_auto or self.job.contestant != self.name:
            return True
        return not systems.get(self.name).capabilities.features

    def read(self, split: str) -> tuple[Any, Any]:
        """Feature rows, or documents with their text."""
        if not self.reads_text:
            X, Y = super().read(split)
            labels = [str(label) for label in range(Y.shape[1])]
            self.labels = LabelSet(labels, [""] * len(labels))
            if split == "trn" and self.job.validate:
                X_valid, Y_valid = super().read("val")
                self.valid = Dataset(Documents.from_features(X_valid), self.labels, Y_valid)
            return Documents.from_features(X), Y
        source, part = self.job.source, {"trn": "train", "val": "valid", "tst": "test"}[split]
        parts = read_folder(source.path, options=ReadOptions(split=source.split))
        found = parts[part]
        if split == "trn" and (self.job.validate or self._uses_valid):
            self.valid = parts.get("valid")
        Y = load_matrix(Path(self.job.matrices) / f"Y.{split}.npz")
        self.labels = found.labels
        documents = found.documents
        if self.chosen_by_auto:
            return documents, Y
        # Only the text: feature rows that came with the data are what the other form of the contest is for.
        return Documents(documents.ids, documents.titles, documents.texts), Y

    @property
    def _uses_valid(self) -> bool:
        return self.chosen_by_auto or systems.get(self.name).capabilities.validation

    def settings(self) -> dict[str, Any]:
        """The run's settings, with its seed and fields; scores are calibrated if validation documents are measured.

        A calibration keeps the order of labels, so rankings are the same without.
        """
        given: dict[str, Any] = {"seed": self.job.seed, "fields": list(self.job.source.fields)}
        if not self.job.validate:
            given["calibrate"] = "none"
        return {**given, **self.choice, **self.job.settings}

    def prepare(self, X: Any, Y: Any) -> None:
        """Trains on a few documents first, which loads the compiled kernels (or compiles them, once a machine)."""
        self.data = Dataset(X, self.labels, Y)
        if self.chosen_by_auto:
            _, _, budget = self.name.partition("-")
            found = auto.choose(
                self.data,
                valid=self.valid,
                fields=self.job.source.fields,
                budget_seconds=auto.budget_seconds(budget) if budget else None,
            )
            self.choice, self.reason = found.settings, found.reason
            self.system = systems.create(found.system, self.settings())
            return
        some = np.flatnonzero(np.diff(Y.indptr))[:WARM_UP_DOCUMENTS]
        warm = systems.create(self.name, self.settings()).fit(self.data.take(some))
        warm.predict(self.data.documents.take(some), k=1)
        self.system = systems.create(self.name, self.settings())

    def train(self) -> None:
        """One call."""
        self.run = Run()
        self.system.fit(self.data, valid=self.valid, run=self.run)

    def facts(self) -> dict[str, Any]:
        """Where the training time went, and what ``auto`` has chosen."""
        chosen = {"system": self.system.name, "reason": self.reason} if self.chosen_by_auto else {}
        return {"phase_seconds": dict(self.run.seconds), **chosen}

    def save(self, folder: Path) -> None:
        """The model folder, below the one given: it comes into being in one piece."""
        self.system.save(folder / "longtail")

    def load(self, folder: Path) -> None:
        """Whatever system the folder holds."""
        del self.data
        self.system = longtail.load(folder / "longtail")

    def predict(self, rows: Any, k: int) -> Any:
        """One call."""
        return self.system.predict(rows, k=k)

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """Systems answer in that form already."""
        return predicted.indices, predicted.scores


if __name__ == "__main__":
    main(LongtailSystem)
