"""Estimates of training time: close to the measurements they were fitted to, and growing with the data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.cost import (
    ENSEMBLE_FACTOR,
    MILLISECONDS,
    DataSize,
    ensemble_seconds,
    in_words,
    training_seconds,
)
from longtail.types import Dataset, Documents, LabelSet

DEBIAN = DataSize(39_653, 42_421, 208_178, 10)
WORDNET = DataSize(81_508, 102_304, 252_675, 3)
EURLEX = DataSize(45_000, 4_271, 225_000, 500)


@pytest.mark.parametrize(
    ("system", "size", "measured"),
    [
        ("linear", DEBIAN, 47),
        ("lexical", DEBIAN, 3),
        ("eclare", DEBIAN, 180),
        ("galaxc", DEBIAN, 180),
        ("gudn", DEBIAN, 2100),
        ("linear", WORDNET, 60),
        ("eclare", WORDNET, 260),
        ("linear", EURLEX, 200),
        ("eclare", EURLEX, 600),
    ],
)
def test_measurements_are_met(system, size, measured):
    assert training_seconds(system, size, cores=1) == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize(("size", "pretrained"), [(DEBIAN, True), (WORDNET, True), (EURLEX, False)])
def test_xgrank_trains_its_encoder_on_short_texts_and_label_vectors_in_every_epoch(size, pretrained):
    quick, usual = (training_seconds("xgrank", size, cores=1, quick=quick) for quick in (True, False))
    epoch = size.documents * (0.3 + 0.16 * size.labels_per_document) / 1e3
    read = size.documents * (min(size.tokens, 64) + min(size.tokens, 20)) * pretrained
    assert usual - quick == pytest.approx(2 * epoch + 0.68 * read / 1e3)
    more = training_seconds("xgrank", replace(size, label_texts=1000), cores=1)
    assert more - usual == pytest.approx(0.34 * 20)


def test_a_fast_machine_gains_less_where_a_transformer_reads():
    def gain(system):
        return training_seconds(system, EURLEX) / training_seconds(system, EURLEX, speed=16.0)

    assert gain("linear") == pytest.approx(16)
    assert gain("gudn") == pytest.approx(2)
    assert 2 < gain("xgrank") < 3


@pytest.mark.parametrize("system", MILLISECONDS)
def test_more_data_take_longer(system):
    size = DEBIAN
    before = training_seconds(system, size)
    assert training_seconds(system, replace(size, words=20)) >= before
    twice = DataSize(2 * size.documents, 2 * size.labels, 2 * size.pairs, size.words)
    assert before < training_seconds(system, twice) <= 2 * before


def test_two_cores_halve_the_time_and_more_are_not_counted_on():
    one, two = (training_seconds("linear", DEBIAN, cores=cores) for cores in (1, 2))
    assert two == one / 2
    assert training_seconds("linear", DEBIAN, cores=16) == two
    assert training_seconds("linear", DEBIAN) == two


def test_an_ensemble_takes_a_little_more_than_its_members():
    alone = [training_seconds(name, DEBIAN) for name in ("linear", "lexical")]
    assert ensemble_seconds(["linear", "lexical"], DEBIAN) == pytest.approx(ENSEMBLE_FACTOR * sum(alone))
    assert ensemble_seconds(["linear"], DEBIAN) == alone[0]


def test_the_size_of_a_data_set():
    titles = [f"word{n}" for n in range(10)]
    texts = ["two words"] * 10
    Y = csr_array(np.tile([[1, 1, 0, 0]], (10, 1)).astype(np.float32))
    data = Dataset(Documents(titles, titles, texts), LabelSet(list("abcd"), [""] * 4), Y)
    size = DataSize.of(data, ("title", "text"))
    assert size == DataSize(10, 4, 20, 3.0)
    assert (size.labels_per_document, size.short, size.tokens) == (2.0, True, pytest.approx(7.4))
    assert DataSize.of(data, ("title",)).words == 1
    assert size.label_texts == 0
    named = replace(data, labels=LabelSet(["word1", "word2", "c", "d"], ["word1", "another", "text", ""]))
    assert DataSize.of(named, ("title",)).label_texts == 2
    none = DataSize.of(Dataset.from_labels({"a": "x"}), ("title", "text"))
    assert none == DataSize(0, 1, 0, 0.0, 1)
    assert none.labels_per_document == 0


def test_an_encoder_reads_128_tokens_at_most():
    assert EURLEX.tokens == 128
    assert not EURLEX.short


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (1.6, "2 seconds"),
        (90, "90 seconds"),
        (119.6, "2 minutes"),
        (1800, "30 minutes"),
        (7200, "2 hours"),
        (12600, "3.5 hours"),
    ],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words
