"""The loss of Eq. 6 against the equations by hand, every switch of the guide, and what a step touches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longtail.blocks.transformer import States
from longtail.errors import TrainingError
from longtail.run import Run
from longtail.systems.common.question import best_columns
from longtail.systems.gudn.task import Learn
from longtail.training.trainer import train as run_stage
from tests.planted import Parts
from tests.systems.gudn.worlds import batch, task

ROWS = [0, 3, 4, 9]
OFF = {"feature": False, "link": False}


def bce(scores: torch.Tensor, right: np.ndarray) -> torch.Tensor:
    """Eq. 3 and 5 as they are written, for each document."""
    y, p = torch.from_numpy(right.astype(np.float32)), torch.sigmoid(scores)
    return (-y * torch.log(p) - (1 - y) * torch.log(1 - p)).sum(dim=1)


def parts(learn: Learn, rows: list[int], epoch: int = 0) -> dict[str, torch.Tensor]:
    """The three losses by hand; every document of ``rows`` has labels with texts."""
    corpus, network, tables = learn.corpus, learn.network, learn.labels
    right = corpus.Y[rows].toarray() > 0
    assert corpus.sentences is not None
    with torch.no_grad():
        text = network.joined(network.encoder(corpus.tokens.take(np.array(rows))))
        labels = network.joined(network.encoder(corpus.sentences.take(np.array(rows), epoch)[0]))
        link = tables.classifier if tables.link is None else tables.link
        return {
            "class": bce(network.query(text) @ tables.classifier.weight.T, right).mean(),
            "link": bce(network.query(labels, link=True) @ link.weight.T, right).mean(),
            "sum": (text - labels).square().sum() / (2 * len(rows)),
            "mean": (text - labels).square().mean() / 2,
            "pooled": (network.pooled(text) - network.pooled(labels)).square().mean() / 2,
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
    learn = task(encoder, tiny.train, guide=guide)
    learn.on_epoch_start(0)
    found = float(learn.loss(batch(ROWS)).detach())
    if guide == OFF:
        learn = task(encoder, tiny.train)
    expected = parts(learn, ROWS)
    assert found == pytest.approx(sum(float(expected[term]) for term in terms), rel=1e-4)


def test_a_classifier_of_its_own_is_another(encoder: Path, tiny: Parts) -> None:
    shared, own = (
        task(encoder, tiny.train, guide={"share_classifier": is_shared}) for is_shared in (True, False)
    )
    assert shared.labels.link is None
    assert own.labels.link is not None
    assert own.network.project_link is not None
    own.loss(batch(ROWS)).backward()
    for table in (own.labels.classifier, own.labels.link):
        assert table.gradient() is not None


def test_each_epoch_reads_label_texts_in_another_order(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train, guide={"tokens": 10})
    losses = [float(learn.loss(batch(ROWS, epoch)).detach()) for epoch in (0, 0, 1, 2)]
    assert losses[0] == losses[1]
    assert len(set(losses)) == 3


def test_documents_without_labels_have_no_guide(encoder: Path, tiny: Parts) -> None:
    """Document 1 has no labels: it learns that all are wrong, and nothing else."""
    guided, plain = task(encoder, tiny.train), task(encoder, tiny.train, guide=OFF)
    assert float(guided.loss(batch([1])).detach()) == float(plain.loss(batch([1])).detach())
    both, one = parts(guided, [0]), float(plain.loss(batch([0, 1])).detach())
    expected = one + float(both["link"] + both["mean"]) / 2
    assert float(guided.loss(batch([0, 1])).detach()) == pytest.approx(expected, rel=1e-4)


def test_pieces_of_a_batch_add_up_to_it(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train)
    rows = [0, 1, 3, 4]
    whole = float(learn.loss(batch(rows)).detach())
    halves = [float(learn.loss(batch(part)).detach()) for part in (rows[:2], rows[2:])]
    assert whole == pytest.approx(sum(halves) / 2, rel=1e-5)


def gradients(learn: Learn) -> dict[str, torch.Tensor]:
    """Of the feature guide alone."""
    learn.network.zero_grad()
    text = learn.network.joined(learn.network.encoder(learn.corpus.tokens.take(np.array(ROWS))))
    labels, _ = learn._label_features(batch(ROWS), learn.corpus.Y[ROWS])
    text.retain_grad()
    labels.retain_grad()
    learn._feature_loss(text, labels).backward()
    return {"text": text.grad, "labels": torch.zeros_like(labels) if labels.grad is None else labels.grad}


def test_stopped_gradients_draw_texts_alone(encoder: Path, tiny: Parts) -> None:
    both = gradients(task(encoder, tiny.train))
    assert torch.equal(both["text"], -both["labels"])
    assert both["text"].any()
    stopped = gradients(task(encoder, tiny.train, guide={"stop_gradient": "label"}))
    assert torch.equal(stopped["text"], both["text"])
    assert not stopped["labels"].any()


def test_a_step_draws_features_together(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train, guide={"link": False})
    before = float(parts(learn, ROWS)["mean"])
    optimiser = torch.optim.SGD(learn.network.encoder.parameters(), lr=0.05)
    for _ in range(5):
        optimiser.zero_grad()
        gradients(learn)
        optimiser.step()
    assert float(parts(learn, ROWS)["mean"]) < before


def test_one_hot_labels_have_vectors_and_no_texts(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train, guide={"labels": "one-hot"})
    assert learn.corpus.sentences is None
    one_hot = learn.labels.one_hot
    assert one_hot is not None
    features, have = learn._label_features(batch([0, 1, 3]), learn.corpus.Y[[0, 1, 3]])
    assert have.tolist() == [0, 2]
    own = learn.corpus.Y[[0]].indices
    assert torch.allclose(features[0], one_hot.weight[torch.from_numpy(own).long()].sum(dim=0), atol=1e-6)
    learn.loss(batch(ROWS)).backward()
    assert one_hot.gradient() is not None


def test_negatives_come_from_clusters_and_all_positives_are_in(encoder: Path, tiny: Parts) -> None:
    codes = np.arange(40, dtype=np.int64) % 8
    clusters = {"negatives": None, "training_beam": 2}
    learn = task(encoder, tiny.train, codes=codes, clusters=clusters)
    Y = learn.corpus.Y[ROWS]
    text = learn.network.joined(learn.network.encoder(learn.corpus.tokens.take(np.array(ROWS))))
    retrieving, asked = learn._asked(batch(ROWS), Y, text)
    assert retrieving is not None
    assert asked.positive.sum() == Y.nnz
    right = np.zeros((4, 40), bool)
    right[:, asked.columns] = asked.positive
    assert (right == (Y.toarray() > 0)).all()
    assert learn.network.retrieve is not None
    found = best_columns(learn.network.retrieve(text).detach().numpy(), 2)
    used = found.any(axis=0)
    used[codes[Y.indices]] = True
    assert set(asked.columns.tolist()) == set(np.flatnonzero(used[codes]).tolist())
    assert len(asked.columns) < 40


def test_few_labels_are_all_asked_for(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train)
    text = learn.network.joined(learn.network.encoder(learn.corpus.tokens.take(np.array(ROWS))))
    retrieving, asked = learn._asked(batch(ROWS), learn.corpus.Y[ROWS], text)
    assert retrieving is None
    assert asked.columns.tolist() == list(range(40))


def test_a_step_touches_its_batch_alone(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train, clusters={"negatives": 3})
    learn.loss(batch([0])).backward()
    touched = learn.labels.classifier.gradient()
    assert touched is not None
    assert len(touched[0]) <= 3 + learn.corpus.Y[[0]].nnz
    words = learn.words.gradient()
    assert words is not None
    assert len(words[0]) < len(learn.words)


def test_frozen_layers_and_words_do_not_learn(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train, encoder={"name": str(encoder), "tokens": 24, "frozen": 2})
    learn.loss(batch(ROWS)).backward()
    assert learn.words.gradient() is None
    assert all(p.grad is None for p in learn.network.encoder.parameters())


def test_what_learns_at_which_rate(encoder: Path, tiny: Parts) -> None:
    learn = task(
        encoder, tiny.train, encoder={"name": str(encoder), "tokens": 24, "frozen": None, "layer_decay": 0.5}
    )
    rates = {name: learn.rate(name) for name, _ in learn.network.named_parameters()}
    assert rates["project.weight"] == 10
    assert {rate for name, rate in rates.items() if "layer.1." in name} == {1}
    assert {rate for name, rate in rates.items() if "layer.0." in name} == {0.5}
    assert learn.rate("table/classifier") == 1
    # Word embeddings are a table, but learn as the encoder does: 0.001 of 0.02.
    assert learn.rate("table/words") == pytest.approx(0.05 * 0.25)


def test_texts_of_frozen_layers_are_read_once(encoder: Path, tiny: Parts) -> None:
    more = {"name": str(encoder), "tokens": 24, "frozen": 1}
    kept = task(encoder, tiny.train, encoder={**more, "cache": "float32"})
    computed = task(encoder, tiny.train, encoder={**more, "cache": "none"})
    for learn in (kept, computed):
        learn.on_epoch_start(0)
    assert (kept.texts.keeps, computed.texts.keeps) == (True, False)
    torch.manual_seed(0)
    one = kept.loss(batch(ROWS))
    torch.manual_seed(0)
    torch.testing.assert_close(one.detach(), computed.loss(batch(ROWS)).detach())


def test_a_collapse_ends_training_with_a_clear_error(
    encoder: Path, tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = task(encoder, tiny.train, train={"epochs": 40, "lr": 0.001, "batch_size": 16})
    joined = learn.network.joined

    def collapsing(states: States) -> torch.Tensor:
        found = joined(states)
        return found if len(learn.spread.first) < 8 else found.mean() + 0 * found

    monkeypatch.setattr(learn.network, "joined", collapsing)
    with pytest.raises(TrainingError, match="have become the same"):
        run_stage(learn, learn.config.train, stage="train", seed=0, run=Run())


def test_the_variance_is_among_the_figures(encoder: Path, tiny: Parts) -> None:
    learn = task(encoder, tiny.train)
    assert learn.validate() is None
    learn.validation = lambda: {"P@1": 1.0}
    learn.loss(batch(ROWS))
    found = learn.validate()
    assert found is not None
    assert found == {"P@1": 1.0, "variance": learn.spread.of_epoch}
    assert found["variance"] > 0
    again = task(encoder, tiny.train)
    again.restore(learn.state())
    assert again.spread.first == learn.spread.first
