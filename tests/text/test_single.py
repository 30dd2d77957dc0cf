import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.text.config import TextConfig
from longtail.text.tfidf import FEW, TfidfFeatures

TEXTS = [
    "a b c a b c",
    "b c d",
    "the brown foxes jump",
    "",
    "Jumping foxes, brown; ﬁne",
    "an ideograph 字 b",
]
CONFIGS = {
    "words": TextConfig(),
    "n-grams": TextConfig(ngrams=(1, 3), min_df=2),
    "not of length one": TextConfig(norm="none", char_ngrams=(2, 3)),
    "characters": TextConfig(char_ngrams=(3, 5), sublinear_tf=True),
    "stems": TextConfig(stem="english", ngrams=(1, 2)),
    "pieces": TextConfig(kind="wordpiece", wordpiece_vocab_size=60, ngrams=(1, 2)),
    "pieces and characters": TextConfig(kind="wordpiece", wordpiece_vocab_size=60, char_ngrams=(2, 4)),
}
FEATURES = {name: TfidfFeatures(config).fit(TEXTS) for name, config in CONFIGS.items()}


@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=60, deadline=None)
@given(
    text=st.one_of(
        st.sampled_from(TEXTS),
        st.lists(st.sampled_from([*" ".join(TEXTS).split(), "unknown", "字字"])).map(" ".join),
        st.text(),
    )
)
def test_one_text_alone_is_the_same_row_as_among_others(name: str, text: str) -> None:
    features = FEATURES[name]
    among = features.transform([text, *["a b"] * FEW])[[0]]
    few = features.transform(["brown antelopes", text, "a b"])
    assert few.shape == (3, features.n_columns)
    for rows in (features.transform([text]), few[[1]]):
        assert rows.shape == among.shape
        assert np.array_equal(rows.indptr, among.indptr)
        assert np.array_equal(rows.indices, among.indices)
        assert np.array_equal(rows.data, among.data)
    columns, data = features.row(text)
    assert np.array_equal(columns, among.indices)
    assert np.array_equal(data, among.data)


@pytest.mark.parametrize("name", ["stems", "pieces"])
def test_a_word_that_learning_never_met_is_stemmed_or_cut_up(name: str) -> None:
    # Its stem, or pieces of it, are those of words that were met.
    assert FEATURES[name].row("jumped")[0].size


@pytest.mark.parametrize("name", CONFIGS)
def test_few_texts_have_the_rows_of_many_in_their_order(name: str) -> None:
    features = FEATURES[name]
    texts = ["brown antelopes", *TEXTS, "", "gnus"]
    few, many = features.transform(texts), features.transform([*texts, *["a b"] * FEW])[: len(texts)]
    assert few.has_sorted_indices
    assert few.dtype == np.float32
    assert few.indices.dtype == few.indptr.dtype == np.int32
    assert np.array_equal(few.toarray(), many.toarray())
    assert np.array_equal(few.indptr, many.indptr)
