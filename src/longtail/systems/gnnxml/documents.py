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
            return cls(config, finder, TransformerEncoder(TextEncoder.of(config.encoder)))
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
        cache = None
        if run is not None and self.config.cache is not None:
            cache = SentenceCache(self.config.cache, self.encoder, run)
        parts: list[KeyGraphs] = []
        # Room for as many vertices as there can be: the system backs only written pages with memory.
        most = self.config.keywords + self.config.entities + 1
        features = np.empty((len(texts) * most, self.width), np.float32)
        done = 0
        with (run or Run()).phase("keyword graphs", len(texts)) as phase:
            for wave in waves(texts):
                graphs, vectors = self._wave([texts[part] for part in wave], cache, phase)
                for some, made in zip(graphs, vectors, strict=True):
                    features[done : done + len(made)] = made
                    done += len(made)
                    parts.append(some.without_sentences())
                    phase.advance(len(some))
        return join_key_graphs(parts), features[:done]

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
            return cls(config, finder, TransformerEncoder(TextEncoder.load(folder.sub("encoder"))))
        projection = Projection.load(folder.path("projection.safetensors"), words=finder.n_words)
        return cls(config, finder, LightEncoder(finder, projection))

    def _wave(
        self, chunks: list[Sequence[str]], cache: SentenceCache | None, phase: Phase
    ) -> tuple[list[KeyGraphs], list[np.ndarray]]:
        """The graphs and vectors of some chunks of texts."""
        encoder = self.encoder
        if isinstance(encoder, LightEncoder):

            def light(chunk: Sequence[str]) -> tuple[KeyGraphs, np.ndarray]:
                passages, numbers, graphs = key_graphs(chunk, self.finder)
                return graphs, np.asarray(graphs.sentences @ encoder.of_passages(passages, numbers))

            made = run_all(light, chunks)
            return [graphs for graphs, _ in made], [vectors for _, vectors in made]

        read = run_all(lambda chunk: key_graphs(chunk, self.finder), chunks)
        vectors = []
        for passages, _, graphs in read:
            sentences = passages.spell()
            if cache is not None:
                made_of = cache(sentences, phase)
            else:
                place = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
                made_of = encoder(list(place))[[place[sentence] for sentence in sentences]]
            vectors.append(np.asarray(graphs.sentences @ made_of, np.float32))
        return [graphs for *_, graphs in read], vectors


def key_graphs(texts: Sequence[str], finder: KeywordFinder) -> tuple[Passages, np.ndarray, KeyGraphs]:
    """Texts read into sentences, the numbers of their words, and their graphs."""
    passages = read_passages(texts)
    numbers = finder.numbers(passages)
    found = finder.find(passages, numbers)
    graphs = build_key_graphs(
        found.documents, found.numbers, passages.sentences.documents, found.keyword_of, found.sentence_of
    )
    return passages, numbers, graphs
