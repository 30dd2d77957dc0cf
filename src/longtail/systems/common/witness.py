"""A linear label tree beside a network: sparse words know frequent labels better than short embeddings do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from longtail.config import from_dict, to_dict
from longtail.run import Run
from longtail.shortlist.candidates import Candidates
from longtail.storage import VerifiedFolder, read_json, write_json
from longtail.systems.base import SystemConfig
from longtail.systems.common.fusion import FLOOR
from longtail.systems.linear import LinearTree
from longtail.types import Dataset, Documents, LabelSet

BEST = 50
"""Labels of the tree that are looked at."""
TREES = 2
"""Trees whose average it is: beside a network, a second one costs little."""


class Witness:
    """A trained linear tree whose best labels are candidates."""

    def __init__(self, tree: LinearTree) -> None:
        self.tree = tree

    @classmethod
    def learn(cls, train: Dataset, config: SystemConfig, run: Run) -> Witness:
        """With the tree's own default settings, but for the number of trees."""
        with run.phase("linear tree"):
            tree = LinearTree(fields=config.fields, seed=config.seed)
            if len(train.labels) > tree.config.tree.leaf_size:  # else all trees would be the same
                tree = LinearTree(replace(tree.config, tree=replace(tree.config.tree, members=TREES)))
            return cls(tree.fit(train))

    def __call__(self, documents: Documents) -> Candidates:
        """The tree's best labels, with the logarithms of their scores."""
        top = self.tree.predict(documents, k=BEST)
        return Candidates.from_padded(top.labels, np.log(np.maximum(top.scores, FLOOR)))

    def save(self, folder: Path) -> None:
        """Below ``folder``, which is made."""
        folder.mkdir()
        write_json(folder / "settings.json", to_dict(self.tree.config))
        self.tree._save_parts(folder)

    @classmethod
    def load(cls, folder: VerifiedFolder | None, labels: LabelSet) -> Witness | None:
        """From a folder; None where there is none."""
        if folder is None:
            return None
        tree = LinearTree(from_dict(LinearTree.Config, read_json(folder.path("settings.json"))))
        tree.labels_ = labels
        tree._load_parts(folder)
        return cls(tree)
