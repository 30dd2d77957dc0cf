"""Steps of the course: label texts as tokens, trust in identities, one model from start to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.common.holding_out import held_documents
from longtail.systems.xgrank.modules import label_bags, learn, trust_of
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.types import LabelSet
from tests.planted import Parts
from tests.systems.xgrank.worlds import course


def test_label_texts_as_tokens(encoder: Path, tiny: Parts) -> None:
    subwords = Subwords(EncoderFolder.of(encoder), 24)
    plain = subwords(course(encoder, tiny.train).texts, special=False)
    Z, idf = label_bags(course(encoder, tiny.train), subwords, plain)
    assert Z is not None
    assert idf is not None
    assert Z.shape == (len(tiny.train.labels), subwords.size)
    mean, none = label_bags(course(encoder, tiny.train, labels={"weights": "mean"}), subwords, plain)
    assert none is None
    assert mean is not None
    assert np.asarray(mean.sum(axis=1)) == pytest.approx(np.ones(mean.shape[0]))
    assert label_bags(course(encoder, tiny.train, labels={"text": False}), subwords, plain) == (None, None)
    silent = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    assert label_bags(course(encoder, silent), subwords, plain) == (None, None)


def test_trust_in_identities() -> None:
    Z = csr_array(np.array([[1, 0], [1, 0], [0, 0]], np.float32))
    counts = np.array([0, 2, 0])
    # Without a text there is nothing else.
    assert trust_of(counts, Z, 2.0).tolist() == [0, 0.5, 1]
    assert trust_of(counts, Z, 0.0).tolist() == [1, 1, 1]
    assert trust_of(counts, None, 2.0).tolist() == [1, 1, 1]


def test_one_model(encoder: Path, tiny: Parts) -> None:
    steps = course(encoder, tiny.train)
    held = held_documents(tiny.valid, steps.rows, steps.config.fields, None)
    member = learn(steps, 0, str(encoder), held, tiny.valid.documents.joined())
    assert member.vectors.labels.shape == (40, 32)
    assert member.vectors.clusters.shape[0] == 8
    assert any("have no label" in message for message in steps.run.messages)
    assert {"tokens", "clusters", "train"} <= steps.run.seconds.keys()
    assert not member.reader.network.training
    again = learn(course(encoder, tiny.train), 0, str(encoder), held, tiny.valid.documents.joined())
    assert (again.vectors.labels == member.vectors.labels).all()
    other = learn(course(encoder, tiny.train), 1, str(encoder), held, tiny.valid.documents.joined())
    assert (other.vectors.codes != member.vectors.codes).any()
