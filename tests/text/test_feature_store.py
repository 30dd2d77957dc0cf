"""Text features of a batch: each computed once, shared where settings are equal, never where they differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore
from longtail.text.field_rows import summed_rows
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.text.tfidf import TfidfFeatures
from longtail.text.title_share import USUAL
from longtail.types import FIELDS, Document, Documents
from tests.tiny_encoders import write_roberta, write_transformer

WORDS = TextConfig(kind="word")
DOCUMENTS = Documents.of(
    [Document("1", title="red", text="apple"), Document("2", title="green", text="pear pear"), Document("3")]
)


@pytest.fixture
def store() -> FeatureStore:
    return FeatureStore(DOCUMENTS)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> EncoderFolder:
    return EncoderFolder.of(write_transformer(tmp_path_factory.mktemp("bert")))


def test_anything_is_computed_once_per_key(store: FeatureStore) -> None:
    calls: list[str] = []

    def compute(name: str) -> str:
        calls.append(name)
        return name

    assert store.memo(("a", 1), lambda: compute("first")) == "first"
    assert store.memo(("a", 1), lambda: compute("second")) == "first"
    assert store.memo(("a", 2), lambda: compute("third")) == "third"
    assert calls == ["first", "third"]


def test_a_value_of_none_is_kept_too(store: FeatureStore) -> None:
    calls: list[int] = []
    for _ in range(2):
        assert store.memo("nothing", lambda: calls.append(1)) is None
    assert calls == [1]


def test_texts_are_those_of_the_fields(store: FeatureStore) -> None:
    assert store.texts(FIELDS) == ["red\napple", "green\npear pear", ""]
    assert store.texts(["title"]) == DOCUMENTS.joined(["title"])
    assert store.texts(list(FIELDS)) is store.texts(FIELDS)


# --- TF-IDF ---------------------------------------------------------------------------------------------------


def test_a_vocabulary_is_learned_once(store: FeatureStore) -> None:
    features, rows = store.fit_tfidf(WORDS, FIELDS, ["tree"])
    again, same = store.fit_tfidf(TextConfig(kind="word"), list(FIELDS), ["tree"])
    assert features is again
    assert rows is same
    alone = TfidfFeatures(WORDS)
    assert (alone.fit_transform(DOCUMENTS.joined(FIELDS), ["tree"]) != rows).nnz == 0
    assert features.n_columns == alone.n_columns == 5


def test_other_settings_fields_or_label_texts_make_another_vocabulary(store: FeatureStore) -> None:
    features, _ = store.fit_tfidf(WORDS, FIELDS, ["tree"])
    for other, _ in (
        store.fit_tfidf(TextConfig(kind="word", ngrams=(1, 2)), FIELDS, ["tree"]),
        store.fit_tfidf(WORDS, ("title",), ["tree"]),
        store.fit_tfidf(WORDS, FIELDS, ["bush"]),
        store.fit_tfidf(WORDS, FIELDS),
    ):
        assert other is not features
        assert other.digest != features.digest


def test_the_rows_of_fitting_are_not_computed_again(
    store: FeatureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, rows = store.fit_tfidf(WORDS, FIELDS)
    monkeypatch.setattr(TfidfFeatures, "transform", None)
    assert store.tfidf(features, FIELDS) is rows


def test_rows_over_a_known_vocabulary(store: FeatureStore) -> None:
    features = TfidfFeatures(WORDS)
    features.fit_transform(["red pear", "plum"], [])
    rows = store.tfidf(features, FIELDS)
    assert (rows != features.transform(DOCUMENTS.joined(FIELDS))).nnz == 0
    assert store.tfidf(features, FIELDS) is rows
    # Other fields, or another vocabulary, even an equal one, have rows of their own.
    assert store.tfidf(features, ("title",)) is not rows
    equal = TfidfFeatures(WORDS)
    equal.fit_transform(["red pear", "plum"], [])
    assert store.tfidf(equal, FIELDS) is not rows


def test_vocabularies_that_come_and_go_are_not_mixed_up(store: FeatureStore) -> None:
    """An object may get the address of one that is gone; its rows must not be those of the other."""
    for number in range(50):
        features = TfidfFeatures(WORDS)
        features.fit_transform([("red", "pear", "green", "plum")[number % 4]], [])
        rows = store.tfidf(features, FIELDS)
        assert (rows != features.transform(DOCUMENTS.joined(FIELDS))).nnz == 0


# --- title and text as rows of their own ----------------------------------------------------------------------

APART = TextConfig(kind="word", title_share=0.75)


def test_a_document_is_the_weighted_sum_of_its_fields(store: FeatureStore) -> None:
    features, rows = store.fit_tfidf(APART, FIELDS)
    assert features.config.title_share == 0.75
    titles, texts = features.transform(DOCUMENTS.titles), features.transform(DOCUMENTS.texts)
    expected = summed_rows(titles, texts, 0.75, l2=True)
    np.testing.assert_allclose(rows.toarray(), expected.toarray(), rtol=1e-6)
    again = FeatureStore(DOCUMENTS).tfidf(features, FIELDS)
    np.testing.assert_allclose(again.toarray(), rows.toarray(), rtol=1e-6)
    for i in range(len(DOCUMENTS)):
        alone = FeatureStore(DOCUMENTS.take([i])).tfidf(features, FIELDS)
        np.testing.assert_allclose(alone.toarray()[0], rows.toarray()[i], rtol=1e-6)


@pytest.mark.parametrize("fields", [("title",), ("text",)])
def test_one_field_has_the_features_that_it_always_had(store: FeatureStore, fields: tuple[str, ...]) -> None:
    features, rows = store.fit_tfidf(APART, fields)
    plain = TfidfFeatures(WORDS)
    expected = plain.fit_transform(DOCUMENTS.joined(fields))
    assert (rows != expected).nnz == 0
    assert features.digest == plain.digest


def test_documents_of_one_field_have_the_features_that_they_always_had() -> None:
    documents = Documents.of([Document("1", title="red apple"), Document("2", text="green pear pear")])
    features, rows = FeatureStore(documents).fit_tfidf(APART, FIELDS)
    plain = TfidfFeatures(WORDS)
    assert (rows != plain.fit_transform(documents.joined(FIELDS))).nnz == 0
    assert features.digest == plain.digest


def test_a_text_without_a_title_is_the_same_as_plain_text(store: FeatureStore) -> None:
    features, _ = store.fit_tfidf(APART, FIELDS)
    for text in ("green pear apple", "pear " * 100):
        row = FeatureStore(Documents.of([text])).tfidf(features, FIELDS)
        np.testing.assert_allclose(row.toarray(), features.transform([text]).toarray(), rtol=1e-6)


def test_the_share_of_titles_is_chosen_by_labels() -> None:
    """Titles tell the label, texts are words at random."""
    rng = np.random.default_rng(0)
    of = rng.integers(20, size=300)
    documents = Documents(
        [str(i) for i in range(300)],
        [f"word{label} {rng.choice(['a', 'b'])}{label}" for label in of],
        [" ".join(f"noise{i}" for i in rng.integers(50, size=20)) for _ in of],
    )
    labels = csr_array((np.ones(300, np.float32), (np.arange(300), of)), shape=(300, 20))
    config = TextConfig(kind="word", title_share="auto")
    known, _ = FeatureStore(documents, labels).fit_tfidf(config, FIELDS)
    unknown, _ = FeatureStore(documents).fit_tfidf(config, FIELDS)
    assert known.config.title_share in (USUAL, 0.9)
    assert unknown.config.title_share == USUAL
    swapped = Documents(documents.ids, documents.texts, documents.titles)
    other, _ = FeatureStore(swapped, labels).fit_tfidf(config, FIELDS)
    assert other.config.title_share in (0.5, 0.3, 0.1)


# --- tokens ---------------------------------------------------------------------------------------------------


def test_tokens_are_shared_by_equal_tokenizers(store: FeatureStore, bert: EncoderFolder) -> None:
    tokens = store.tokens(Subwords(bert, 8), FIELDS)
    assert store.tokens(Subwords(bert, 8), list(FIELDS)) is tokens
    expected = Subwords(bert, 8)(DOCUMENTS.joined(FIELDS))
    assert (tokens.ids == expected.ids).all()
    assert (tokens.indptr == expected.indptr).all()


def test_tokens_of_other_settings_are_others(
    store: FeatureStore, bert: EncoderFolder, tmp_path: Path
) -> None:
    tokens = store.tokens(Subwords(bert, 8), FIELDS)
    roberta = EncoderFolder.of(write_roberta(tmp_path))
    others = [
        store.tokens(Subwords(bert, 4), FIELDS),
        store.tokens(Subwords(bert, 8), ("title",)),
        store.tokens(Subwords(bert, 8), FIELDS, special=False),
        store.tokens(Subwords(roberta, 8), FIELDS),
    ]
    assert all(other is not tokens for other in others)
    assert others[0].lengths.max() == 4
    assert np.array_equal(others[2].lengths, tokens.lengths - 2)


def test_encoders_read_the_title_first(store: FeatureStore, bert: EncoderFolder) -> None:
    """What does not fit is the end of the text."""
    long = Documents.of([Document("1", title="red apple", text="green pear " * 50)])
    cut = FeatureStore(long).tokens(Subwords(bert, 6), FIELDS)
    title = FeatureStore(long).tokens(Subwords(bert, 6), ("title",))
    assert cut.ids[: len(title.ids) - 1].tolist() == title.ids[:-1].tolist()
