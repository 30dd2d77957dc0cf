"""The one training loop: every neural system's stages run through ``train``.

What a run computes follows from the task, the configuration, the seed and the number of threads: each epoch
seeds torch from (seed, stage, epoch), so that a run that was stopped goes on exactly as it would have. Processes
that torchrun started run the same lines; the first of them validates and keeps checkpoints.
"""

from __future__ import annotations

import math

import torch

from longtail.errors import TrainingError, UsageError
from longtail.run import Phase, Run
from longtail.training.batches import Batch, epoch_batches, seed_of, steps_per_epoch
from longtail.training.checkpoint import Checkpoints
from longtail.training.checkpoint_manager import CheckpointManager
from longtail.training.distributed import World, check_same, versions, world
from longtail.training.optimiser import Optimiser
from longtail.training.runtime import casting, chosen_device, runtime
from longtail.training.schedule import rate_factor
from longtail.training.stage_state import EpochRecord, StageResult
from longtail.training.task import Task
from longtail.training.train_config import TrainConfig

__all__ = ["EpochRecord", "StageResult", "TrainConfig", "train"]


def train(
    task: Task,
    config: TrainConfig,
    *,
    stage: str,
    seed: int,
    run: Run,
    checkpoints: Checkpoints | None = None,
) -> StageResult:
    """Train the task's weights in place; with validation data they end as those of the best epoch.

    Args:
        stage: the stage's name, which is shown, and which the order of documents depends on.
        checkpoints: where to keep what is learned. A stage that is finished there is only loaded, one that was
            stopped goes on after its last kept epoch; the weights end the same, byte for byte.
    """
    if task.n_documents < 1:
        raise UsageError(f"the stage '{stage}' has no document to learn from")
    check_same({"versions": versions(), "stage": stage, "seed": seed, **run.fingerprint})
    device = chosen_device(config)
    with runtime(task, device):
        return _Loop(task, config, stage, seed, checkpoints).go(run)


class _Loop:
    """One stage in the course of training."""

    def __init__(
        self, task: Task, config: TrainConfig, stage: str, seed: int, checkpoints: Checkpoints | None
    ) -> None:
        self.task, self.config, self.stage, self.seed = task, config, stage, seed
        self.group = world()
        task.world = self.group if task.splits else World()
        self.result = StageResult()
        self.optimiser = Optimiser(task, config)
        self.steps = steps_per_epoch(task.n_documents, config.batch_size)
        self.manager = CheckpointManager(task, config, stage, seed, checkpoints, self.group)

    def go(self, run: Run) -> StageResult:
        self.result, finished = self.manager.resume(self.optimiser, run)
        if not finished:
            remaining = self.config.epochs - self.result.epochs
            with run.phase(self.stage, total=remaining * self.steps) as phase:
                while not self.is_over():
                    self.result.history.append(self.epoch(self.result.epochs, phase))
                    self.note_best()
                    self.manager.after_epoch(self.result, self.optimiser)
                self.manager.finish(self.result)
        self.optimiser.close()
        return self.result

    def is_over(self) -> bool:
        config, result = self.config, self.result
        stopped = config.patience > 0 and result.fruitless() >= config.patience
        return stopped or result.epochs == config.epochs

    def epoch(self, epoch: int, phase: Phase) -> EpochRecord:
        task, config = self.task, self.config
        torch.manual_seed(seed_of(self.seed, self.stage, epoch))
        task.module.train()
        task.on_epoch_start(epoch)
        shown = self.shown_metrics()
        total, done = 0.0, 0
        batches = epoch_batches(
            task.n_documents,
            config.batch_size,
            config.accumulate,
            seed=self.seed,
            stage=self.stage,
            epoch=epoch,
            lengths=task.lengths,
        )
        for pieces in batches:
            documents = sum(len(piece.rows) for piece in pieces)
            total += self.update(pieces, documents) * documents
            done += documents
            phase.advance(note=f"epoch {epoch + 1} of {config.epochs}, loss {total / done:.4g}{shown}")
        self.optimiser.synchronise()
        found = self.metrics(epoch) if self.group.first else None
        return EpochRecord(epoch, total / done, self.group.shared(found))

    def update(self, pieces: list[Batch], documents: int) -> float:
        """One update of the weights; the batch's mean loss."""
        self.optimiser.zero_grad()
        total, processes = 0.0, self.task.world
        for piece in pieces:
            with casting(self.config, self.task.device):
                loss = self.task.loss(piece)
            share = len(piece.rows[processes.rows(len(piece.rows))]) / documents
            total += float(loss.detach()) * share
            if processes.alone and not math.isfinite(total):
                break
            torch.autograd.backward(loss * share if share < 1 else loss)
        if not processes.alone:
            total = float(processes.sum(torch.tensor([total], dtype=torch.float64)))
        if not math.isfinite(total):
            raise self.failure("the loss", f"{total}", pieces[0])
        step = pieces[0].step
        if not self.optimiser.step(rate_factor(self.config, step, self.steps * self.config.epochs)):
            raise self.failure("a gradient", "not finite", pieces[0])
        return total

    def metrics(self, epoch: int) -> dict[str, float]:
        """Validation metrics if it is time for them."""
        last = epoch + 1 == self.config.epochs
        if (epoch + 1) % self.config.validate_every and not last:
            return {}
        self.task.module.eval()
        with torch.no_grad():
            found = self.task.validate()
        if found is None:
            return {}
        if self.config.watch not in found:
            raise UsageError(
                f"'watch' is '{self.config.watch}', but the validation metrics are {', '.join(found)}"
            )
        metrics = {name: float(value) for name, value in found.items() if math.isfinite(value)}
        if self.config.watch not in metrics:
            raise TrainingError(
                f"the validation metric '{self.config.watch}' of the stage '{self.stage}' is "
                f"{found[self.config.watch]} in epoch {epoch + 1}"
            )
        return metrics

    def note_best(self) -> None:
        """Remember the epoch that just ended if it is the best so far."""
        record, before = self.result.history[-1], self.result.best_metric(self.config.watch)
        if record.metrics and (before is None or record.metrics[self.config.watch] > before):
            self.result.best_epoch = record.epoch

    def shown_metrics(self) -> str:
        watch = self.config.watch
        seen = [record.metrics[watch] for record in self.result.history if record.metrics]
        return f", {watch} {seen[-1]:.4g}" if seen else ""

    def failure(self, what: str, value: str, batch: Batch) -> TrainingError:
        kept = self.manager.last_path
        where = "" if kept is None else f"; the last good state is in {kept}"
        return TrainingError(
            f"{what} of the stage '{self.stage}' is {value} in epoch {batch.epoch + 1}, step {batch.step + 1}: "
            f"a lower learning rate or 'clip_norm' may help{where}"
        )
