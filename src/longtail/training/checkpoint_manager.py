"""Checkpoints of a stage: the best weights, and on disk what is needed to resume."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from longtail import config as configuration
from longtail.run import Run
from longtail.training.checkpoint import Checkpoints, as_json, refuse_others
from longtail.training.distributed import World
from longtail.training.optimiser import Optimiser
from longtail.training.stage_folder import Snapshot, StageFolder, usable
from longtail.training.stage_state import StageResult
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig
from longtail.training.weights import load_weights, weights_of


class CheckpointManager:
    """Of one stage. Without checkpoints only the best weights are kept, in memory.

    Of several processes the first one decides, keeps and reads; the others get from it what they need.
    """

    def __init__(
        self,
        task: Task,
        config: TrainConfig,
        stage: str,
        seed: int,
        checkpoints: Checkpoints | None,
        group: World | None = None,
    ) -> None:
        self.task, self.config, self.stage = task, config, stage
        self.group = group or World()
        self.settings = {
            "seed": seed,
            "documents": task.n_documents,
            "train": as_json(configuration.to_dict(config)),
        }
        self.checkpoints = checkpoints
        self.folder: StageFolder | None = None if checkpoints is None else checkpoints.stage(stage)
        self.best: dict[str, np.ndarray] | None = None
        """The best weights, while they are in memory."""
        self.last_path: Path | None = None
        self._written_at = time.monotonic()
        self._pause = 0.0

    def resume(self, optimiser: Optimiser, run: Run) -> tuple[StageResult, bool]:
        """Load what is kept of the stage: how far it is, and whether that is all of it."""
        snapshot = self._shared(self._kept(run) if self.group.first else None)
        if snapshot is None:
            return StageResult(), False
        load_weights(self.task, snapshot.weights)
        if not snapshot.finished:
            optimiser.restore(snapshot.optimiser)
            self.task.restore({name: np.array(array) for name, array in snapshot.task.items()})
        return snapshot.result, snapshot.finished

    def _kept(self, run: Run) -> Snapshot | None:
        """What is on the disk."""
        if self.folder is None or self.checkpoints is None:
            return None
        snapshot, problems = usable(self.folder)
        for problem in problems:
            run.warn(f"a checkpoint of the stage '{self.stage}' cannot be used: {problem}")
        if snapshot is None:
            return None
        refuse_others(self.checkpoints.folder, {self.stage: snapshot.settings}, {self.stage: self.settings})
        if snapshot.finished:
            run.say(f"the stage '{self.stage}' is finished: its weights were read from {self.folder.folder}")
        else:
            run.say(
                f"the stage '{self.stage}' resumes after epoch {snapshot.result.epochs} of {self.config.epochs}"
            )
            self.last_path = self.folder.folder
        return snapshot

    def _shared(self, snapshot: Snapshot | None) -> Snapshot | None:
        """The same in every process."""
        group = self.group
        if group.alone:
            return snapshot
        found = group.shared(None if snapshot is None else [snapshot.result.as_dict(), snapshot.finished])
        if found is None:
            return None
        arrays = (None,) * 3 if snapshot is None else (snapshot.weights, snapshot.optimiser, snapshot.task)
        weights, optimiser, task = (group.shared_arrays(part) for part in arrays)
        return Snapshot(StageResult.from_dict(found[0]), self.settings, weights, optimiser, task, found[1])

    def after_epoch(self, result: StageResult, optimiser: Optimiser) -> None:
        """Keep the weights if the epoch is the best so far, and its state if it is time for that."""
        is_best = result.best_epoch == result.epochs - 1
        time_for_it = self.folder is not None and time.monotonic() >= self._written_at + self._pause
        if not self.group.shared(time_for_it):
            # After the last epoch the weights themselves are the best ones.
            if is_best and self.group.first and result.epochs < self.config.epochs:
                self.best = {name: array.copy() for name, array in weights_of(self.task).items()}
            return
        start = time.monotonic()
        # All processes: each has a part of it.
        state = optimiser.state()
        if self.folder is None or self.checkpoints is None:
            return
        weights = weights_of(self.task)
        self.checkpoints.begin()
        self.folder.save_epoch(
            Snapshot(result, self.settings, weights, state, self.task.state()),
            best=weights if is_best else self.best,
        )
        self.best, self.last_path = None, self.folder.folder
        self._written_at = time.monotonic()
        self._pause = (self._written_at - start) * (1 / self.checkpoints.share - 1)

    def finish(self, result: StageResult) -> None:
        """Give the task its best weights back, and keep them as the stage's."""
        if result.best_epoch is not None and result.best_epoch != result.epochs - 1:
            best = self._best_weights(result.best_epoch) if self.group.first else None
            load_weights(self.task, self.group.shared_arrays(best))
        self.best = None
        if self.folder is not None and self.checkpoints is not None:
            self.checkpoints.begin()
            self.folder.save_final(Snapshot(result, self.settings, weights_of(self.task)))

    def _best_weights(self, epoch: int) -> Mapping[str, np.ndarray]:
        if self.best is not None or self.folder is None:
            assert self.best is not None
            return self.best
        return self.folder.best(epoch)
