import numpy as np

from longtail.text.codepoints import encode_one
from longtail.text.config import TextConfig
from longtail.text.counting import Tally
from longtail.text.single import single_arguments, single_row
from longtail.text.terms import TermGroup
from longtail.text.tokenise import tokenise
from longtail.text.words import Words


def test_one_text_alone_is_its_row() -> None:
    config, texts, tally = TextConfig(ngrams=(1, 3), min_df=2), ["a b c a b c", "b c d", "c d", ""], Tally()
    words = Words()
    group = TermGroup(words, config)
    counts = group.count(group.number(tokenise(texts, config), grow=True))
    tally.add(counts, *group.sizes())
    rows = group.choose(tally).rows(counts)
    assert isinstance(group.tokens, Words)
    arguments = single_arguments(group.tokens.lexicon, group.ngrams, group.weights, 1)
    for d, text in enumerate(texts):
        columns, data = single_row(encode_one(text), *arguments)
        assert np.array_equal(columns, rows[[d]].indices)
        assert np.array_equal(data, rows[[d]].data)
