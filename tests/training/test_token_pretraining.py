"""Token embeddings that rank labels by their texts: network, loss, stages, and what they are good for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail import threads
from longtail.graph.label_graph import label_graph
from longtail.losses.grank import grank
from longtail.run import Run
from longtail.text.config import TextConfig
from longtail.training import token_pretraining
from longtail.training.batches import Batch
from longtail.training.checkpoint import open_for
from longtail.training.matrices import TrainingMatrices
from longtail.training.rows import RowTable
from longtail.training.runtime import torch_threads
from longtail.training.token_pretraining import Network, RankLabels, pretrained_tokens, smoothed_texts
from longtail.training.train_config import TrainConfig
from longtail.types import FIELDS
from tests.planted import Parts

WIDTH = 16
STAGE = TrainConfig(epochs=3, lr=0.02, batch_size=64)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threads.limit(1), torch_threads():
        yield


@pytest.fixture(scope="module")
def matrices(tiny: Parts) -> TrainingMatrices:
    return TrainingMatrices.of(tiny.train, TextConfig(kind="word"), FIELDS, Run())


def tokens_of(
    matrices: TrainingMatrices, seed: int = 0, run: Run | None = None, **more: object
) -> np.ndarray:
    run = run or Run()
    checkpoints = open_for(run, more) if more else None
    return pretrained_tokens(matrices, WIDTH, STAGE, STAGE, seed=seed, run=run, checkpoints=checkpoints)


def task_of(matrices: TrainingMatrices, *, refined: bool) -> RankLabels:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    tokens = RowTable(torch.randn((matrices.X.shape[1], WIDTH), generator=generator))
    refinement = None
    if refined:
        refinement = RowTable(torch.randn((matrices.Y.shape[1], WIDTH), generator=generator))
    smoothed = smoothed_texts(label_graph(matrices.Y, seed=0), matrices.Z)
    return RankLabels(Network(WIDTH), tokens, refinement, matrices, smoothed, batch_size=4)


def residual(block: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """x + lambda R relu(x)."""
    return x + torch.relu(x) @ (block.scale * block.linear.weight).T


@pytest.mark.parametrize("refined", [True, False])
def test_the_loss_is_that_of_the_equations(
    matrices: TrainingMatrices, refined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With all labels in a batch, nothing is corrected for sampling.
    monkeypatch.setattr(token_pretraining, "RANDOM_LABELS", 40)
    task = task_of(matrices, refined=refined)
    network = task.network.eval()
    batch = Batch(np.array([0, 5, 9]), 0, 0, 0)
    tokens = task.tokens.weight
    with torch.no_grad():
        x = torch.from_numpy(matrices.X[batch.rows].toarray()) @ tokens
        documents = torch.relu(residual(network.document, x))
        classifiers = sum(
            residual(block, torch.from_numpy(text.toarray()) @ tokens)
            for block, text in zip(network.texts, task.texts, strict=True)
        )
        if task.refinement is not None:
            counts = np.bincount(matrices.Y.indices, minlength=40)
            factors = torch.from_numpy((counts / (counts + 5.0)).astype(np.float32))
            classifiers = classifiers + task.refinement.weight * factors[:, None]
        scores = documents @ classifiers.T
        positive = torch.from_numpy(matrices.Y[batch.rows].toarray() > 0)
        expected = grank(scores, positive, ~positive).mean()
        torch.testing.assert_close(task.loss(batch), expected, rtol=1e-4, atol=1e-5)


def test_the_first_stage_has_no_refinement_vectors(matrices: TrainingMatrices) -> None:
    assert set(task_of(matrices, refined=False).tables()) == {"tokens"}
    assert set(task_of(matrices, refined=True).tables()) == {"tokens", "refinement"}


def test_a_batch_touches_its_own_labels_and_tokens(
    matrices: TrainingMatrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_pretraining, "RANDOM_LABELS", 0)
    task = task_of(matrices, refined=True)
    rows = np.array([0, 5])
    torch.autograd.backward(task.loss(Batch(rows, 0, 0, 0)))
    labels = np.unique(matrices.Y[rows].indices)
    found = {name: table.gradient() for name, table in task.tables().items()}
    assert found["refinement"] is not None
    assert found["tokens"] is not None
    assert found["refinement"][0].tolist() == labels.tolist()
    used = [matrices.X[rows].indices, *(text[labels].indices for text in task.texts)]
    assert found["tokens"][0].tolist() == np.unique(np.concatenate(used)).tolist()


def test_label_texts_are_smoothed_and_cut(
    matrices: TrainingMatrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    G = label_graph(matrices.Y, seed=0)
    dense = (G @ matrices.Z).toarray()
    np.testing.assert_allclose(smoothed_texts(G, matrices.Z).toarray(), dense, rtol=1e-6)
    monkeypatch.setattr(token_pretraining, "MAX_TERMS", 2)
    few = smoothed_texts(G, matrices.Z)
    assert np.diff(few.indptr).max() == 2
    assert (few.max(axis=1).toarray().ravel() == dense.max(axis=1)).all()


def test_documents_come_near_their_labels(matrices: TrainingMatrices) -> None:
    run = Run()
    tokens = tokens_of(matrices, run=run)
    assert tokens.shape == (matrices.X.shape[1], WIDTH)
    assert tokens.dtype == np.float32
    assert list(run.seconds) == ["label graph", "embed", "rank"]

    def unit(rows: csr_array) -> np.ndarray:
        dense = np.asarray(rows @ tokens)
        return dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)

    cosines = unit(matrices.X) @ unit(matrices.Z).T
    right = matrices.Y.toarray() > 0
    assert cosines[right].mean() > cosines[~right].mean() + 0.3


def test_the_tokens_follow_from_the_seed_alone(matrices: TrainingMatrices) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = tokens_of(matrices)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    assert (tokens_of(matrices) == one).all()
    assert (tokens_of(matrices, seed=1) != one).any()


@pytest.mark.parametrize("stage", ["embed", "rank"])
def test_a_stopped_training_is_resumed_to_the_same_tokens(
    matrices: TrainingMatrices, tmp_path: Path, stage: str
) -> None:
    class Stopped(Run):
        def on_advance(self, phase: object, note: str) -> None:
            if getattr(phase, "name", "") == stage and getattr(phase, "done", 0) == 4:
                raise KeyboardInterrupt

    kept = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        tokens_of(matrices, run=Stopped(checkpoints=kept), data=1)
    resumed = tokens_of(matrices, run=Run(checkpoints=kept, resume=True), data=1)
    assert (resumed == tokens_of(matrices)).all()


def test_a_label_without_a_text_and_a_document_without_a_word_are_no_obstacle() -> None:
    from longtail.types import Dataset

    data = Dataset.from_texts(["red apple", "", "pear"], [["r"], ["r", "p"], []], {"r": "red", "never": ""})
    matrices = TrainingMatrices.of(data, TextConfig(kind="word"), FIELDS, Run())
    assert np.isfinite(tokens_of(matrices)).all()
