import numpy as np
import pytest

from longtail.errors import DataError, ModelIntegrityError
from longtail.text.config import TextConfig
from longtail.text.counting import Counts, Tally, count
from longtail.text.ngrams import FIRST_NGRAM
from longtail.text.weighting import Weights, choose_columns

# Two documents: "a b" with the run "a b", and "b b".
RUNS = np.array([[0, 1, 1, 1], [FIRST_NGRAM, -1, FIRST_NGRAM + 1, -1]], np.int32)
ORDERS = np.array([2, 2], np.int8)


def counted() -> tuple[Counts, Tally]:
    counts, tally = count(np.array([0, 2, 4]), RUNS), Tally()
    tally.add(counts, 2, 2)
    return counts, tally


def test_rows_have_smooth_idf_and_length_one() -> None:
    counts, tally = counted()
    weights = choose_columns(tally, ORDERS, 1, TextConfig(ngrams=(1, 2)))
    rare = np.log(3 / 2) + 1
    expected = np.array([[rare, 1, rare, 0], [0, 2, 0, rare]])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(weights.rows(counts).toarray(), expected, atol=1e-6)


def test_sublinear_without_norm() -> None:
    counts, tally = counted()
    weights = choose_columns(tally, ORDERS, 1, TextConfig(min_df=2, sublinear_tf=True, norm="none"))
    assert np.allclose(weights.rows(counts).toarray(), [[1], [1 + np.log(2)]])


@pytest.mark.parametrize(
    ("config", "shortest", "columns"),
    [
        (TextConfig(), 1, [0, 1, 2, 3]),
        (TextConfig(), 2, [-1, -1, 0, 1]),
        (TextConfig(min_df=2), 1, [-1, 0, -1, -1]),
        (TextConfig(max_df=0.5), 1, [0, -1, 1, 2]),
        (TextConfig(max_features=1), 1, [-1, 0, -1, -1]),
        (TextConfig(max_features=2), 1, [0, 1, -1, -1]),
    ],
)
def test_choice_of_columns(config: TextConfig, shortest: int, columns: list[int]) -> None:
    weights = choose_columns(counted()[1], ORDERS, shortest, config)
    assert weights.columns.tolist() == columns


def test_nothing_left_says_why() -> None:
    with pytest.raises(DataError, match="min_df"):
        choose_columns(counted()[1], ORDERS, 1, TextConfig(min_df=3))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("columns", [0, 2, 1, 3], "order of length"),
        ("columns", [0, 1, 2, 2], "order of length"),
        ("columns", [0, 1, 2, 9], "order of length"),
        ("columns", [-1, -1, -1, -1], "no term"),
        ("columns", [0, 1, 2], "4 numbers, not 3"),
        ("bounds", [0, 1, 4], "where the columns"),
        ("bounds", [0, 4], "where the columns"),
        ("idf", [1, 1, 1], "4 numbers, not 3"),
        ("idf", [1, 1, 1, np.nan], "finite"),
        ("idf", [1, 1, 1, -1], "from 1 to"),
        ("idf", [1, 1, 1, 1e9], "from 1 to"),
    ],
)
def test_weights_that_no_texts_could_give_are_refused(name: str, values: list[float], words: str) -> None:
    config = TextConfig(ngrams=(1, 2))
    arrays = choose_columns(counted()[1], ORDERS, 1, config).arrays()
    assert Weights.from_arrays(arrays, 2, ORDERS, config).bounds.tolist() == [0, 2, 4]
    altered = {**arrays, name: np.array(values, arrays[name].dtype)}
    with pytest.raises(ModelIntegrityError, match=f"'{name}'.*{words}"):
        Weights.from_arrays(altered, 2, ORDERS, config)
