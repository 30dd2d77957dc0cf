"""Peers that read texts: what can be tested without their libraries."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks.contest_data import prepare
from benchmarks.contestant import Job, Source, TextContestant, load_matrix
from benchmarks.peers import annif, embeddings, fasttext
from benchmarks.ranked import ranked_rows
from tests.benchmarks.worlds import LABELS, write_matrices, write_texts


def job(name: str, folder: Path = Path()) -> Job:
    return Job(name, str(folder), Source("", 0, ("title",)), 10, 1, 0, {})


def test_texts_are_written_for_peers(tmp_path: Path) -> None:
    prepare(Source(str(write_texts(tmp_path / "given")), 0, ("title",)), tmp_path / "made", {}, texts=True)
    contestant = fasttext.FastText(job("fasttext", tmp_path / "made"), tmp_path)
    texts, Y = contestant.read("tst")
    assert texts[1] == "word1 common"
    assert Y.shape == (24, LABELS)
    assert contestant.texts("lbl")[:2] == ["l0", "l1"], "labels without a text have their id"
    assert not contestant.has_valid
    assert contestant.filtered("val") is None
    assert isinstance(contestant, TextContestant)
    assert contestant.reads_text


def test_columns_are_the_words_of_data_without_texts(tmp_path: Path) -> None:
    given = write_matrices(tmp_path / "given", filtered=True)
    prepare(Source(str(given), 0, ("title",)), tmp_path / "made", {}, texts=True)
    words = json.loads((tmp_path / "made" / "T.trn.json").read_text())
    X = load_matrix(given / "X.trn.npz")
    assert words[:2] == [" ".join(f"w{column}" for column in X[[row]].indices) for row in range(2)]
    contestant = fasttext.FastText(job("fasttext", tmp_path / "made"), tmp_path)
    assert contestant.filtered("tst").nnz == 30


def test_lines_of_fasttext(tmp_path: Path) -> None:
    Y = csr_matrix(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=np.float32))
    fasttext.write_lines(tmp_path / "lines", ["a\nb", "c", "d  e"], Y)
    assert (tmp_path / "lines").read_text() == "__label__0 __label__2 a b\n__label__1 d e\n"
    predicted = ([["__label__2", "__label__0"], []], [np.array([1.0001, 0.25]), np.array([])])
    labels, scores = fasttext.FastText(job("fasttext"), tmp_path).top(predicted, 3)
    assert labels.tolist() == [[2, 0, -1], [-1, -1, -1]]
    assert scores[0].tolist() == [1.0, 0.25, 0.0]


def test_the_configuration_of_annif() -> None:
    assert "backend=mllm" in annif.project("mllm", "backend=mllm")
    assert "vocab=labels" in annif.project("mllm", "")


def embedded(name: str, **settings: float) -> embeddings.Embeddings:
    made = embeddings.Embeddings(job(name), Path())
    made.vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    made.names = np.array([[0.6, 0.8], [0, 1], [1, 0], [-1, 0]], dtype=np.float32)
    made.Y = csr_matrix(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 1]], dtype=np.float32))
    made.chosen = dict(settings)
    return made


def scores(made: embeddings.Embeddings, query: list[float]) -> dict[int, float]:
    found = made.search(np.array([query], dtype=np.float32), made.chosen.get("neighbours", 0))
    labels, values = ranked_rows(*made.mixed(found, made.settings()), 10)
    return {int(label): float(value) for label, value in zip(labels[0], values[0], strict=True) if label >= 0}


def test_votes_are_shares_of_the_similarity_of_neighbours() -> None:
    found = scores(embedded("minilm-knn", neighbours=2), [1, 0])
    assert found == pytest.approx({0: 1 / 1.8, 1: 0.8 / 1.8})


def test_cosines_to_names_below_zero_count_nothing() -> None:
    assert scores(embedded("minilm-names"), [1, 0]) == pytest.approx({2: 1.0, 0: 0.6, 1: 0.0, 3: 0.0})


def test_both_are_added_with_the_chosen_weight() -> None:
    found = scores(embedded("minilm-both", neighbours=2, weight=0.25), [1, 0])
    assert found == pytest.approx({2: 0.75, 0: 0.25 / 1.8 + 0.45, 1: 0.2 / 1.8, 3: 0.0})


def test_the_nearest_are_in_order() -> None:
    found, values = embeddings.nearest(np.array([[0.1, 0.9, 0.5]]), 2)
    assert found.tolist() == [[1, 2]]
    assert values.tolist() == [[0.9, 0.5]]
    assert embeddings.nearest(np.array([[0.1, 0.9]]), 5)[0].tolist() == [[1, 0]]
