"""The network, and the loss of Eq. 6 against the equations by hand, with every switch of the guide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.transformer import States
from longtail.errors import TrainingError
from longtail.run import Run
from longtail.systems.gudn.model import GuidedTask
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Padded, Subwords
from longtail.training.sampled_negatives import best_columns
from longtail.training.trainer import train as run_stage
from tests.planted import Parts
from tests.systems.gudn.worlds import batch, guided_task, network
from tests.tiny_encoders import WIDTH

ROWS = [0, 3, 4, 9]
OFF = {"feature": False, "link": False}


def test_features_are_those_of_all_layers_where_there_are_fewer_than_ten(encoder: Path) -> None:
    made = network(encoder)
    tokens = Subwords(EncoderFolder.of(encoder))(["bade", "figo kula"]).take(np.arange(2))
    with torch.no_grad():
        found = made.states(tokens)
        states = made.encoder(tokens)
    assert made.n_features == found.shape[1] == 2 * WIDTH
    assert torch.equal(found[:, :WIDTH], states[-1][:, 0])
    assert torch.equal(found[:, WIDTH:], states[1][:, 0])
    assert torch.equal(made.last_layer(found), states[-1][:, 0])


def test_a_query_ends_in_one(encoder: Path) -> None:
    made = network(encoder, separate_link=True)
    x = torch.randn((3, made.n_features))
    assert made.project is not None
    assert torch.equal(made.query(x)[:, :-1], made.project(x))
    assert (made.query(x)[:, -1] == 1).all()
    assert made.width == 17
    assert not torch.equal(made.query(x), made.query(x, link=True))


def test_without_a_width_features_are_the_query(encoder: Path) -> None:
    made = network(encoder, width=None)
    x = torch.randn((3, made.n_features))
    assert torch.equal(made.query(x)[:, :-1], x)
    assert torch.equal(made.query(x), made.query(x, link=True))
    assert made.width == 2 * WIDTH + 1


def bce(scores: torch.Tensor, positive: np.ndarray) -> torch.Tensor:
    """Eq. 3 and 5 as they are written, per document."""
    y, p = torch.from_numpy(positive.astype(np.float32)), torch.sigmoid(scores)
    return (-y * torch.log(p) - (1 - y) * torch.log(1 - p)).sum(dim=1)


def parts(task: GuidedTask, rows: list[int], epoch: int = 0) -> dict[str, torch.Tensor]:
    """The three losses by hand; every document of ``rows`` has labels with texts."""
    inputs, network, tables = task.inputs, task.network, task.labels
    positive = inputs.Y[rows].toarray() > 0
    assert inputs.label_sequences is not None
    with torch.no_grad():
        text = network.states(inputs.tokens.take(np.array(rows)))
        labels = network.states(inputs.label_sequences.take(np.array(rows), epoch)[0])
        link = tables.classifier if tables.link is None else tables.link
        return {
            "class": bce(network.query(text) @ tables.classifier.weight.T, positive).mean(),
            "link": bce(network.query(labels, link=True) @ link.weight.T, positive).mean(),
            "sum": (text - labels).square().sum() / (2 * len(rows)),
            "mean": (text - labels).square().mean() / 2,
            "pooled": (network.last_layer(text) - network.last_layer(labels)).square().mean() / 2,
        }


@pytest.mark.parametrize(
    ("guide", "terms"),
    [
        ({"distance": "sum"}, ["class", "link", "sum"]),
        ({"distance": "mean"}, ["class", "link", "mean"]),
        ({"feature_space": "pooled"}, ["class", "link", "pooled"]),
        ({"stop_gradient": "label"}, ["class", "link", "mean"]),
        ({"share_classifier": False}, ["class", "link", "mean"]),
        ({"feature": False}, ["class", "link"]),
        ({"link": False}, ["class", "mean"]),
        (OFF, ["class"]),
    ],
)
def test_it_is_the_unweighted_sum(
    encoder: Path, tiny: Parts, guide: dict[str, Any], terms: list[str]
) -> None:
    task = guided_task(encoder, tiny.train, guide=guide)
    task.on_epoch_start(0)
    found = float(task.loss(batch(ROWS)).detach())
    if guide == OFF:
        task = guided_task(encoder, tiny.train)
    expected = parts(task, ROWS)
    assert found == pytest.approx(sum(float(expected[term]) for term in terms), rel=1e-4)


def test_the_link_guide_may_have_a_classifier_of_its_own(encoder: Path, tiny: Parts) -> None:
    shared, separate = (
        guided_task(encoder, tiny.train, guide={"share_classifier": is_shared}) for is_shared in (True, False)
    )
    assert shared.labels.link is None
    assert separate.labels.link is not None
    assert separate.network.project_link is not None
    separate.loss(batch(ROWS)).backward()
    for table in (separate.labels.classifier, separate.labels.link):
        assert table.gradient() is not None


def test_each_epoch_has_another_order_of_label_texts(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train, guide={"tokens": 10})
    losses = [float(task.loss(batch(ROWS, epoch)).detach()) for epoch in (0, 0, 1, 2)]
    assert losses[0] == losses[1]
    assert len(set(losses)) == 3


def test_documents_without_labels_have_no_guide(encoder: Path, tiny: Parts) -> None:
    """Document 1 has no labels: all labels are its negatives, and that is its whole loss."""
    guided, plain = guided_task(encoder, tiny.train), guided_task(encoder, tiny.train, guide=OFF)
    assert float(guided.loss(batch([1])).detach()) == float(plain.loss(batch([1])).detach())
    both, one = parts(guided, [0]), float(plain.loss(batch([0, 1])).detach())
    expected = one + float(both["link"] + both["mean"]) / 2
    assert float(guided.loss(batch([0, 1])).detach()) == pytest.approx(expected, rel=1e-4)


def test_pieces_of_a_batch_add_up_to_it(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train)
    rows = [0, 1, 3, 4]
    whole = float(task.loss(batch(rows)).detach())
    halves = [float(task.loss(batch(part)).detach()) for part in (rows[:2], rows[2:])]
    assert whole == pytest.approx(sum(halves) / 2, rel=1e-5)


def gradients(task: GuidedTask) -> dict[str, torch.Tensor]:
    """Of the feature guide alone."""
    task.network.zero_grad()
    text = task.network.states(task.inputs.tokens.take(np.array(ROWS)))
    labels, _ = task._label_features(batch(ROWS), task.inputs.Y[ROWS])
    text.retain_grad()
    labels.retain_grad()
    task._feature_loss(text, labels).backward()
    return {"text": text.grad, "labels": torch.zeros_like(labels) if labels.grad is None else labels.grad}


def test_stopped_gradients_move_texts_alone(encoder: Path, tiny: Parts) -> None:
    both = gradients(guided_task(encoder, tiny.train))
    assert torch.equal(both["text"], -both["labels"])
    assert both["text"].any()
    stopped = gradients(guided_task(encoder, tiny.train, guide={"stop_gradient": "label"}))
    assert torch.equal(stopped["text"], both["text"])
    assert not stopped["labels"].any()


def test_a_step_reduces_the_distance_of_features(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train, guide={"link": False})
    before = float(parts(task, ROWS)["mean"])
    optimiser = torch.optim.SGD(task.network.encoder.parameters(), lr=0.05)
    for _ in range(5):
        optimiser.zero_grad()
        gradients(task)
        optimiser.step()
    assert float(parts(task, ROWS)["mean"]) < before


def test_one_hot_labels_have_vectors_and_no_texts(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train, guide={"labels": "one-hot"})
    assert task.inputs.label_sequences is None
    one_hot = task.labels.one_hot
    assert one_hot is not None
    features, have = task._label_features(batch([0, 1, 3]), task.inputs.Y[[0, 1, 3]])
    assert have.tolist() == [0, 2]
    labels = task.inputs.Y[[0]].indices
    assert torch.allclose(features[0], one_hot.weight[torch.from_numpy(labels).long()].sum(dim=0), atol=1e-6)
    task.loss(batch(ROWS)).backward()
    assert one_hot.gradient() is not None


def test_negatives_come_from_clusters_and_all_positives_are_in(encoder: Path, tiny: Parts) -> None:
    cluster_of = np.arange(40, dtype=np.int64) % 8
    clusters = {"negatives": None, "training_beam": 2}
    task = guided_task(encoder, tiny.train, cluster_of=cluster_of, clusters=clusters)
    Y = task.inputs.Y[ROWS]
    text = task.network.states(task.inputs.tokens.take(np.array(ROWS)))
    retrieval, sampled = task._sample(batch(ROWS), Y, text)
    assert retrieval is not None
    assert sampled.positive.sum() == Y.nnz
    positive = np.zeros((4, 40), bool)
    positive[:, sampled.columns] = sampled.positive
    assert (positive == (Y.toarray() > 0)).all()
    assert task.network.retrieve is not None
    found = best_columns(task.network.retrieve(text).detach().numpy(), 2)
    used = found.any(axis=0)
    used[cluster_of[Y.indices]] = True
    assert set(sampled.columns.tolist()) == set(np.flatnonzero(used[cluster_of]).tolist())
    assert len(sampled.columns) < 40


def test_few_labels_are_all_ranked(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train)
    text = task.network.states(task.inputs.tokens.take(np.array(ROWS)))
    retrieval, sampled = task._sample(batch(ROWS), task.inputs.Y[ROWS], text)
    assert retrieval is None
    assert sampled.columns.tolist() == list(range(40))


def test_a_step_touches_its_batch_alone(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train, clusters={"negatives": 3})
    task.loss(batch([0])).backward()
    touched = task.labels.classifier.gradient()
    assert touched is not None
    assert len(touched[0]) <= 3 + task.inputs.Y[[0]].nnz
    words = task.words.gradient()
    assert words is not None
    assert len(words[0]) < len(task.words)


def test_frozen_layers_and_words_are_not_trained(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train, encoder={"name": str(encoder), "tokens": 24, "frozen": 2})
    task.loss(batch(ROWS)).backward()
    assert task.words.gradient() is None
    assert all(p.grad is None for p in task.network.encoder.parameters())


def test_learning_rates(encoder: Path, tiny: Parts) -> None:
    task = guided_task(
        encoder, tiny.train, encoder={"name": str(encoder), "tokens": 24, "frozen": None, "layer_decay": 0.5}
    )
    rates = {name: task.rate(name) for name, _ in task.network.named_parameters()}
    assert rates["project.weight"] == 10
    assert {rate for name, rate in rates.items() if "layer.1." in name} == {1}
    assert {rate for name, rate in rates.items() if "layer.0." in name} == {0.5}
    assert task.rate("table/classifier") == 1
    # Word embeddings are a table with the rate of the encoder: 0.001 of 0.02.
    assert task.rate("table/words") == pytest.approx(0.05 * 0.25)


def test_outputs_of_frozen_layers_are_computed_once(encoder: Path, tiny: Parts) -> None:
    more = {"name": str(encoder), "tokens": 24, "frozen": 1}
    kept = guided_task(encoder, tiny.train, encoder={**more, "cache": "float32"})
    computed = guided_task(encoder, tiny.train, encoder={**more, "cache": "none"})
    for task in (kept, computed):
        task.on_epoch_start(0)
    assert (kept.texts.keeps, computed.texts.keeps) == (True, False)
    torch.manual_seed(0)
    one = kept.loss(batch(ROWS))
    torch.manual_seed(0)
    torch.testing.assert_close(one.detach(), computed.loss(batch(ROWS)).detach())


def test_a_collapse_ends_training_with_a_clear_error(
    encoder: Path, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = guided_task(encoder, tiny.train, train={"epochs": 40, "lr": 0.001, "batch_size": 16})
    vectors = task.network.states.of_states

    def collapsing(states: States, tokens: Padded) -> torch.Tensor:
        found = vectors(states, tokens)
        return found if len(task.spread.first) < 8 else found.mean() + 0 * found

    monkeypatch.setattr(task.network.states, "of_states", collapsing)
    with pytest.raises(TrainingError, match="have become the same"):
        run_stage(task, task.config.train, stage="train", seed=0, run=Run())


def test_the_variance_is_among_the_metrics(encoder: Path, tiny: Parts) -> None:
    task = guided_task(encoder, tiny.train)
    assert task.validate() is None
    task.validation = lambda: {"P@1": 1.0}
    task.loss(batch(ROWS))
    found = task.validate()
    assert found is not None
    assert found == {"P@1": 1.0, "variance": task.spread.of_epoch}
    assert found["variance"] > 0
    again = guided_task(encoder, tiny.train)
    again.restore(task.state())
    assert again.spread.first == task.spread.first
