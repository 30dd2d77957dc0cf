"""The dual encoder's training: what is drawn, what is masked, and that documents and their label texts meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail import threads
from longtail.blocks.mean_encoder import MeanEncoder
from longtail.run import Run
from longtail.training.batches import Batch
from longtail.training.checkpoint import Checkpoints
from longtail.training.dual_encoder import (
    DualTask,
    PositiveSampler,
    TextPairs,
    hard_negatives,
    self_pairs,
    train_encoder,
)
from longtail.training.dual_encoder_config import DualEncoderConfig
from longtail.training.train_config import TrainConfig
from tests.tiny_encoders import write_transformer

DOCUMENTS = ["red apple", "green pear", "red tree", "apple tree", ""]
LABELS = ["red", "apple", "green pears", "tree", "", "pear pear"]
Y = csr_array(
    np.array(
        [[1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]],
        np.float32,
    )
)
NOBODY = np.full(5, -1)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    path = tmp_path / "bert"
    path.mkdir()
    return str(write_transformer(path, scale=0.3))


def pairs_of(encoder: MeanEncoder, self_label: np.ndarray = NOBODY) -> TextPairs:
    return TextPairs(encoder.subwords(DOCUMENTS), encoder.subwords(LABELS), Y, self_label)


def settings(**changes: Any) -> DualEncoderConfig:
    train = TrainConfig(epochs=30, batch_size=4, lr=0.01)
    return DualEncoderConfig(**{"temperature": 0.1, "train": train, **changes})


def task_of(folder: str, self_label: np.ndarray = NOBODY, **changes: Any) -> DualTask:
    encoder = MeanEncoder.of(folder, 12)
    return DualTask(encoder, pairs_of(encoder, self_label), settings(**changes))


def batch(rows: list[int], seed: int = 0) -> Batch:
    return Batch(np.array(rows), seed, 0, 0)


def value(loss: torch.Tensor) -> float:
    return float(loss.detach())


def test_an_epoch_goes_through_what_can_be_compared(folder: str) -> None:
    task = task_of(folder)
    # Document 3 has only the label without text, document 4 no word.
    assert task.units.tolist() == [0, 1, 2]
    assert task.lengths is not None
    assert len(task.lengths) == 3
    cold = task_of(folder, self_pairs="cold")
    assert cold.units.tolist() == [0, 1, 2, 5 + 5]
    assert task_of(folder, self_pairs="all").units.tolist() == [0, 1, 2, 5, 6, 7, 8, 10]


def test_the_labels_of_documents_stay_as_they_are(folder: str) -> None:
    before = Y.toarray()
    task_of(folder)
    assert (Y.toarray() == before).all()
    assert Y.nnz == before.sum()


def test_a_label_that_is_a_document_is_no_self_pair() -> None:
    named, counts = np.array([True, True, False, True]), np.array([0, 2, 0, 0])
    own = np.array([3, -1])
    assert self_pairs("cold", named, counts, own).tolist() == [0]
    assert self_pairs("all", named, counts, own).tolist() == [0, 1]
    assert self_pairs("none", named, counts, own).tolist() == []


def test_positives_are_drawn_by_their_weights() -> None:
    labels = csr_array(np.array([[1, 1, 0], [0, 0, 1]], np.float32))
    counts = np.array([16, 1, 5])
    for rare, share in ((0.0, 0.5), (0.5, 0.8)):
        sampler = PositiveSampler(labels, counts, rare)
        drawn = np.array([sampler.sample(np.array([0, 1]), seed) for seed in range(2000)])
        assert (drawn[:, 1] == 2).all()
        assert (drawn[:, 0] == 1).mean() == pytest.approx(share, abs=0.04)


def test_hard_negatives_are_near_and_unknown() -> None:
    documents = np.eye(2, dtype=np.float32)
    labels = np.array([[1, 0], [0.9, 0.1], [0.1, 0.9], [0, 0]], np.float32)
    known = csr_array(np.array([[1, 0, 0, 0], [0, 0, 1, 0]], np.float32))
    assert hard_negatives(documents, labels, known, 2).tolist() == [[1, 2], [1, -1]]


def by_hand(task: DualTask, document: int, label: int, negatives: list[int]) -> float:
    x = task.encoder(task.pairs.documents)[document]
    v = task.encoder(task.pairs.labels)
    scores = (v @ x) / task.config.temperature
    return float(np.log(1 + np.exp(scores[negatives] - scores[label]).sum()))


def test_the_loss_is_that_of_the_batch_with_known_labels_masked(folder: str) -> None:
    task = task_of(folder, memory=0)
    # Document 1 has one label with a text; documents 0 and 2 share the label 0.
    assert value(task.loss(batch([1]))) == pytest.approx(0, abs=1e-6)
    seed = next(s for s in range(50) if task.sampler.sample(np.array([0, 1]), s).tolist() == [1, 2])
    expected = (by_hand(task, 0, 1, [2]) + by_hand(task, 1, 2, [1])) / 2
    assert value(task.loss(batch([0, 1], seed))) == pytest.approx(expected, rel=1e-4)
    seed = next(s for s in range(50) if task.sampler.sample(np.array([0, 2]), s).tolist() == [0, 3])
    # Label 0 is a label of document 2 as well, so that it has no negative.
    expected = by_hand(task, 0, 0, [3]) / 2
    assert value(task.loss(batch([0, 2], seed))) == pytest.approx(expected, rel=1e-4)


def test_a_document_is_no_negative_of_itself(folder: str) -> None:
    task = task_of(folder, np.array([2, 1, -1, -1, -1]), memory=0)
    seed = next(s for s in range(50) if task.sampler.sample(np.array([0, 1]), s).tolist() == [1, 2])
    assert value(task.loss(batch([0, 1], seed))) == pytest.approx(0, abs=1e-6)


def test_the_memory_holds_last_vectors_and_compares_with_all_labels(folder: str) -> None:
    task = task_of(folder)
    first = value(task.loss(batch([1])))
    assert first == pytest.approx(0, abs=1e-6)
    assert np.flatnonzero(task.remembered).tolist() == [2]
    np.testing.assert_allclose(task.memory[2], task.encoder(task.pairs.labels)[2], atol=1e-6)
    task.memory[:4] = torch.from_numpy(task.encoder(task.pairs.labels)[:4])
    task.remembered[:4] = True
    # Labels 0 and 1 are both those of document 0: each against the two others, on average.
    expected = np.mean([by_hand(task, 0, label, [2, 3]) for label in (0, 1)])
    assert value(task.loss(batch([0]))) == pytest.approx(float(expected), rel=1e-4)
    weighted = task_of(folder, memory_weight=0.5)
    weighted.memory, weighted.remembered = task.memory.clone(), task.remembered.copy()
    assert value(weighted.loss(batch([0]))) == pytest.approx(float(expected) / 2, rel=1e-4)


def test_more_labels_than_the_memory_compares_are_drawn(folder: str) -> None:
    task = task_of(folder, memory=2)
    task.memory[:4] = torch.from_numpy(task.encoder(task.pairs.labels)[:4])
    task.remembered[:4] = True
    assert len({round(value(task.loss(batch([0], seed))), 5) for seed in range(8)}) > 1


def test_gradients_of_the_memory_reach_documents_alone(folder: str) -> None:
    task = task_of(folder)
    task.memory[:4] = torch.from_numpy(task.encoder(task.pairs.labels)[:4])
    task.remembered[:4] = True
    task.loss(batch([0])).backward()
    found = task.words.gradient()
    assert found is not None
    assert not task.memory.requires_grad


def test_training_brings_documents_and_their_labels_together(folder: str) -> None:
    for changes in ({}, {"memory": 0}, {"hard": 1, "self_pairs": "cold"}):
        encoder = MeanEncoder.of(folder, 12)
        pairs = pairs_of(encoder)
        with threads.limit(1):
            before = encoder(pairs.documents) @ encoder(pairs.labels).T
            train_encoder(encoder, pairs, settings(**changes), seed=0, run=Run())
            after = encoder(pairs.documents) @ encoder(pairs.labels).T
        wrong = Y.toarray()[:3] == 0
        wrong[:, [4, 5]] = False

        def gap(cosines: np.ndarray, wrong: np.ndarray = wrong) -> float:
            return float(cosines[:3][Y.toarray()[:3] > 0].mean() - cosines[:3][wrong].mean())

        assert gap(after) > gap(before) + 0.3


def test_frozen_layers_and_words_stay(folder: str) -> None:
    encoder = MeanEncoder.of(folder, 12)
    words = encoder.transformer.words.clone()
    lower = [p.clone() for n, p in encoder.transformer.named_parameters() if ".layer.0." in n]
    with threads.limit(1):
        train_encoder(encoder, pairs_of(encoder), settings(frozen=1), seed=0, run=Run())
    assert (encoder.transformer.words == words.half().float()).all()
    after = [p for n, p in encoder.transformer.named_parameters() if ".layer.0." in n]
    assert all((a == b.half().float()).all() for a, b in zip(after, lower, strict=True))


def test_nothing_to_compare_leaves_the_encoder(folder: str) -> None:
    encoder = MeanEncoder.of(folder, 12)
    pairs = TextPairs(encoder.subwords(DOCUMENTS), encoder.subwords([""] * 6), Y, NOBODY)
    before = encoder(pairs.documents)
    said: list[str] = []

    class Listening(Run):
        """Keeps what is said."""

        def say(self, message: str) -> None:
            """Keep it."""
            said.append(message)

    train_encoder(encoder, pairs, settings(), seed=0, run=Listening())
    assert said == ["no document has a label with a text: the encoder stays as it is"]
    np.testing.assert_allclose(encoder(pairs.documents), before, atol=1e-3)


def test_a_training_that_was_stopped_ends_with_the_same_weights(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings(hard=1, train=TrainConfig(epochs=4, batch_size=2, lr=0.01))

    def trained(checkpoints: Checkpoints | None) -> MeanEncoder:
        encoder = MeanEncoder.of(folder, 12)
        with threads.limit(1):
            train_encoder(encoder, pairs_of(encoder), config, seed=0, run=Run(), checkpoints=checkpoints)
        return encoder

    whole = trained(None)
    loss, calls = DualTask.loss, 0

    def stops(self: DualTask, batch: Batch) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return loss(self, batch)

    monkeypatch.setattr(DualTask, "loss", stops)
    with pytest.raises(KeyboardInterrupt):
        trained(Checkpoints(tmp_path / "kept", {}, share=1.0))
    again = trained(Checkpoints(tmp_path / "kept", {}, share=1.0))
    assert calls < 2 + 6 + 8
    arrays = again.transformer.arrays()
    assert all((arrays[name] == array).all() for name, array in whole.transformer.arrays().items())
