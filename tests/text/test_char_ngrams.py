import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from longtail.text.char_ngrams import CharGroup
from longtail.text.codepoints import encode
from longtail.text.config import TextConfig
from longtail.text.counting import Tally
from longtail.text.tokens import split

TEXTS = ["the cat sat", "a cat at the mat mat", "", "x", "concatenate the format"]


@pytest.mark.parametrize("lengths", [(1, 1), (3, 3), (2, 5), (4, 8)])
def test_same_as_scikit_learn(lengths: tuple[int, int]) -> None:
    theirs = TfidfVectorizer(analyzer="char_wb", ngram_range=lengths)
    expected = theirs.fit_transform(TEXTS)
    group, tally, tokens = CharGroup(TextConfig(char_ngrams=lengths)), Tally(), split(encode(TEXTS))
    counts = group.count(group.number(tokens, grow=True))
    tally.add(counts, *group.sizes())
    rows = group.choose(tally).rows(counts)
    columns = [theirs.vocabulary_[term] for term in group.terms()]
    assert rows.shape == expected.shape
    assert np.abs(expected[:, columns].toarray() - rows.toarray()).max() < 1e-6
    assert (group.weights.rows(group.count(group.number(tokens, grow=False))) != rows).nnz == 0
    assert [group.term(c) for c in range(rows.shape[1])] == group.terms()


def test_arrays_there_and_back_and_unknown_ngrams_are_left_out() -> None:
    config = TextConfig(char_ngrams=(3, 3), norm="none")
    group, tally = CharGroup(config), Tally()
    counts = group.count(group.number(split(encode(["cats"])), grow=True))
    tally.add(counts, *group.sizes())
    group.choose(tally)
    again = CharGroup.from_arrays(group.arrays(), config)
    assert again.terms() == [" ca", "cat", "ats", "ts "]
    rows = again.weights.rows(again.count(again.number(split(encode(["bats bats", "zz"])), grow=False)))
    assert rows.toarray().tolist() == [[0, 0, 2, 2], [0, 0, 0, 0]]
