import numpy as np

from longtail.text.config import TextConfig
from longtail.text.counting import Tally
from longtail.text.terms import TermGroup
from longtail.text.tokenise import tokenise
from longtail.text.words import Words

CONFIG = TextConfig(ngrams=(1, 3), min_df=2, max_df=0.7)
TEXTS = ["of the red sea", "of the red land", "of a man"]


def chosen() -> TermGroup:
    group, tally = TermGroup(Words(), CONFIG), Tally()
    tally.add(group.count(group.number(tokenise(TEXTS, CONFIG), grow=True)), *group.sizes())
    group.choose(tally)
    return group


def test_only_what_columns_are_built_of_is_kept() -> None:
    group = chosen()
    assert group.terms() == ["the", "red", "of the", "the red", "of the red"]
    assert group.tokens.spell() == ["of", "the", "red"]
    assert group.sizes() == (3, 3)
    assert [group.term(column) for column in range(5)] == group.terms()


def test_arrays_there_and_back() -> None:
    group = chosen()
    arrays = group.arrays()
    again = TermGroup.from_arrays(arrays, Words.from_arrays(arrays, None), CONFIG)
    tokens = tokenise(["the red of the red sea"], CONFIG)
    mine, theirs = (g.weights.rows(g.count(g.number(tokens, grow=False))) for g in (group, again))
    assert np.array_equal(mine.toarray(), theirs.toarray())
    assert mine.nnz == 5
