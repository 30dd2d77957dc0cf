"""What columns add up to is what words add up to, and at the right places."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.text.config import TextConfig
from longtail.text.occurrences import Occurrences
from longtail.text.tfidf import TfidfFeatures

TEXTS = ["Red cars and red bikes", "a bike is not a car", "Die ROTEN Räder", "red red car", "日本 car"]
WORDS = ["Red", "red", "car", "cars", "bike", "xyz", "ROTEN", "日本", "ﬁn"]
CONFIGS = {
    "words": TextConfig(),
    "pairs and characters": TextConfig(ngrams=(1, 2), char_ngrams=(3, 4)),
    "pairs alone": TextConfig(ngrams=(2, 3)),
    "stems": TextConfig(stem="english", ngrams=(1, 2)),
    "pieces": TextConfig(kind="wordpiece", wordpiece_vocab_size=40, ngrams=(1, 2), sublinear_tf=True),
}


def fitted(name: str) -> TfidfFeatures:
    return TfidfFeatures(CONFIGS[name]).fit(TEXTS)


@pytest.mark.parametrize("name", CONFIGS)
@given(text=st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_every_column_of_a_row_is_spread_without_loss(name, text):
    features = fitted(name)
    row = features.transform([text])
    found = Occurrences.of(features, text)
    values = np.random.default_rng(0).normal(size=row.nnz)
    spread = found.spread(row.indices, values)
    assert set(found.columns.tolist()) == set(row.indices.tolist())
    assert np.isclose(spread.sum(), values.sum())
    assert [text[a:b].strip() == text[a:b] != "" for a, b in found.spans.tolist()] == [True] * len(
        found.spans
    )


def weights(name: str, text: str, term: str) -> dict[str, float]:
    features = fitted(name)
    found = Occurrences.of(features, text)
    column = features.terms.index(term)
    spread = found.spread(np.array([column]), np.array([1.0]))
    return {text[a:b]: w for (a, b), w in zip(found.spans.tolist(), spread.tolist(), strict=True) if w}


def test_the_places_of_a_word_share_its_column():
    assert weights("words", "Red car, RED bike", "red") == {"Red": 0.5, "RED": 0.5}


def test_the_words_of_a_pair_share_it():
    assert weights("pairs and characters", "a red car", "red car") == {"red": 0.5, "car": 0.5}


def test_characters_are_those_of_their_word():
    assert weights("pairs and characters", "red Räder", "räd") == {"Räder": 1.0}


def test_pieces_and_stems_are_those_of_their_word():
    assert weights("stems", "many Bikes", "bike") == {"Bikes": 1.0}
    features = fitted("pieces")
    found = Occurrences.of(features, "unheard car")
    row = features.transform(["unheard car"])
    spread = found.spread(row.indices, row.data)
    assert (spread > 0).all()
    assert np.isclose(spread.sum(), row.data.sum())


def test_a_text_without_known_terms_has_words_without_weight():
    found = Occurrences.of(fitted("words"), "xyz")
    assert len(found.spans) == 1
    assert found.spread(np.zeros(0, np.int32), np.zeros(0)).tolist() == [0.0]
    assert Occurrences.of(fitted("words"), "").spread(np.array([0]), np.array([1.0])).tolist() == []


# --- title and text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@given(
    title=st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    text=st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
)
def test_columns_of_title_and_text_are_spread_without_loss(name, share, title, text):
    features = TfidfFeatures(replace(CONFIGS[name], title_share=share))
    features.fit_transform_fields(["Red cars", "a bike"], [" ".join(TEXTS), "x" * 300])
    row = features.transform_fields([title], [text])
    found = Occurrences.of_fields(features, title, text)
    values = np.random.default_rng(0).normal(size=row.nnz)
    assert set(row.indices.tolist()) <= set(found.columns.tolist())
    assert np.isclose(found.spread(row.indices, values).sum(), values.sum())
    joined = f"{title}\n{text}" if title and text else title or text
    assert all(joined[a:b].strip() == joined[a:b] != "" for a, b in found.spans.tolist())


def test_title_and_text_share_a_column_as_their_rows_weigh():
    features = TfidfFeatures(TextConfig(title_share=0.75))
    features.fit_transform_fields(["red", "car"], ["red car " + "bike " * 60, "bike"])
    # The title is one word; in the text, red is one of two words of equal weight.
    found = Occurrences.of_fields(features, "red", "red car")
    column = features.terms.index("red")
    spread = found.spread(np.array([column]), np.array([1.0]))
    in_title, in_text = 0.75, 0.25 * features.transform(["red car"])[0, column]
    assert found.spans.tolist() == [[0, 3], [4, 7], [8, 11]]
    np.testing.assert_allclose(spread, [in_title / (in_title + in_text), in_text / (in_title + in_text), 0])
