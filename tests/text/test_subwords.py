"""Texts to subwords: special tokens by kind, padding by side, limits, and what is not text."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.errors import UsageError
from longtail.text import subwords
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords, TokenRows
from tests.tiny_encoders import PLACES, WORDS, write_roberta, write_transformer, write_xlnet


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> EncoderFolder:
    return EncoderFolder.of(write_transformer(tmp_path_factory.mktemp("bert")))


def rows_of(tokens: TokenRows) -> list[list[int]]:
    return [tokens.ids[a:b].tolist() for a, b in zip(tokens.indptr[:-1], tokens.indptr[1:], strict=True)]


def test_bert(bert: EncoderFolder) -> None:
    tokens = Subwords(bert)(["red apples", "", "Pear plum"])
    assert rows_of(tokens) == [[2, 5, 7, 9, 3], [2, 3], [2, 8, 1, 3]]
    padded = tokens.take(np.array([2, 1, 0]))
    assert padded.ids.tolist() == [[2, 8, 1, 3, 0], [2, 3, 0, 0, 0], [2, 5, 7, 9, 3]]
    assert padded.mask.sum(axis=1).tolist() == [4, 2, 5]
    assert tokens.lengths.tolist() == [5, 2, 4]
    # Without special tokens, as label texts are read.
    assert rows_of(Subwords(bert)(["red apples", ""], special=False)) == [[5, 7, 9], []]


def test_roberta(tmp_path: Path) -> None:
    tokens = Subwords(EncoderFolder.of(write_roberta(tmp_path)))(["red", ""])
    assert rows_of(tokens) == [[0, 4, 2], [0, 2]]
    assert tokens.take(np.array([0, 1])).ids.tolist() == [[0, 4, 2], [0, 2, 1]]


def test_xlnet_has_its_padding_in_front(tmp_path: Path) -> None:
    tokens = Subwords(EncoderFolder.of(write_xlnet(tmp_path)))(["red pear", ""])
    assert rows_of(tokens) == [[6, 10, 4, 3], [4, 3]]
    padded = tokens.take(np.array([0, 1]))
    assert padded.ids.tolist() == [[6, 10, 4, 3], [5, 5, 4, 3]]
    assert padded.mask.tolist() == [[True] * 4, [False, False, True, True]]


def test_a_long_text_is_cut_and_keeps_its_special_tokens(bert: EncoderFolder) -> None:
    assert rows_of(Subwords(bert, 4)(["red red red red"])) == [[2, 5, 5, 3]]
    assert Subwords(bert, 4)(["red " * 10**6]).lengths.tolist() == [4]
    # Never more than the encoder has places for.
    assert Subwords(bert, 1000)(["red " * 100]).lengths.tolist() == [PLACES]
    with pytest.raises(UsageError, match="at least 3 tokens"):
        Subwords(bert, 2)


def test_of_a_long_text_only_the_beginning_is_read_where_that_is_enough(
    bert: EncoderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "red green apples pear tree"
    texts = [
        " ".join([words] * 40),  # the beginning is enough
        "red" + " " * 500 + words,  # nearly nothing in the beginning
        "apple" * 300,  # nowhere to cut
        "red " + "apples" * 300 + " pear",  # the beginning ends within a word
        words,
    ]
    for limit in (5, 8, 12):
        for special in (True, False):
            quick = rows_of(Subwords(bert, limit)(texts, special=special))
            monkeypatch.setattr(subwords, "AT_FIRST", 10**6)
            assert rows_of(Subwords(bert, limit)(texts, special=special)) == quick
            monkeypatch.undo()


def test_blocks_and_files_make_no_difference(bert: EncoderFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["red apples", "", "pear", "green tree", "apple"] * 5
    whole = Subwords(bert)(texts)
    monkeypatch.setattr(subwords, "AT_ONCE", 3)
    monkeypatch.setattr(subwords, "IN_MEMORY", 10)
    again = Subwords(bert)(texts)
    assert isinstance(again.ids, np.memmap)
    assert rows_of(again) == rows_of(whole)
    assert (again.take(np.array([3, 0])).ids == whole.take(np.array([3, 0])).ids).all()
    assert len(Subwords(bert)([])) == 0


@given(text=st.text(st.characters(codec=None), max_size=30))
def test_any_text_has_special_tokens_around_it(bert: EncoderFolder, text: str) -> None:
    (row,) = rows_of(Subwords(bert)([text]))
    assert (row[0], row[-1]) == (2, 3)
    assert not {2, 3} & set(row[1:-1]) or "[" in text


def without(bert: EncoderFolder, place: Path) -> Path:
    shutil.copytree(bert.folder, place)
    (place / "tokenizer.json").unlink()
    return place


def test_an_older_vocabulary_gives_the_same(bert: EncoderFolder, tmp_path: Path) -> None:
    place = without(bert, tmp_path / "old")
    (place / "vocab.txt").write_text("\n".join(WORDS))
    texts = ["red apples", "", "Pear plum, TREE!"]
    assert rows_of(Subwords(EncoderFolder.of(place))(texts)) == rows_of(Subwords(bert)(texts))


def test_byte_pairs_of_an_older_folder(tmp_path: Path) -> None:
    place = write_roberta(tmp_path)
    (place / "tokenizer.json").unlink()
    words = ["<s>", "<pad>", "</s>", "<unk>", "r", "e", "d", "re", "red"]
    (place / "vocab.json").write_bytes(orjson.dumps({word: i for i, word in enumerate(words)}))
    (place / "merges.txt").write_text("#version: 0.2\nr e\nre d\n")
    assert rows_of(Subwords(EncoderFolder.of(place))(["red", ""])) == [[0, 8, 2], [0, 2]]


def test_a_vocabulary_that_cannot_be_read_is_said(bert: EncoderFolder, tmp_path: Path) -> None:
    place = without(bert, tmp_path / "lone")
    (place / "vocab.json").write_text("{}")
    with pytest.raises(UsageError, match="no tokenizer that can be read here"):
        Subwords(EncoderFolder.of(place))
    (place / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match=r"the tokenizer in .*lone cannot be read"):
        Subwords(EncoderFolder.of(place))


def test_a_tokenizer_with_absurd_numbers_is_refused(tmp_path: Path) -> None:
    place = write_transformer(tmp_path / "bert")
    content = orjson.loads((place / "tokenizer.json").read_bytes())
    vocabulary = content["model"]["vocab"]
    vocabulary[next(reversed(vocabulary))] = 2**31
    (place / "tokenizer.json").write_bytes(orjson.dumps(content))
    with pytest.raises(UsageError, match=r"numbers .* tokens up to 2,147,483,648"):
        Subwords(EncoderFolder.of(place))


def test_a_vocabulary_without_the_token_of_unknown_words_is_said(bert: EncoderFolder, tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    shutil.copytree(bert.folder, folder)
    content = orjson.loads((folder / "tokenizer.json").read_bytes())
    content["model"]["unk_token"] = "[NONE]"
    (folder / "tokenizer.json").write_bytes(orjson.dumps(content))
    with pytest.raises(UsageError, match="cannot read a text"):
        Subwords(EncoderFolder.of(folder))(["unheard"])


def test_more_tokens_than_the_limit_are_refused(bert: EncoderFolder) -> None:
    tokens = Subwords(bert, 4)
    assert tokens(["red apples pear plum"]).lengths.tolist() == [4]
    tokens._tokenizer.no_truncation()
    with pytest.raises(UsageError, match=r"makes \d+ tokens of a text, but the limit is 4"):
        tokens(["red apples pear plum"])


def test_some_texts_and_texts_one_after_another(bert: EncoderFolder) -> None:
    subwords = Subwords(bert)
    tokens, other = subwords(["red", "", "green apple"]), subwords(["apple", "red red"])
    chosen = np.array([2, 0, 2])
    assert (tokens.rows(chosen).take(np.arange(3)).ids == tokens.take(chosen).ids).all()
    both = tokens.followed_by(other.rows(np.array([1])))
    assert (both.lengths == [*tokens.lengths, other.lengths[1]]).all()
    assert (both.take(np.array([3])).ids == other.take(np.array([1])).ids).all()
    assert len(tokens.rows(np.empty(0, np.int64))) == 0
