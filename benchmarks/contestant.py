"""What a contestant is asked to do, and the steps of it that are timed.

Runs inside a peer's virtual environment as well, so it needs numpy and scipy only.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import sparse


@dataclass(frozen=True)
class Source:
    """The data before they became matrices, for systems that read text themselves."""

    path: str
    split: int
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """What one contestant is asked to do; written as job.json in its work folder, where its results go too."""

    contestant: str
    matrices: str
    """Folder of X.trn.npz, Y.trn.npz, X.tst.npz, Y.tst.npz."""
    source: Source
    k: int
    """How many labels a document the evaluation needs (timing always asks for the same number)."""
    threads: int
    seed: int
    settings: dict[str, Any]
    validate: bool = False
    """Whether the validation part is predicted too, and calibrates what can be calibrated."""

    def write(self, folder: Path) -> None:
        """Writes job.json."""
        content = vars(self) | {"source": vars(self.source)}
        (folder / "job.json").write_text(json.dumps(content, indent=1), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Job":
        """Reads job.json."""
        content = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        source = content.pop("source")
        return cls(**content, source=Source(source["path"], source["split"], tuple(source["fields"])))


class Contestant(ABC):
    """Something that learns from documents and labels; each step is timed from outside."""

    packages: tuple[str, ...] = ()
    """The packages whose versions belong to the result."""

    def __init__(self, job: Job, folder: Path):
        self.job = job
        self.folder = folder

    @property
    def reads_text(self) -> bool:
        """Whether features are part of its own work, and of its times."""
        return False

    def read(self, split: str) -> tuple[Any, Any]:
        """Documents (anything that can be sliced) and label matrix of trn, val or tst; not timed."""
        folder = Path(self.job.matrices)
        return load_matrix(folder / f"X.{split}.npz"), load_matrix(folder / f"Y.{split}.npz")

    @abstractmethod
    def prepare(self, X: Any, Y: Any) -> None:
        """Imports the library and gives the training data the form it learns from; timed apart from training."""

    @abstractmethod
    def train(self) -> None:
        """Learns the whole model, label tree included."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Writes the trained model into a folder that is there and empty."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Reads the model back, ready to predict."""

    def rows(self, X: Any) -> Any:
        """Documents in the form that `predict` takes; not timed."""
        return X

    @abstractmethod
    def predict(self, rows: Any, k: int) -> Any:
        """The best k labels of each row, in whatever form the library gives them."""

    @abstractmethod
    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """What `predict` gave as labels and scores, n x k, best first, -1 where there are fewer."""

    def settings(self) -> dict[str, Any]:
        """The settings it is trained with."""
        return dict(self.job.settings)

    def facts(self) -> dict[str, Any]:
        """Further metrics for the result, asked for after training."""
        return {}


def load_matrix(path: Path) -> Any:
    """A CSR matrix from an npz file; pickled content is refused by scipy's reader."""
    matrix: Any = sparse.load_npz(path)
    return matrix.tocsr()


class TextContestant(Contestant):
    """A peer that reads texts."""

    @property
    def reads_text(self) -> bool:
        """Always."""
        return True

    def read(self, split: str) -> tuple[Any, Any]:
        """Texts in a list, and the label matrix."""
        folder = Path(self.job.matrices)
        return self.texts(split), load_matrix(folder / f"Y.{split}.npz")

    def texts(self, split: str) -> list[str]:
        """The texts of a part; of labels: `lbl`."""
        found: list[str] = json.loads((Path(self.job.matrices) / f"T.{split}.json").read_text("utf-8"))
        return found

    @property
    def has_valid(self) -> bool:
        """Whether settings can be chosen on validation documents."""
        return (Path(self.job.matrices) / "T.val.json").is_file()

    def filtered(self, split: str) -> Any:
        """Pairs that are never scored, or None."""
        path = Path(self.job.matrices) / f"F.{split}.npz"
        return load_matrix(path) if path.is_file() else None
