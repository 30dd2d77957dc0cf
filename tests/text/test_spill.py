from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.text import spill as spilling
from longtail.text.config import TextConfig
from longtail.text.counting import Counts
from longtail.text.spill import InMemory, Spill, blocks, mapped_rows
from longtail.text.tfidf import TfidfFeatures

TEXTS = [f"word{i % 7} and word{i % 3} again, héllo {'x' * (i % 5)}" for i in range(300)]
TITLES = [f"title {i % 11}" if i % 4 else "" for i in range(300)]


def same(one: csr_array, other: csr_array) -> bool:
    names = ("indptr", "indices", "data")
    return one.shape == other.shape and all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


@pytest.mark.parametrize(
    "config", [TextConfig(), TextConfig(ngrams=(1, 3), char_ngrams=(3, 4), max_features=40)]
)
def test_texts_have_the_features_of_memory(config: TextConfig, tmp_path: Path) -> None:
    plain, spilled = TfidfFeatures(config), TfidfFeatures(config, Spill(tmp_path))
    rows = plain.fit_transform(TEXTS, ["a label"])
    assert same(rows, spilled.fit_transform(TEXTS, ["a label"]))
    assert same(rows, mapped_rows(tmp_path, rows.shape[1]))
    assert plain.digest == spilled.digest


def test_fields_have_the_features_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "ROWS_AT_ONCE", 64)
    config = TextConfig(title_share="auto", char_ngrams="auto")
    labels = csr_array((np.ones(300, np.float32), np.arange(300) % 7, np.arange(301)), shape=(300, 7))
    plain, spilled = TfidfFeatures(config), TfidfFeatures(config, Spill(tmp_path))
    rows = plain.fit_transform_fields(TITLES, TEXTS, (), labels)
    assert same(rows, spilled.fit_transform_fields(TITLES, TEXTS, (), labels))
    assert plain.digest == spilled.digest
    # Learned, it transforms as any other, without touching the files.
    assert same(rows[:5], spilled.transform_fields(TITLES[:5], TEXTS[:5]))
    assert same(rows, mapped_rows(tmp_path, rows.shape[1]))


def test_tidying_leaves_the_rows(tmp_path: Path) -> None:
    spill = Spill(tmp_path)
    TfidfFeatures(TextConfig(title_share=0.5), spill).fit_transform_fields(TITLES, TEXTS)
    assert (tmp_path / "counts").exists()
    spill.tidy()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.data", "rows.indices", "rows.indptr"]


def test_counts_come_back_once(tmp_path: Path) -> None:
    counts = Counts(np.array([0, 2, 3]), np.array([1, 4, 2], np.int32), np.array([1, 1, 9], np.int32))
    spill = Spill(tmp_path)
    spill.keep([counts])
    kept = spill.keep([counts, counts])
    for found in (kept.given(), InMemory([counts, counts]).given()):
        assert len(found) == 2
        assert found[1].indptr.tolist() == [0, 2, 3]
        assert found[1].counts.tolist() == [1, 1, 9]


def test_blocks_cover_all_rows() -> None:
    found = list(blocks(csr_array((20_000, 3))))
    assert [(some.start, min(some.stop, 20_000)) for some in found] == [
        (0, 8192),
        (8192, 16384),
        (16384, 20_000),
    ]
