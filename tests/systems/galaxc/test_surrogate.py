"""The surrogate task: clusters of labels, the loss of a step, and the token embeddings it trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from longtail.losses.bce import bce
from longtail.run import Run
from longtail.systems.galaxc import surrogate
from longtail.systems.galaxc.node_index import unit
from longtail.systems.galaxc.surrogate import Surrogate, clusters_of, surrogate_tokens
from longtail.training.checkpoint import open_for
from longtail.training.matrices import TrainingMatrices
from longtail.training.task import Batch
from tests.planted import Parts
from tests.systems.galaxc.worlds import config_of

WIDTH = 16


@pytest.fixture(scope="module")
def matrices(tiny: Parts) -> TrainingMatrices:
    config = config_of()
    return TrainingMatrices.of(tiny.train, config.text, config.fields, Run())


def settings(epochs: int = 4, **more: Any) -> dict[str, Any]:
    learning = {"epochs": epochs, "lr": 0.02, "batch_size": 32}
    return {"initial": {"source": "surrogate", "clusters": 8, "surrogate": learning}, **more}


# --- clusters -------------------------------------------------------------------------------------------------


def test_clusters_are_balanced_and_as_many_as_wanted(matrices: TrainingMatrices) -> None:
    cluster_of, n = clusters_of(matrices, config_of(**settings()))
    assert n == 8
    assert np.bincount(cluster_of, minlength=8).tolist() == [5] * 8
    again, _ = clusters_of(matrices, config_of(**settings()))
    assert (cluster_of == again).all()


def test_without_a_number_about_eight_labels_share_a_cluster(matrices: TrainingMatrices) -> None:
    # 40 / 8 is nearer to 4 than to 8.
    assert clusters_of(matrices, config_of(initial={"clusters": None})).n_clusters == 4


def test_more_clusters_than_labels_are_not_made(matrices: TrainingMatrices) -> None:
    cluster_of, n = clusters_of(matrices, config_of(initial={"clusters": 1024}))
    assert n == 32
    assert set(cluster_of.tolist()) == set(range(32))


def test_head_labels_are_clusters_apart(matrices: TrainingMatrices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surrogate, "HEAD_ABOVE", 10)
    cluster_of, _ = clusters_of(matrices, config_of(**settings()))
    is_head = np.bincount(matrices.Y.indices, minlength=40) > 10
    assert 0 < is_head.sum() < 40
    assert not set(cluster_of[is_head].tolist()) & set(cluster_of[~is_head].tolist())


# --- the task -------------------------------------------------------------------------------------------------

Y = csr_array(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1]], np.float32))
X = csr_array(np.array([[1, 2, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 1, 0]], np.float32))


def task_of(seed: int = 0, **negatives: Any) -> Surrogate:
    return Surrogate(X, Y, 4, config_of(negatives={"corrected": False, **negatives}), seed)


def batch_of(*numbers: int) -> Batch:
    return Batch(np.array(numbers), 0, 0, 0)


def test_the_loss_is_a_cross_entropy_over_clusters() -> None:
    task = task_of(random=3)
    task.network.eval()
    task.clusters.weight.normal_(generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        found = task.loss(batch_of(0, 1, 3))
        x = torch.from_numpy(X.toarray()[[0, 1, 3]]) @ task.tokens.weight
        embedded = torch.relu(x + torch.relu(x) @ task.network.block.exported().T)
        scores = embedded @ task.clusters.weight.T + task.network.bias
        right = torch.from_numpy(Y.toarray()[[0, 1, 3]] > 0)
    torch.testing.assert_close(found, bce(scores, right, ~right).mean(), atol=1e-5, rtol=1e-5)


def test_it_begins_with_the_odds_of_the_data() -> None:
    task = task_of()
    # 4 of 12 pairs are right, and classifiers of clusters start at zero.
    assert task.network.bias.item() == pytest.approx(np.log(4 / 8))
    assert not task.clusters.weight.any()
    assert task.tokens.weight.shape == (5, 4)
    assert set(task.tables()) == {"tokens", "clusters"}


def test_a_batch_touches_its_own_tokens_and_clusters() -> None:
    task = task_of(random=0)
    task.network.eval()
    task.clusters.weight.normal_(generator=torch.Generator().manual_seed(1))
    task.loss(batch_of(0, 3)).backward()
    touched = {name: table.gradient() for name, table in task.tables().items()}
    assert touched["tokens"] is not None
    assert touched["clusters"] is not None
    assert touched["tokens"][0].tolist() == [0, 1, 3]
    assert touched["clusters"][0].tolist() == [0, 2]


def test_the_seed_says_where_it_begins() -> None:
    one, same, other = (task_of(seed) for seed in (0, 0, 1))
    assert torch.equal(one.tokens.weight, same.tokens.weight)
    assert not torch.equal(one.tokens.weight, other.tokens.weight)
    for mine, theirs in zip(one.network.parameters(), same.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    # What torch draws elsewhere stays as it was.
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    task_of()
    assert torch.equal(torch.rand(1), before)


# --- training -------------------------------------------------------------------------------------------------


def test_words_of_one_label_come_together(matrices: TrainingMatrices) -> None:
    run = Run()
    tokens = surrogate_tokens(matrices, WIDTH, config_of(**settings(epochs=12)), run, None)
    assert tokens.shape == (matrices.X.shape[1], WIDTH)
    assert tokens.dtype == np.float32
    assert np.isfinite(tokens).all()
    assert list(run.seconds) == ["clusters", "surrogate"]
    cluster_of, _ = clusters_of(matrices, config_of(**settings()))
    labels = unit(matrices.Z @ tokens)
    cosines = labels @ labels.T
    together = cluster_of[:, None] == cluster_of
    apart = ~together
    np.fill_diagonal(together, False)
    assert cosines[together].mean() > cosines[apart].mean() + 0.2
    # And documents are near their labels.
    documents = unit(matrices.X @ tokens) @ labels.T
    right = matrices.Y.toarray() > 0
    assert documents[right].mean() > documents[~right].mean() + 0.2


def test_the_same_seed_gives_the_same_tokens_and_training_can_be_resumed(
    matrices: TrainingMatrices, tmp_path: Path
) -> None:
    config = config_of(**settings(epochs=2))
    one = surrogate_tokens(matrices, WIDTH, config, Run(), None)
    assert (surrogate_tokens(matrices, WIDTH, config, Run(), None) == one).all()
    other = surrogate_tokens(matrices, WIDTH, config_of(**settings(epochs=2), seed=1), Run(), None)
    assert (other != one).any()
    # A stage that is finished is read, not trained again.
    first = Run(checkpoints=tmp_path / "kept")
    assert (surrogate_tokens(matrices, WIDTH, config, first, open_for(first, {"data": 1})) == one).all()
    later = Run(checkpoints=tmp_path / "kept", resume=True)
    assert (surrogate_tokens(matrices, WIDTH, config, later, open_for(later, {"data": 1})) == one).all()
    assert any("is finished" in message for message in later.messages)
