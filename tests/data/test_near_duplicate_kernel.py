"""The kernels of near-duplicates on small arrays."""

from __future__ import annotations

import numpy as np

from longtail.data import near_duplicate_kernel as kernels

KINDS = np.array([kernels.SEPARATOR] * 65536, np.uint8)
KINDS[ord("a") : ord("z") + 1] = kernels.LETTER
MASKS = np.array([0, 12345, 67890], np.uint32)
FACTORS = np.array([1, 77777, 99999], np.uint32)


def sketches_of(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    codes = np.array([ord(letter) for text in texts for letter in text], np.uint32)
    ends = np.cumsum([len(text) for text in texts]).astype(np.int64)
    found = np.empty((len(texts), 3), np.uint16), np.empty(len(texts), np.uint64)
    kernels.sketch(codes, ends, KINDS, MASKS, FACTORS, *found)
    return found


def test_sketches_are_of_words_and_pairs() -> None:
    hashes, words = sketches_of("a b", "a  b!", "b a", "a b a b", "a", "?", "ab")
    assert (hashes[0] == hashes[1]).all()
    assert (hashes[0] != hashes[2]).any(), "another pair of adjacent words"
    assert words[0] == words[1] == words[2] == words[3]
    assert len({int(key) for key in words[[0, 4, 5, 6]]}) == 4
    assert words[5] == 0
    assert (hashes[5] == 0xFFFF).all()


def test_characters_beyond_the_table_are_words() -> None:
    _, words = sketches_of("\U0001f600\U0001f601", "\U0001f601 \U0001f600", "\U0001f600")
    assert words[0] == words[1] != words[2]


def test_buckets_are_of_some_hashes() -> None:
    sketches = np.array([[1, 2, 3], [1, 2, 4], [0, 2, 3]], np.uint16)
    first = kernels.bucket_keys(sketches, 0, 2)
    assert first[0] == first[1] != first[2]
    last = kernels.bucket_keys(sketches, 1, 2)
    assert last[0] == last[2] != last[1]


def test_links_need_similar_sketches_and_words() -> None:
    sketches = np.array([[1, 2, 3], [1, 2, 4], [1, 9, 9], [1, 2, 3]], np.uint16)
    keys = np.zeros(4, np.uint64)
    order = np.arange(4)

    def groups(same_words: list[int], least: int) -> list[int]:
        roots = np.arange(4)
        kernels.link_similar(order, keys, sketches, np.array(same_words, np.uint64), least, roots)
        return list(kernels.numbered(roots))

    assert groups([1, 2, 3, 4], 2) == [0, 0, 1, 0]
    assert groups([1, 2, 3, 4], 3) == [0, 1, 2, 0]
    assert groups([1, 0, 3, 4], 1) == [0, 1, 0, 0]
    roots = np.arange(4)
    kernels.link_equal(np.array([1, 3, 0, 2]), np.array([5, 0, 5, 0], np.uint64), roots)
    assert kernels.numbered(roots).tolist() == [0, 1, 0, 2]
    assert kernels.root_of(roots, 2) == 0
