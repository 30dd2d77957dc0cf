"""Modules I and IV: what a document sees, what it is asked, what learns and what stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from longtail.losses.bce import bce
from longtail.losses.grank import grank
from longtail.systems.galaxc.task import Learn, Look, trust_of
from longtail.training.batches import Batch
from longtail.training.train_config import TrainConfig
from longtail.training.trainer import train
from tests.planted import Parts
from tests.systems.galaxc.worlds import Workshop, workshop_of

CPU = torch.device("cpu")


def task_of(shop: Workshop, hard: np.ndarray | None = None, **parts: Any) -> Learn:
    return Learn(
        shop.learnt.network,
        shop.learnt.free,
        shop.learnt.logits,
        shop.space,
        shop.documents,
        shop.around,
        shop.course.rows.Y,
        shop.course.rows.own,
        hard,
        shop.course.config,
        **parts,
    )


def begun(task: Learn, seed: int = 0) -> Learn:
    torch.manual_seed(seed)
    task.on_epoch_start(0)
    return task


def hard_of(shop: Workshop, m: int = 6) -> np.ndarray:
    """Some wrong labels of each document."""
    Y = shop.course.rows.Y.toarray()
    return np.argsort(Y, axis=1, kind="stable")[:, :m].astype(np.int32)


def batch_of(*rows: int) -> Batch:
    return Batch(np.array(rows), 0, 0, 0)


@pytest.mark.parametrize(("name", "compare"), [("bce", bce), ("grank", grank)])
@pytest.mark.parametrize("node", [True, False])
@pytest.mark.parametrize("attention", [True, False])
def test_the_loss_is_that_of_all_parts(
    tiny: Parts, name: str, compare: Any, node: bool, attention: bool
) -> None:
    shop = workshop_of(
        tiny.train,
        loss=name,
        classifier={"node": node, "attention": attention, "attention_start": 1.0, "shrink": 3.0},
        negatives={"random": 1000, "corrected": False},
        neighbourhood={"near": 0.5, "ask_visible": True},
    )
    shop.learnt.free.weight.normal_(generator=torch.Generator().manual_seed(1))
    task = begun(task_of(shop))
    task.network.eval()
    batch = batch_of(0, 5, 9, 20)
    network = task.network
    look = task._look
    seen = network.documents(look.documents(task._lists[batch.rows], shop.documents[batch.rows], CPU))
    counts = np.bincount(shop.course.rows.Y.indices, minlength=40)
    classifiers = shop.learnt.free.weight * torch.from_numpy(counts / (counts + 3.0)).float()[:, None]
    if node:
        classifiers = classifiers + network.node_part(look.labels(np.arange(40), CPU))
    scores = network.scores(seen, classifiers, shop.learnt.logits.weight if attention else None)
    positive = torch.from_numpy(shop.course.rows.Y[batch.rows].toarray() > 0)
    expected = compare(scores, positive, ~positive, None).mean()
    torch.testing.assert_close(task.loss(batch), expected, rtol=1e-4, atol=1e-5)


def test_sums_of_labels_are_kept_for_an_epoch_where_there_is_room(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = workshop_of(tiny.train)
    kept = begun(task_of(shop))
    kept.network.eval()
    assert kept._label_terms is not None
    first = kept.loss(batch_of(1, 2, 3))
    monkeypatch.setattr("longtail.systems.galaxc.task.KEPT_BYTES", 0)
    begun(kept)
    assert kept._label_terms is None
    torch.testing.assert_close(kept.loss(batch_of(1, 2, 3)), first)


def test_neighbours_are_drawn_anew_each_epoch(tiny: Parts) -> None:
    task = begun(task_of(workshop_of(tiny.train, neighbourhood={"near": 0.5})))
    lists, seed = task._lists.copy(), task._look.seed
    assert np.array_equal(begun(task)._lists, lists)
    begun(task, seed=1)
    assert not np.array_equal(task._lists, lists)
    assert task._look.seed != seed


def test_labels_that_are_seen_are_not_asked_for(tiny: Parts) -> None:
    for ask, near in ((False, 0.0), (True, 0.0), (False, 1.0)):
        shop = workshop_of(tiny.train, neighbourhood={"near": near, "mask_positive": 0.0, "ask_visible": ask})
        task = begun(task_of(shop))
        question = task.loss_function.draw(batch_of(0, 5, 9), CPU)
        assert bool(question.positive.any()) == (ask or near == 1.0)
        own = set(shop.space.graph.node_of_label[shop.course.rows.Y[[5]].indices].tolist())
        if near == 0.0:
            assert own & set(task._lists[5].tolist()) == own


def test_module_one_learns_everything(tiny: Parts) -> None:
    task = begun(task_of(workshop_of(tiny.train, loss="bce", neighbourhood={"ask_visible": True})))
    torch.autograd.backward(task.loss(batch_of(*range(30))))
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in task.network.parameters())
    for table in task.tables().values():
        found = table.gradient()
        assert found is not None
        assert (found[1] != 0).any()


@pytest.mark.parametrize("encoder", ["galaxc", "gin", "graphsage"])
def test_module_four_leaves_what_makes_embeddings(tiny: Parts, encoder: str) -> None:
    node = encoder == "galaxc"
    shop = workshop_of(
        tiny.train,
        graph={"encoder": encoder},
        classifier={"node": node},
        transform={"batch_norm": True},
        loss="bce",
    )
    network = shop.learnt.network
    settings = TrainConfig(epochs=1, lr=0.02, batch_size=64, weight_decay=0.1)
    train(task_of(shop), settings, stage="joint", seed=0, run=shop.course.run)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    tables = [table.weight.clone() for table in (shop.learnt.free, shop.learnt.logits)]
    train(task_of(shop, hard_of(shop)), settings, stage="refine", seed=0, run=shop.course.run)
    changed = {name for name, value in network.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"bias"}
    for old, table in zip(tables, (shop.learnt.free, shop.learnt.logits), strict=True):
        assert not torch.equal(old, table.weight)


def test_module_four_has_no_dropout_and_asks_hard_negatives(tiny: Parts) -> None:
    shop = workshop_of(tiny.train, neighbourhood={"near": 1.0})
    hard = hard_of(shop)
    task = begun(task_of(shop, hard))
    batch = batch_of(5, 9)
    torch.testing.assert_close(task.loss(batch), task.loss(batch), rtol=0, atol=0)
    question = task.loss_function.draw(batch, CPU)
    right = set(shop.course.rows.Y[batch.rows].indices.tolist())
    assert set(question.columns.tolist()) <= right | set(hard[batch.rows].ravel().tolist())
    assert len(question.columns) > len(right)


def test_without_attention_its_logits_are_no_table(tiny: Parts) -> None:
    assert set(task_of(workshop_of(tiny.train)).tables()) == {"free", "logits"}
    shop = workshop_of(tiny.train, classifier={"attention": False})
    assert set(task_of(shop).tables()) == {"free"}


@pytest.mark.parametrize("encoder", ["galaxc", "gin", "graphsage"])
def test_what_a_document_sees_does_not_depend_on_the_batch(tiny: Parts, encoder: str) -> None:
    shop = workshop_of(tiny.train, graph={"encoder": encoder}, classifier={"node": encoder == "galaxc"})
    network = shop.learnt.network.eval()
    look = Look(network, shop.space, (4, 3, 2), 3)
    lists = shop.around.near[:20]
    with torch.no_grad():
        together = look.documents(lists, shop.documents[:20], CPU)
        alone = torch.cat([look.documents(lists[[i]], shop.documents[[i]], CPU) for i in range(20)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)


def test_several_samples_are_averaged(tiny: Parts) -> None:
    shop = workshop_of(tiny.train, graph={"own": False}, transform={"unit": False})
    look = Look(shop.learnt.network.eval(), shop.space, (2, 2, 2), 3)
    some = np.array([0, 3, 7])
    mean = look.labels(some, CPU, 3)
    parts = [Look(look.network, shop.space, (2, 2, 2), 3 + i).labels(some, CPU) for i in range(3)]
    torch.testing.assert_close(mean, torch.stack(parts).mean(dim=0), rtol=1e-4, atol=1e-4)


def test_rare_labels_free_parts_count_less() -> None:
    found = trust_of(np.array([0, 5, 95]), 5.0).ravel().tolist()
    assert found == pytest.approx([0, 0.5, 0.95])
    assert trust_of(np.array([0, 5]), 0.0).ravel().tolist() == [1, 1]
