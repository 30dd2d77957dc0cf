"""Vectors of sentences: light ones keep what tells documents apart, a transformer's are its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.systems.gnnxml.config import DocumentsConfig
from longtail.systems.gnnxml.sentence_encoders import (
    SAMPLE,
    LightEncoder,
    Projection,
    TransformerEncoder,
    fit_projection,
    sampled,
)
from longtail.text.keywords import KeywordFinder
from longtail.text.passages import read_passages
from longtail.threads import limit
from tests.tiny_encoders import WIDTH, write_transformer

TEXTS = ["red apples and pears. Green trees", "green pears", "red trees and red pears", "apples"]


def light(seed: int = 0) -> LightEncoder:
    finder = KeywordFinder.learn(TEXTS, DocumentsConfig(min_documents=1))
    passages = read_passages(TEXTS)
    rows = finder.document_rows(passages, finder.numbers(passages))
    return LightEncoder(finder, Projection(fit_projection(rows, 3, seed=seed)))


def low_rank(rank: int) -> csr_array:
    random = np.random.default_rng(0)
    strong = random.standard_normal((200, rank)) * np.arange(rank, 0, -1)
    return csr_array((strong @ random.standard_normal((rank, 60))).astype(np.float32))


def test_a_projection_keeps_the_main_directions() -> None:
    rows = low_rank(5)
    projection = fit_projection(rows, 5, seed=0)
    kept, _ = np.linalg.qr(projection.astype(np.float64))
    dense = rows.toarray().astype(np.float64)
    np.testing.assert_allclose(dense @ kept @ kept.T, dense, atol=1e-3)


def test_directions_are_uncorrelated_and_equally_strong() -> None:
    rows = low_rank(20)
    projected = rows @ fit_projection(rows, 4, seed=0)
    products = projected.T @ projected
    products /= products.trace() / 4
    np.testing.assert_allclose(products, np.eye(4), atol=0.05)


def test_directions_are_about_as_long_as_one() -> None:
    lengths = np.linalg.norm(fit_projection(low_rank(20), 10, seed=0), axis=0)
    assert 0.5 < np.sqrt(np.mean(lengths**2)) < 2


def test_there_are_never_more_directions_than_rows_or_columns() -> None:
    assert fit_projection(low_rank(2), 500, seed=0).shape == (60, 60)
    assert np.isfinite(fit_projection(low_rank(2), 500, seed=0)).all()
    assert not fit_projection(csr_array(np.zeros((3, 5), np.float32)), 2, seed=0).any()
    one = fit_projection(low_rank(3)[:1], 8, seed=0)
    assert one.shape == (60, 1)
    assert np.isfinite(one).all()


def test_projections_are_those_of_the_seed_with_any_number_of_threads() -> None:
    with limit(1):
        one = fit_projection(low_rank(9), 6, seed=1)
    with limit(3):
        assert np.array_equal(fit_projection(low_rank(9), 6, seed=1), one)
    assert not np.array_equal(fit_projection(low_rank(9), 6, seed=2), one)


def test_a_light_vector_is_the_projection_of_the_sentence() -> None:
    encoder = light()
    vectors = encoder(["red apples", "", "nothing known"])
    assert vectors.shape == (3, encoder.width) == (3, 3)
    assert vectors.dtype == np.float32
    assert not vectors[1:].any()
    passages = read_passages(["red apples"])
    rows = encoder.finder.sentence_rows(passages, encoder.finder.numbers(passages))
    np.testing.assert_allclose(vectors[:1], rows @ encoder.projection.directions, rtol=1e-5)
    # Two sentences in one text add up.
    both = encoder(["Red apples. Green pears"])
    np.testing.assert_allclose(both, encoder(["red apples"]) + encoder(["green pears"]), rtol=1e-4, atol=1e-6)


def test_fingerprints_tell_encoders_apart(tmp_path: Path) -> None:
    assert light().fingerprint == light().fingerprint != light(seed=3).fingerprint
    folder = write_transformer(tmp_path)
    first = TransformerEncoder(TextEncoder.of(folder)).fingerprint
    assert TransformerEncoder(TextEncoder.of(folder)).fingerprint == first
    assert TransformerEncoder(TextEncoder(TextEncoder.of(folder).folder, longest=7)).fingerprint != first


def test_a_transformer_is_what_it_is(tmp_path: Path) -> None:
    plain = TextEncoder.of(write_transformer(tmp_path))
    encoder = TransformerEncoder(plain)
    assert encoder.width == WIDTH
    assert np.array_equal(encoder(["red apple", "pear"]), plain(["red apple", "pear"]))
    assert encoder([]).shape == (0, WIDTH)


def test_samples_are_at_even_distances() -> None:
    texts = [str(i) for i in range(2 * SAMPLE + 1)]
    assert len(sampled(texts)) <= SAMPLE
    assert list(sampled(texts)[:3]) == ["0", "3", "6"]
    assert sampled(texts[:3]) == texts[:3]
    assert sampled([]) == []
