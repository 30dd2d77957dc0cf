"""Estimates of training time: close to the measurements they were fitted to, and growing with the data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.systems.cost import (
    BFLOAT16,
    ENSEMBLE_FACTOR,
    FLOAT32,
    MEMBER_SHARE,
    MILLISECONDS,
    DataSize,
    ensemble_seconds,
    in_words,
    member_seconds,
    training_seconds,
)
from longtail.systems.quick import quicker
from longtail.types import Dataset, Documents, LabelSet

DEBIAN = DataSize(39_653, 42_421, 208_239, 7.6, 16_490, 7.5)
WORDNET = DataSize(81_508, 102_304, 252_757, 2.5, 102_304, 15.0)
EURLEX = DataSize(45_000, 4_271, 228_322, 593, 4_271, 2.0)


@pytest.mark.parametrize(
    ("system", "size", "member", "alone"),
    [
        ("linear", DEBIAN, 11, 22),
        ("lexical", DEBIAN, 2, 2),
        ("eclare", DEBIAN, 67, 119),
        ("galaxc", DEBIAN, 78, 159),
        ("linear", WORDNET, 28, 50),
        ("lexical", WORDNET, 4, 4),
        ("eclare", WORDNET, 164, 439),
        ("galaxc", WORDNET, 187, 509),
        ("linear", EURLEX, 91, 133),
        ("lexical", EURLEX, 10, 10),
        ("eclare", EURLEX, 67, 128),
        ("galaxc", EURLEX, 107, 173),
    ],
)
def test_measurements_are_met(system, size, member, alone):
    machine = {"cores": 1, "speed": 2**0.5}
    assert member_seconds(system, size, **machine) == pytest.approx(member, rel=0.5)
    assert training_seconds(system, size, **machine) == pytest.approx(alone, rel=0.5)


@pytest.mark.parametrize(("size", "pretrained"), [(DEBIAN, True), (WORDNET, True), (EURLEX, False)])
@pytest.mark.parametrize("pace", [FLOAT32, BFLOAT16])
def test_xgrank_trains_its_encoder_on_short_texts_and_label_vectors_in_every_epoch(size, pretrained, pace):
    def seconds(size, quick=False):
        settings = quicker(size)[-1]["xgrank"] if quick else None
        return training_seconds("xgrank", size, cores=1, settings=settings, pace=pace)

    epoch = size.documents * (0.3 + 0.16 * size.labels_per_document) / 1e3
    label, short = (min(n, size.label_tokens) for n in (20, 18))
    read = pace.read * (size.documents * size.tokens + size.label_texts * label) / 1e3
    trained = pace.train * size.documents * (min(size.tokens, 64) + label) / 1e3
    assert seconds(size) == pytest.approx(6 + read + pretrained * trained + 5 * epoch)
    if pretrained:
        read -= pace.read * size.label_texts * (label - short) / 1e3
        trained = pace.train * size.documents * (min(size.tokens, 64) + short) / 1e3
        assert seconds(size, quick=True) == pytest.approx(6 + 4 / 6 * (read + trained / 4) + 2 * epoch)
    else:
        read = pace.read * size.documents * size.tokens / 1e3
        assert seconds(size, quick=True) == pytest.approx(6 + read + 3 * epoch)


def test_encoders_are_trained_faster_with_bfloat16():
    for system in ("xgrank", "gudn", "dual"):
        exact, rounded = (training_seconds(system, DEBIAN, pace=pace) for pace in (FLOAT32, BFLOAT16))
        assert rounded < 0.6 * exact
    assert training_seconds("eclare", DEBIAN, pace=BFLOAT16) == training_seconds("eclare", DEBIAN)


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
    counts = ("documents", "labels", "pairs", "label_texts")
    twice = replace(size, **{name: 2 * getattr(size, name) for name in counts})
    assert before < training_seconds(system, twice) <= 2 * before


def test_two_cores_halve_the_time_and_more_are_not_counted_on():
    one, two = (training_seconds("linear", DEBIAN, cores=cores) for cores in (1, 2))
    assert two == one / 2
    assert training_seconds("linear", DEBIAN, cores=16) == two
    assert training_seconds("linear", DEBIAN) == two


def test_an_ensemble_takes_a_little_more_than_its_members():
    linear, lexical = (training_seconds(name, DEBIAN) for name in ("linear", "lexical"))
    together = ensemble_seconds(["linear", "lexical"], DEBIAN)
    assert together == pytest.approx(ENSEMBLE_FACTOR * (MEMBER_SHARE["linear"] * linear + lexical))
    assert ensemble_seconds(["linear"], DEBIAN) == linear


def test_the_size_of_a_data_set():
    titles = [f"word{n}" for n in range(10)]
    texts = ["two words"] * 10
    Y = csr_array(np.tile([[1, 1, 0, 0]], (10, 1)).astype(np.float32))
    data = Dataset(Documents(titles, titles, texts), LabelSet(list("abcd"), [""] * 4), Y)
    size = DataSize.of(data, ("title", "text"))
    assert size == DataSize(10, 4, 20, 3.0, label_words=0.0)
    assert (size.labels_per_document, size.short, size.tokens) == (2.0, True, pytest.approx(7.4))
    assert DataSize.of(data, ("title",)).words == 1
    assert size.label_texts == 0
    named = replace(data, labels=LabelSet(["word1", "word2", "c", "d"], ["word1", "another", "text", ""]))
    assert DataSize.of(named, ("title",)).label_texts == 2
    none = DataSize.of(Dataset.from_labels({"a": "x"}), ("title", "text"))
    assert none == DataSize(0, 1, 0, 0.0, 1, 1.0)
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
