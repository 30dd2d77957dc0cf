from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from longtail import threads
from longtail.config import to_dict
from longtail.errors import DataError, ModelIntegrityError, NotFittedError, UsageError
from longtail.storage import read_arrays, write_arrays, write_json
from longtail.text import codepoints
from longtail.text.config import TextConfig
from longtail.text.tfidf import SINGLE_CHARACTERS, TfidfFeatures


@dataclass
class PlainFolder:
    root: Path

    def path(self, name: str) -> Path:
        return self.root / name


def corpus(n: int, seed: int = 0, vocabulary: int = 60) -> list[str]:
    draw = np.random.default_rng(seed)
    words = [f"Word{i}" if i % 3 else f"w{i}" for i in range(vocabulary)]
    return [" ".join(draw.choice(words, draw.integers(0, 30))) for _ in range(n)]


TEXTS = corpus(80)
EVERY_KIND = [
    TextConfig(),
    TextConfig(ngrams=(1, 3), min_df=2, max_df=0.9),
    TextConfig(ngrams=(2, 3), max_features=50, sublinear_tf=True),
    TextConfig(stem="english", ngrams=(1, 2)),
    TextConfig(char_ngrams=(2, 4), min_df=2),
    TextConfig(kind="wordpiece", wordpiece_vocab_size=80, ngrams=(1, 2)),
    TextConfig(kind="wordpiece", wordpiece_vocab_size=40, char_ngrams=(3, 3), norm="none"),
]


