"""fastText: averaged word vectors and a linear classifier, with hierarchical softmax over all labels."""

import itertools
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import TextContestant
from benchmarks.measure import Stopwatch, main
from benchmarks.peers.ranking import ndcg, some_rows

DEFAULTS: dict[str, Any] = {"loss": "hs", "lr": 0.5, "epoch": 25, "wordNgrams": 1, "dim": 100}
CHOICES: dict[str, tuple[Any, ...]] = {"lr": (0.2, 0.5, 1.0), "epoch": (25, 50), "wordNgrams": (1, 2)}
"""What is chosen on validation documents, one setting after another."""

FEW_LABELS = 2000
"""Up to so many labels, every label has a classifier of its own (`ova`): the library's loss for several labels.

Its time grows with documents x labels, so large label sets have hierarchical softmax.
"""

PREFIX = "__label__"


class FastText(TextContestant):
    """Supervised training on lines of labels and text."""

    packages = ("fasttext-wheel", "numpy", "scipy")

    def settings(self) -> dict[str, Any]:
        """What was chosen, with the run's own settings over it."""
        return self.chosen | self.job.settings

    def prepare(self, X: Any, Y: Any) -> None:
        """Writes the training file and, where there are validation documents, chooses settings on them."""
        self.fasttext = import_module("fasttext")
        self.fasttext.FastText.eprint = lambda *_: None
        self.lines = self.folder / "train.txt"
        write_lines(self.lines, X, Y)
        loss = "ova" if Y.shape[1] <= FEW_LABELS else "hs"
        self.chosen = DEFAULTS | {"loss": loss}
        watch = Stopwatch()
        if self.has_valid:
            self._choose()
        self.choice_cpu_seconds = watch.cpu_seconds

    def _choose(self) -> None:
        texts, Y = self.read("val")
        rows = some_rows(len(texts), 0)
        picked = self.rows([texts[row] for row in rows])
        filtered = self.filtered("val")
        filtered = None if filtered is None else filtered[rows]

        def quality(settings: dict[str, Any]) -> float:
            self.model = self._trained(settings)
            labels, _ = self.top(self.predict(picked, 10), 10)
            return ndcg(labels, Y[rows], filtered)

        best = quality(self.settings())
        for name, values in CHOICES.items():
            if name in self.job.settings:
                continue
            for value in values:
                tried = self.settings() | {name: value}
                if tried == self.settings():
                    continue
                found = quality(tried)
                if found > best:
                    best, self.chosen = found, self.chosen | {name: value}

    def _trained(self, settings: dict[str, Any]) -> Any:
        return self.fasttext.train_supervised(
            str(self.lines), thread=self.job.threads, verbose=0, seed=self.job.seed, minCount=1, **settings
        )

    def train(self) -> None:
        """One call, on the file."""
        self.model = self._trained(self.settings())

    def facts(self) -> dict[str, Any]:
        """What the choice of settings took."""
        return {"choice_cpu_seconds": self.choice_cpu_seconds}

    def save(self, folder: Path) -> None:
        """One file."""
        self.model.save_model(str(folder / "model.bin"))

    def load(self, folder: Path) -> None:
        """The file."""
        self.model = self.fasttext.load_model(str(folder / "model.bin"))

    def rows(self, X: Any) -> Any:
        """Lines of text."""
        return [" ".join(text.split()) for text in X]

    def predict(self, rows: Any, k: int) -> Any:
        """All rows in one call."""
        return self.model.predict(rows, k, 0.0)

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From names of labels and probabilities."""
        names, values = predicted
        labels = np.full((len(names), k), -1, dtype=np.int32)
        scores = np.zeros((len(names), k), dtype=np.float32)
        for row, (own, probabilities) in enumerate(zip(names, values, strict=True)):
            for place, (name, value) in enumerate(itertools.islice(zip(own, probabilities, strict=True), k)):
                labels[row, place], scores[row, place] = int(name[len(PREFIX) :]), min(float(value), 1.0)
        return labels, scores


def write_lines(file: Path, texts: Any, Y: Any) -> None:
    """`__label__3 __label__17 text`, a line per document that has a label."""
    with file.open("w", encoding="utf-8") as stream:
        for row, text in enumerate(texts):
            labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
            if labels:
                stream.write(
                    " ".join(f"{PREFIX}{label}" for label in labels) + " " + " ".join(text.split()) + "\n"
                )


if __name__ == "__main__":
    main(FastText)
