"""Made-up data with known structure: topics in areas, labels in topics, power-law frequencies, label text.

A label's text has words of its own and of its topic; a document has words of its labels' texts, others that
go with these labels but are not in their texts, words of their topics, and noise. So a linear model can learn
the frequent labels, and the rare ones can be found by their text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from longtail.data.catalogue.made_up_words import made_up_words
from longtail.data.splits import FRACTIONS, random_split
from longtail.errors import UsageError
from longtail.types import Dataset, Documents, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LABELS_PER_TOPIC, TOPICS_PER_AREA, WORDS_PER_TOPIC = 25, 10, 12
OWN_WORDS, HIDDEN_WORDS = 2, 2
"""Words of its own in a label's text (a third is its topic's), and words that only its documents have."""
LABELS_PER_OWN_WORD = 4
"""Over how many labels, in different topics, such a word is shared: no single word gives a label away."""
EXPONENT = 0.8
"""Of the power law of label frequencies: flat enough that the tail occurs, steep enough to be a tail."""
TITLE_WORDS = 5
SHARE_OF_LABELS_THAT_ARE_DOCUMENTS = 0.6
_CHUNK = 200_000


@dataclass(frozen=True, slots=True)
class World:
    """The planted structure; labels of a topic and topics of an area are next to each other.

    Shapes: ``label_words`` [labels, 3] (the text), ``hidden_words`` [labels, 2],
    ``topic_words`` [topics, WORDS_PER_TOPIC], ``cumulative`` [labels + 1] (label probabilities),
    ``noise`` (the numbers of the words that mean nothing).
    """

    words: np.ndarray
    label_words: np.ndarray
    hidden_words: np.ndarray
    topic_words: np.ndarray
    cumulative: np.ndarray
    noise: np.ndarray

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.label_words)


def synthetic(
    *,
    n_labels: int = 1000,
    n_documents: int | None = None,
    seed: int = 0,
    words_per_document: int = 12,
    labels_per_document: float = 3.0,
    shared_space: bool = False,
    fractions: Mapping[str, float] = FRACTIONS,
) -> dict[str, Dataset]:
    """Make documents and labels, and part them at random.

    Args:
        n_labels: how many labels; some have no document at all, as in life.
        n_documents: how many documents (twice the labels if not given).
        seed: the same seed and sizes give the same data.
        words_per_document: about how many words a document has; the first five are its title.
        labels_per_document: about how many labels a document has.
        shared_space: most labels are documents too (same id, and the label's text begins the document's title);
            a document as its own label is then not scored.
        fractions: the share of each part by its name, the training part first.
    """
    n = 2 * n_labels if n_documents is None else n_documents
    if n_labels < 2 or n < len(fractions) or words_per_document < 3 or labels_per_document < 1:
        raise UsageError(
            "a synthetic data set needs n_labels of at least 2, a document for each part, "
            "words_per_document of at least 3 and labels_per_document of at least 1"
        )
    rng = np.random.default_rng(seed)
    world = _world(n_labels, rng)
    itself = np.full(n, -1, np.int64)  # the label that a document is, if it is one
    if shared_space:
        both = min(int(SHARE_OF_LABELS_THAT_ARE_DOCUMENTS * n_labels), n // 2)
        itself[rng.choice(n, both, replace=False)] = rng.choice(n_labels, both, replace=False)
    Y = _label_matrix(world, n, labels_per_document, itself, rng)
    label_ids = [f"label{i}" for i in range(n_labels)]
    ids = [f"doc{i}" for i in range(n)]
    for row in np.flatnonzero(itself >= 0):
        ids[row] = label_ids[itself[row]]
    titles, texts = _texts(world, Y, itself, words_per_document, rng)
    label_texts = [" ".join(row) for row in world.words[world.label_words].tolist()]
    whole = Dataset(
        Documents(ids, titles, texts), LabelSet(label_ids, label_texts), Y, _own_labels(itself, Y)
    )
    part = random_split(n, list(fractions.values()), seed)
    return {name: whole.take(np.flatnonzero(part == i)) for i, name in enumerate(fractions)}


def _world(n_labels: int, rng: np.random.Generator) -> World:
    n_topics = max(1, n_labels // LABELS_PER_TOPIC)
    n_areas = max(1, n_topics // TOPICS_PER_AREA)
    n_own = max(4, n_labels * OWN_WORDS // LABELS_PER_OWN_WORD)
    n_topical, n_areal, n_noise = n_topics * (WORDS_PER_TOPIC // 2), n_areas * WORDS_PER_TOPIC, 2000
    starts = np.cumsum([0, n_own, n_topical, n_areal, n_noise])
    topics, labels = np.arange(n_topics), np.arange(n_labels)
    # Half of a topic's words are its own, half are those of its area.
    own_half = starts[1] + np.arange(n_topical).reshape(n_topics, -1)
    area_of_topic = np.minimum(topics // TOPICS_PER_AREA, n_areas - 1)
    drawn = rng.integers(0, WORDS_PER_TOPIC, (n_topics, WORDS_PER_TOPIC - own_half.shape[1]))
    topic_words = np.concatenate(
        [own_half, starts[2] + area_of_topic[:, None] * WORDS_PER_TOPIC + drawn], axis=1
    )
    # Each own word is used equally often; two permutations make the pairs of them (nearly) unique.
    own = np.stack([rng.permutation(labels % n_own) for _ in range(OWN_WORDS + HIDDEN_WORDS)], axis=1)
    topical = topic_words[
        _group(labels, n_labels, LABELS_PER_TOPIC), rng.integers(0, WORDS_PER_TOPIC, n_labels)
    ]
    weights = (1.0 + rng.permutation(n_labels)) ** -EXPONENT
    cumulative = np.concatenate([[0.0], np.cumsum(weights / weights.sum())])
    cumulative[-1] = 1.0
    words = made_up_words(int(starts[-1]), int(rng.integers(2**31)))
    noise = np.arange(starts[3], starts[4])
    label_words = np.concatenate([own[:, :OWN_WORDS], topical[:, None]], axis=1)
    return World(words, label_words, own[:, OWN_WORDS:], topic_words, cumulative, noise)


def _group(labels: np.ndarray, n_labels: int, span: int) -> np.ndarray:
    """The number of each label's topic or area; the last one takes the labels that are left over."""
    group: np.ndarray = np.minimum(labels // span, max(1, n_labels // span) - 1)
    return group


def _label_matrix(
    world: World, n: int, mean: float, itself: np.ndarray, rng: np.random.Generator
) -> csr_array:
    """Draw each document's labels: one from all by frequency, the others mostly from its topic, else its area."""
    from scipy.sparse import csr_array

    # A document that is a label has labels around that one.
    span = np.where(itself >= 0, LABELS_PER_TOPIC, world.n_labels)
    first = _draw_near(world, np.maximum(itself, 0), span, rng)
    anchor = np.where(itself >= 0, itself, first)
    rows = np.repeat(np.arange(n), rng.poisson(1.3 * (mean - 1), n))  # some are drawn twice
    span = np.where(rng.random(len(rows)) < 0.75, LABELS_PER_TOPIC, LABELS_PER_TOPIC * TOPICS_PER_AREA)
    columns = np.concatenate([first, _draw_near(world, anchor[rows], span, rng)])
    rows = np.concatenate([np.arange(n), rows])
    keep = columns != itself[rows]
    rows, columns = rows[keep], columns[keep]
    Y = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n, world.n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def _draw_near(world: World, labels: np.ndarray, span: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw by frequency, each from the ``span`` labels that are grouped with the given one."""
    last = np.maximum(1, world.n_labels // span) - 1
    group = np.minimum(labels // span, last)
    low = world.cumulative[group * span]
    high = np.where(group == last, 1.0, world.cumulative[np.minimum((group + 1) * span, world.n_labels)])
    at = low + rng.random(len(labels)) * (high - low)
    drawn: np.ndarray = np.searchsorted(world.cumulative, at, side="right") - 1
    return drawn.clip(0, world.n_labels - 1)


def _texts(
    world: World, Y: csr_array, itself: np.ndarray, mean: int, rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Title and text of every document, made in chunks so that the words of all never stand side by side."""
    titles: list[str] = []
    texts: list[str] = []
    for start in range(0, Y.shape[0], _CHUNK):
        stop = min(start + _CHUNK, Y.shape[0])
        words = world.words[
            _word_numbers(world, Y.indptr[start : stop + 1], Y.indices, itself[start:stop], mean, rng)
        ]
        lengths = np.clip(rng.poisson(mean, stop - start), 3, words.shape[1]).tolist()
        for row, length in zip(words.tolist(), lengths, strict=True):
            titles.append(" ".join(row[: min(length, TITLE_WORDS)]))
            texts.append(" ".join(row[TITLE_WORDS:length]))
    return titles, texts


def _word_numbers(
    world: World,
    indptr: np.ndarray,
    indices: np.ndarray,
    itself: np.ndarray,
    mean: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Word numbers [documents, slots]: the labels take turns, each giving a word of its text or topic."""
    n, slots = len(indptr) - 1, 2 * mean
    counts = np.diff(indptr)
    turn = np.arange(slots) % np.maximum(counts, 1)[:, None]
    label = indices[np.minimum(indptr[:-1, None] + turn, len(indices) - 1)].astype(np.int64)
    topic = _group(label, world.n_labels, LABELS_PER_TOPIC)
    kind = rng.random((n, slots))
    kind[:, 0] = 0.0  # the first word is always one of a label's own
    kind[counts == 0] = 1.0  # a document without labels is noise
    own = world.label_words[label, rng.integers(0, world.label_words.shape[1], (n, slots))]
    topical = world.topic_words[topic, rng.integers(0, WORDS_PER_TOPIC, (n, slots))]
    # Squaring the random number makes some noise words frequent, as function words are.
    noise = world.noise[(rng.random((n, slots)) ** 2 * len(world.noise)).astype(np.int64)]
    hidden = world.hidden_words[label, rng.integers(0, HIDDEN_WORDS, (n, slots))]
    words: np.ndarray = np.select([kind < 0.35, kind < 0.55, kind < 0.8], [own, hidden, topical], noise)
    also_label = np.flatnonzero(itself >= 0)
    words[also_label, :3] = world.label_words[itself[also_label]]
    return words


def _own_labels(itself: np.ndarray, Y: csr_array) -> csr_array | None:
    from scipy.sparse import csr_array

    rows = np.flatnonzero(itself >= 0)
    if not len(rows):
        return None
    return csr_array((np.ones(len(rows), np.float32), (rows, itself[rows])), shape=Y.shape)