def same(left: csr_array, right: csr_array) -> bool:
    parts = ("indptr", "indices", "data")
    return left.shape == right.shape and all(
        np.array_equal(getattr(left, p), getattr(right, p)) for p in parts
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2)},
        {"ngram_range": (1, 3), "min_df": 2},
        {"ngram_range": (2, 2), "max_df": 0.05},
        {"sublinear_tf": True, "min_df": 3, "max_df": 0.3},
        {"norm": None, "lowercase": False},
    ],
)
def test_same_as_scikit_learn(options: dict[str, Any]) -> None:
    theirs = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", **options)
    expected = theirs.fit_transform(TEXTS)
    renamed = {"ngram_range": "ngrams"}
    mine = TfidfFeatures(
        TextConfig(**{renamed.get(k, k): v or "none" if k == "norm" else v for k, v in options.items()})
    )
    rows = mine.fit_transform(TEXTS)
    columns = [theirs.vocabulary_[term] for term in mine.terms]
    assert rows.shape == expected.shape
    assert np.allclose(expected[:, columns].toarray(), rows.toarray(), rtol=1e-6, atol=1e-6)
    new = corpus(20, seed=9, vocabulary=90)
    expected = theirs.transform(new)[:, columns].toarray()
    assert np.allclose(expected, mine.transform(new).toarray(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("config", EVERY_KIND)
def test_fit_transform_batch_and_single_agree_to_the_bit(config: TextConfig) -> None:
    features = TfidfFeatures(config)
    rows = features.fit_transform(TEXTS)
    assert rows.dtype == np.float32
    assert rows.has_sorted_indices
    assert rows.indices.dtype == np.int32
    assert all(
        (np.diff(rows.indices[a:b]) > 0).all() for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    )
    assert same(features.transform(TEXTS), rows)
    assert same(TfidfFeatures(config).fit(TEXTS).transform(TEXTS), rows)
    for d in range(0, 80, 7):
        one = features.transform([TEXTS[d]])
        assert same(one, rows[[d]])
        columns, data = features.row(TEXTS[d])
        assert np.array_equal(columns, one.indices)
        assert np.array_equal(data, one.data)


@pytest.mark.parametrize("config", EVERY_KIND)
def test_threads_and_chunks_change_nothing(config: TextConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for jobs, characters in ((1, 1 << 20), (1, 500), (2, 500), (3, 200)):
        monkeypatch.setattr(codepoints.chunks, "__defaults__", (characters,))
        with threads.limit(jobs):
            features = TfidfFeatures(config)
            results.append((features.fit_transform(TEXTS), features.terms))
    for rows, terms in results[1:]:
        assert same(rows, results[0][0])
        assert terms == results[0][1]


@pytest.mark.parametrize("config", EVERY_KIND)
def test_saved_features_are_the_same(config: TextConfig, tmp_path: Path) -> None:
    features = TfidfFeatures(config)
    rows = features.fit_transform(TEXTS)
    features.save(tmp_path)
    again = TfidfFeatures.load(PlainFolder(tmp_path))
    assert again.config == config
    assert again.terms == features.terms
    assert [again.term(c) for c in range(again.n_columns)] == features.terms
    assert same(again.transform(TEXTS), rows)
    assert same(again.transform(TEXTS[:1]), rows[[0]])


def test_columns_are_in_order_of_length_and_first_appearance() -> None:
    features = TfidfFeatures(TextConfig(ngrams=(1, 3))).fit(["b a b", "c b a"])
    assert features.terms == ["b", "a", "c", "b a", "a b", "c b", "b a b", "c b a"]


def test_terms_that_are_dropped_still_carry_longer_ones() -> None:
    texts = ["of the sea", "of the land", "of a man"]
    features = TfidfFeatures(TextConfig(ngrams=(1, 2), min_df=2, max_df=0.7)).fit(texts)
    assert features.terms == ["the", "of the"]
    assert features.transform(["of the air"]).nnz == 2


def test_words_and_characters_are_two_groups_of_equal_weight() -> None:
    features = TfidfFeatures(TextConfig(char_ngrams=(3, 3)))
    rows = features.fit_transform(["cat dog", "dog"]).toarray()
    assert features.terms == ["cat", "dog", " ca", "cat", "at ", " do", "dog", "og "]
    assert np.allclose((rows[:, :2] ** 2).sum(axis=1), 0.5)
    assert np.allclose((rows**2).sum(axis=1), 1)


def test_stems_are_found_for_words_never_seen() -> None:
    features = TfidfFeatures(TextConfig(stem="english")).fit(["regulations apply", "applied rules"])
    assert features.terms == ["regul", "appli", "rule"]
    assert features.transform(["Regulating, ruled, unheard"]).indices.tolist() == [0, 2]


def test_extra_texts_bring_terms_but_no_rows() -> None:
    features = TfidfFeatures()
    rows = features.fit_transform(["a b"], ["b c"])
    assert features.terms == ["a", "b", "c"]
    assert rows.shape == (1, 3)


def test_pieces_are_shared_with_other_texts() -> None:
    features = TfidfFeatures(TextConfig(kind="wordpiece", wordpiece_vocab_size=50)).fit(
        ["abab ab", "abc"], ["cab"]
    )
    assert features.pieces is not None
    indptr, ids = features.pieces.ids(["cab", ""])
    assert indptr.tolist() == [0, len(ids), len(ids)]
    assert TfidfFeatures().pieces is None


def test_ideographs_marks_and_strange_characters() -> None:
    features = TfidfFeatures(TextConfig(ngrams=(1, 2)))
    features.fit(["日本 ﬁle ＡＢＣ", "हिन्दी \ud800\x00 x", ""])
    assert features.terms == [
        "日",
        "本",
        "file",
        "abc",
        "हिन्दी",
        "x",
        "日 本",
        "本 file",
        "file abc",
        "हिन्दी x",
    ]


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_any_text_is_the_same_alone_and_in_a_batch(texts: list[str]) -> None:
    features = TfidfFeatures(TextConfig(ngrams=(1, 2))).fit([*texts, "one"])
    rows = features.transform(texts)
    assert rows.shape == (len(texts), features.n_columns)
    for d, text in enumerate(texts):
        assert same(features.transform([text]), rows[[d]])


def test_long_single_text_takes_the_batch_way() -> None:
    text = "ab cd " * SINGLE_CHARACTERS
    features = TfidfFeatures().fit(["ab cd"])
    assert np.allclose(features.transform([text]).toarray(), np.sqrt(0.5))


def test_no_texts_and_empty_texts() -> None:
    features = TfidfFeatures().fit(["a"])
    assert features.transform([]).shape == (0, 1)
    assert features.transform([""]).nnz == 0
    assert features.transform(["", "zzz"]).nnz == 0


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(NotFittedError, match="fit"):
        TfidfFeatures().transform(["a"])
    with pytest.raises(DataError, match="no term is left"):
        TfidfFeatures().fit(["", "..."])
    with pytest.raises(UsageError, match="not one string"):
        TfidfFeatures().fit("a b")
    features = TfidfFeatures().fit(["a"])
    with pytest.raises(UsageError, match="columns"):
        features.term(1)


def altered(array: np.ndarray) -> dict[str, np.ndarray]:
    largest = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else np.finfo(array.dtype).max
    ways = {
        "large": np.full_like(array, largest),
        "shorter": array[:-1],
        "empty": array[:0],
        "longer": np.concatenate([array, array]),
        "table": array.reshape(1, -1),
        "float64": array.astype(np.float64),
    }
    if array.dtype.kind == "i":
        ways["negative"] = np.full_like(array, -5)
    if array.dtype.kind == "f":
        ways["nan"] = np.full_like(array, np.nan)
    return ways


@pytest.mark.parametrize("config", EVERY_KIND)
def test_no_altered_array_is_ever_used(config: TextConfig, tmp_path: Path) -> None:
    TfidfFeatures(config).fit(TEXTS).save(tmp_path)
    for path in sorted(tmp_path.glob("*.safetensors")):
        arrays = read_arrays(path)
        for name, array in arrays.items():
            if not array.size:
                continue
            for way, other in altered(array).items():
                write_arrays(path, {**arrays, name: other})
                with pytest.raises(ModelIntegrityError) as caught:
                    pytest.fail(
                        f"{name}, {way}: {TfidfFeatures.load(PlainFolder(tmp_path)).n_columns} columns"
                    )
                assert str(caught.value).startswith(f"{path}: ")
            write_arrays(path, {n: a for n, a in arrays.items() if n != name})
            with pytest.raises(ModelIntegrityError, match=f"there is no array '{name}'"):
                TfidfFeatures.load(PlainFolder(tmp_path))
        write_arrays(path, arrays)
    assert TfidfFeatures.load(PlainFolder(tmp_path)).n_columns > 0


def test_saved_settings_leave_nothing_to_decide(tmp_path: Path) -> None:
    config = TextConfig(char_ngrams=(3, 3))
    TfidfFeatures(config).fit(TEXTS).save(tmp_path)
    write_json(tmp_path / "text.json", {"config": {**to_dict(config), "char_ngrams": "auto"}})
    with pytest.raises(ModelIntegrityError, match=r"text\.json: 'char_ngrams' must be decided"):
        TfidfFeatures.load(PlainFolder(tmp_path))
