"""Attention after training: frequent labels are learnt from their documents here, rare ones from their texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.blocks.label_attention import LabelAttention
from longtail.systems.eclare import train
from longtail.systems.eclare.export import Trained
from longtail.training.validation import ValidationSet
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.eclare.worlds import context_of

FREQUENT, RARE = 12, 120


def world() -> Dataset:
    """Names of frequent labels say nothing of their 40 documents; a rare label's words are in its two documents."""
    texts, tags = [], []
    for label in range(FREQUENT):
        for number in range(40):
            texts.append(f"sign{label} mark{label} filler{number}")
            tags.append([f"frequent{label}"])
    for label in range(RARE):
        for number in range(2):
            texts.append(f"left{label} right{label} filler{number}")
            tags.append([f"rare{label}"])
    names = {f"frequent{label}": f"code{label} number{label}" for label in range(FREQUENT)}
    names |= {f"rare{label}": f"left{label} right{label}" for label in range(RARE)}
    return Dataset.from_texts(texts, tags, names)


def trained() -> tuple[Trained, np.ndarray]:
    data = world()
    context = context_of(
        Parts(data, data, data), width=32, epochs=12, negatives={"source": "none", "random": 60}
    )
    assert isinstance(context.validation, ValidationSet)
    ranker = train.train_ranker(context, train.embed(context), None)
    ranker.network.eval()
    return ranker, ranker.targets.counts


def weights_of(ranker: Trained) -> np.ndarray:
    """alpha of all labels [labels, parts]."""
    network, found = ranker.network, []
    assert network.attention is not None
    hook = network.attention.register_forward_hook(lambda _, __, result: found.append(result[1]))
    ranker.classifiers()
    hook.remove()
    return torch.cat(found).numpy()


def test_every_part_has_weight_and_labels_differ() -> None:
    ranker, counts = trained()
    alpha = weights_of(ranker)
    assert alpha.shape == (len(counts), 3)
    assert alpha.mean(axis=0).min() > 0.1
    assert alpha.std(axis=0).max() > 0.01
    # As in Fig. 9: attention times norm, refinement against texts, grows with the documents of a label.
    _, parts = ranker.classifiers()
    share = parts[:, 2] / parts.sum(axis=1)
    assert share[counts == 40].mean() > 2 * share[counts == 2].mean()
    # The weights themselves differ between frequent and rare labels.
    between = alpha[counts == 40].mean(axis=0) - alpha[counts == 2].mean(axis=0)
    assert np.abs(between).max() > 0.01


def test_without_centring_a_part_would_have_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same training with the block of the paper: what the test above would say of a collapse."""

    def plain(self: LabelAttention, parts: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        queries = [torch.sigmoid(self.transform(self.dropout(torch.relu(part)))) for part in parts]
        alpha = torch.softmax(self.weigh(torch.cat(queries, dim=1)), dim=1)
        return sum((alpha[:, i : i + 1] * part for i, part in enumerate(parts)), torch.zeros(())), alpha

    monkeypatch.setattr(LabelAttention, "forward", plain)
    ranker, _ = trained()
    assert weights_of(ranker).mean(axis=0).min() < 0.01
