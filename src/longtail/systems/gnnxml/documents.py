"""From texts to KeyGraphs with a vector per vertex: the sum of its sentences' vectors (Sec. 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from longtail.blocks.text_encoder import TextEncoder
from longtail.config import from_dict, to_dict
from longtail.errors import DataError, ModelIntegrityError
from longtail.graph.keygraph import KeyGraphs, build_key_graphs, join_key_graphs
from longtail.run import Phase, Run
from longtail.storage import VerifiedFolder, read_arrays, read_json, write_arrays, write_json
from longtail.storage.checks import of_file
from longtail.systems.gnnxml.config import LIGHT, DocumentsConfig
from longtail.systems.gnnxml.sentence_cache import SentenceCache
from longtail.systems.gnnxml.sentence_encoders import (
    LightEncoder,
    Projection,
    TransformerEncoder,
    fit_projection,
    sampled,
)
from longtail.text.codepoints import waves
from longtail.text.keywords import KeywordFinder
from longtail.text.passages import Passages, read_passages
from longtail.text.stacking import stacked
from longtail.threads import run_all

_MOST_NODES = 1000
"""Keywords, or entities, of a document that a model may ask for: each document has room for all."""


class DocumentGraphs:
    """The keyword vocabulary of a corpus and the encoder of its sentences."""

    def __init__(
        self, config: DocumentsConfig, finder: KeywordFinder, encoder: LightEncoder | TransformerEncoder
    ) -> None:
        self.config = config
        self.finder = finder
        self.encoder = encoder

    @property
    def width(self) -> int:
        """d, the dimension of a vertex."""
        return self.encoder.width

    @classmethod
    def fit(
        cls, texts: Sequence[str], config: DocumentsConfig, run: Run | None = None, *, seed: int = 0
    ) -> Self:
        """Fit the vocabulary and, for light vectors, the projection to training texts.

        Where no word is in several documents, a word in one document is enough.
        """
        try:
            return cls._fit(texts, config, run or Run(), seed)
        except DataError:
            if config.min_documents == 1:
                raise
        return cls._fit(texts, replace(config, min_documents=1), run or Run(), seed)

    @classmethod
    def _fit(cls, texts: Sequence[str], config: DocumentsConfig, run: Run, seed: int) -> Self:
        with run.phase("keywords"):
            finder = KeywordFinder.learn(texts, config)
        if config.encoder != LIGHT:
            return cls(config, finder, _transformer(TextEncoder.of(config.encoder), config))
        with run.phase("projection"):
            some = sampled(texts)

            def rows_of(part: slice) -> csr_array:
                passages = read_passages(some[part])
                return finder.document_rows(passages, finder.numbers(passages))

            parts = [rows for wave in waves(some) for rows in run_all(rows_of, wave)]
            directions = fit_projection(stacked(parts, finder.n_words), config.width, seed=seed)
        return cls(config, finder, LightEncoder(finder, Projection(directions)))

    def graphs(self, texts: Sequence[str], run: Run | None = None) -> tuple[KeyGraphs, np.ndarray]:
        """The graphs of texts, without their sentences, and their vertices' vectors.

        Args:
            texts: one per document; an empty one has one vertex, of zeros.
            run: of a training: shows progress, and vectors of a transformer go through the cache.

        Shapes:
            float32 [V, width]
        """
        if isinstance(self.encoder, LightEncoder):
            graphs, words = self.word_graphs(texts, run)
            return graphs, self.encoder.of_words(words)
        encoder: SentenceCache | TransformerEncoder = self.encoder
        if run is not None and self.config.cache is not None:
            encoder = SentenceCache(self.config.cache, self.encoder, run)
        parts: list[KeyGraphs] = []
        # Room for as many vertices as there can be: the system backs only written pages with memory.
        most = self.config.keywords + self.config.entities + 1
        features = np.empty((len(texts) * most, self.width), np.float32)
        done = 0
        with (run or Run()).phase("keyword graphs", len(texts)) as phase:
            for wave in waves(texts):
                chunks = [texts[part] for part in wave]
                for passages, _, some in run_all(lambda chunk: key_graphs(chunk, self.finder), chunks):
                    vectors = some.sentences @ _sentence_vectors(encoder, passages.spell(), phase)
                    features[done : done + len(vectors)] = vectors
                    done += len(vectors)
                    parts.append(some.without_sentences())
                    phase.advance(len(some))
        return join_key_graphs(parts), features[:done]

    def word_graphs(self, texts: Sequence[str], run: Run | None = None) -> tuple[KeyGraphs, csr_array]:
        """The graphs of texts, without their sentences, and the sums of their vertices' TF-IDF sentences.

        Times the vectors of words they are the light vectors of ``graphs``: so the vectors of words can be trained.

        Shapes:
            float32 [V, words]
        """
        parts: list[KeyGraphs] = []
        weights: list[csr_array] = []

        def read(chunk: Sequence[str]) -> tuple[KeyGraphs, csr_array]:
            passages, numbers, graphs = key_graphs(chunk, self.finder)
            words = csr_array(graphs.sentences @ self.finder.sentence_rows(passages, numbers))
            return graphs.without_sentences(), words

        with (run or Run()).phase("keyword graphs", len(texts)) as phase:
            for wave in waves(texts):
                for graphs, words in run_all(read, [texts[part] for part in wave]):
                    parts.append(graphs)
                    weights.append(words)
                    phase.advance(len(graphs))
        return join_key_graphs(parts), stacked(weights, self.finder.n_words)

    def vectors(self, features: np.ndarray | csr_array) -> np.ndarray:
        """The vectors of vertices: as they are, or made of the words that ``word_graphs`` gave."""
        if isinstance(features, np.ndarray):
            return features
        assert isinstance(self.encoder, LightEncoder)
        return self.encoder.of_words(features)

    def with_words(self, vectors: np.ndarray) -> DocumentGraphs:
        """The same with other vectors of words [words, width]."""
        return DocumentGraphs(self.config, self.finder, LightEncoder(self.finder, Projection(vectors)))

    def spell(self, keyword: int) -> str:
        """The keyword of a vertex; the empty vertex has none."""
        return "" if keyword < 0 else self.finder.spell(keyword)

    def save(self, folder: Path) -> None:
        """Write everything to ``folder``, which is made."""
        write_json(folder / "documents.json", to_dict(self.config))
        write_arrays(folder / "keywords.safetensors", self.finder.arrays())
        if isinstance(self.encoder, LightEncoder):
            self.encoder.projection.save(folder / "projection.safetensors")
        else:
            self.encoder.encoder.save(folder / "encoder")

    @classmethod
    def load(cls, folder: VerifiedFolder) -> Self:
        """What ``save`` wrote."""
        config = from_dict(DocumentsConfig, read_json(folder.path("documents.json")))
        if max(config.keywords, config.entities) > _MOST_NODES:
            raise ModelIntegrityError(
                f"{folder.path('documents.json')}: keywords and entities must be at most {_MOST_NODES:,}"
            )
        path = folder.path("keywords.safetensors")
        arrays = read_arrays(path)
        with of_file(path):
            finder = KeywordFinder.from_arrays(arrays, config)
        if config.encoder != LIGHT:
            return cls(config, finder, _transformer(TextEncoder.load(folder.sub("encoder")), config))
        projection = Projection.load(folder.path("projection.safetensors"), words=finder.n_words)
        return cls(config, finder, LightEncoder(finder, projection))


def _transformer(encoder: TextEncoder, config: DocumentsConfig) -> TransformerEncoder:
    encoder.longest = min(encoder.longest, config.tokens)
    return TransformerEncoder(encoder)


def _sentence_vectors(
    encoder: SentenceCache | TransformerEncoder, sentences: list[str], phase: Phase
) -> np.ndarray:
    """The vectors of sentences, each different one encoded once."""
    if isinstance(encoder, SentenceCache):
        return encoder(sentences, phase)
    place = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
    return encoder(list(place))[[place[sentence] for sentence in sentences]]


def key_graphs(texts: Sequence[str], finder: KeywordFinder) -> tuple[Passages, np.ndarray, KeyGraphs]:
    """Texts read into sentences, the numbers of their words, and their graphs."""
    passages = read_passages(texts)
    numbers = finder.numbers(passages)
    found = finder.find(passages, numbers)
    graphs = build_key_graphs(
        found.documents, found.numbers, passages.sentences.documents, found.keyword_of, found.sentence_of
    )
    return passages, numbers, graphs
