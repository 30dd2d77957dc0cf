"""Planted data with known answers: every label has words of its own, and its documents contain them."""

from typing import NamedTuple

import numpy as np

from longtail.types import Dataset, Documents, LabelSet, label_matrix

NOISE_WORDS = 60
SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "zy")


class Parts(NamedTuple):
    """The three parts of a data set, over the same labels."""

    train: Dataset
    valid: Dataset
    test: Dataset


def planted(n_documents: int = 300, n_labels: int = 40, seed: int = 0) -> Dataset:
    """Documents of one to three labels, each named by two or three words that no other label has.

    Three awkward cases are always there: the last label has no documents, document 1 has no labels (noise
    words alone), and document 2 has labels but an empty text. A few labels are frequent and most are rare.
    """
    if n_documents < 3 or n_labels < 4:
        raise ValueError("the awkward cases need at least 3 documents and 4 labels")
    random = np.random.default_rng(seed)
    own = [[_word(3 * label + i) for i in range(random.integers(2, 4))] for label in range(n_labels)]
    noise = [_word(3 * n_labels + i) for i in range(NOISE_WORDS)]
    popularity = 1 / np.arange(1, n_labels) ** 0.8
    popularity /= popularity.sum()
    tags: list[list[int]] = []
    titles: list[str] = []
    texts: list[str] = []
    for number in range(n_documents):
        drawn = random.choice(n_labels - 1, size=random.integers(1, 4), replace=False, p=popularity)
        labels = [] if number == 1 else [int(label) for label in drawn]
        words = [word for label in labels for word in own[label]]
        words += [noise[i] for i in random.integers(0, NOISE_WORDS, 6)]
        random.shuffle(words)
        tags.append(labels)
        titles.append("" if number == 2 else " ".join(words[:2]))
        texts.append("" if number == 2 else " ".join(words[2:]))
    label_set = LabelSet([f"label-{i}" for i in range(n_labels)], [" ".join(words) for words in own])
    documents = Documents([f"document-{i}" for i in range(n_documents)], titles, texts)
    return Dataset(
        documents, label_set, label_matrix([[f"label-{i}" for i in row] for row in tags], label_set)
    )


def parts_of(data: Dataset) -> Parts:
    """Training, validation and test part: six, two and two tenths; the awkward documents are in training."""
    first, second = len(data) * 6 // 10, len(data) * 8 // 10
    return Parts(
        data.take(range(first)), data.take(range(first, second)), data.take(range(second, len(data)))
    )


def words_of(n_labels: int) -> tuple[str, ...]:
    """All words that planted data with so many labels can have."""
    return tuple(_word(number) for number in range(3 * n_labels + NOISE_WORDS))


def _word(number: int) -> str:
    """The word with this number: distinct numbers give distinct words of one length."""
    base = len(SYLLABLES)
    return "".join(SYLLABLES[number // base**place % base] for place in (3, 2, 1, 0))
