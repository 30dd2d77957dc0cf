"""Annif: its ensemble of the backends omikuji (Parabel), MLLM and tfidf, with weights from validation documents."""

import itertools
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import TextContestant
from benchmarks.measure import main
from benchmarks.peers.ranking import ndcg, some_rows
from benchmarks.ranked import ranked_rows

SOURCES = ("omikuji", "mllm", "tfidf")
VOCABULARY = "labels"
URI = "urn:label:"
LIMIT = 100
MLLM_DOCUMENTS = 4000
"""MLLM learns which matches of label names count: some thousands of documents are what it is made for."""

STEPS = 10
"""Weights are multiples of a tenth."""

PUNKT = ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")
"""The tables of NLTK's sentence splitter; it is downloaded where it is missing, so empty ones take its place."""


def project(name: str, lines: str) -> str:
    """A section of Annif's configuration."""
    return (
        f"[{name}]\nname={name}\nlanguage=en\nanalyzer=snowball(english)\n"
        f"vocab={VOCABULARY}\nlimit={LIMIT}\n{lines}\n"
    )


class Annif(TextContestant):
    """Trained and asked through Annif's own classes, in one process."""

    packages = ("annif", "omikuji", "numpy", "scipy")

    def settings(self) -> dict[str, Any]:
        """Weights of the sources, with the run's own settings over them."""
        return {"weights": self.weights, "mllm_documents": MLLM_DOCUMENTS} | self.job.settings

    def prepare(self, X: Any, Y: Any) -> None:
        """Writes configuration and vocabulary, and makes Annif's documents."""
        tables = self.folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
        tables.mkdir(parents=True)
        for name in PUNKT:
            (tables / name).write_text("")
        os.environ["NLTK_DATA"] = str(self.folder / "nltk")
        annif = import_module("annif")
        annif.logger.setLevel("ERROR")
        self.weights = dict.fromkeys(SOURCES, 1 / len(SOURCES))
        self.data = self.folder / "model"
        names = [" ".join(text.split()) for text in self.texts("lbl")]
        vocabulary = self.folder / "vocabulary.tsv"
        with vocabulary.open("w", encoding="utf-8") as file:
            file.writelines(f"<{URI}{number}>\t{name}\n" for number, name in enumerate(names))
        self.n_labels = len(names)
        self._write_configuration()
        self.registry = self._registry()
        source = import_module("annif.vocab").VocabFileTSV(str(vocabulary), "en")
        self.registry.get_project("omikuji").vocab.load_vocabulary(source)
        self.documents = self._documents(X, Y)

    def _write_configuration(self) -> None:
        sources = ",".join(f"{name}:{weight}" for name, weight in self.weights.items())
        sections = [project(name, f"backend={name}") for name in SOURCES]
        sections.append(project("ensemble", f"backend=ensemble\nsources={sources}"))
        (self.folder / "projects.cfg").write_text("\n".join(sections), encoding="utf-8")

    def _registry(self) -> Any:
        return import_module("annif.registry").AnnifRegistry(
            str(self.folder / "projects.cfg"), str(self.data), False
        )

    def _documents(self, texts: Any, Y: Any = None) -> list[Any]:
        corpus = import_module("annif.corpus")
        if Y is None:
            return [corpus.Document(text=text) for text in texts]
        subjects = [
            corpus.SubjectSet(Y.indices[start:end].tolist()) for start, end in itertools.pairwise(Y.indptr)
        ]
        return [corpus.Document(text=t, subject_set=own) for t, own in zip(texts, subjects, strict=True)]

    def train(self) -> None:
        """The three backends, then the weights."""
        document_list = import_module("annif.corpus").DocumentList
        few = np.random.default_rng(self.job.seed).permutation(len(self.documents))[:MLLM_DOCUMENTS]
        for name in SOURCES:
            some = [self.documents[row] for row in few] if name == "mllm" else self.documents
            self.registry.get_project(name).train(document_list(some), jobs=self.job.threads)
        if self.has_valid:
            self._choose()

    def _choose(self) -> None:
        """A grid of weights over validation documents, by nDCG@5."""
        texts, Y = self.read("val")
        rows = some_rows(len(texts), 0)
        filtered = self.filtered("val")
        filtered = None if filtered is None else filtered[rows]
        picked = self._documents([texts[row] for row in rows])
        found = [self._suggested(name, picked) for name in SOURCES]
        best = -1.0
        for first, second in itertools.product(range(STEPS + 1), repeat=2):
            if first + second > STEPS:
                continue
            weights = [step / STEPS for step in (first, second, STEPS - first - second)]
            mixed = sum(weight * scores for weight, scores in zip(weights, found, strict=True))
            labels, _ = self.top(mixed.tocsr(), 10)
            quality = ndcg(labels, Y[rows], filtered)
            if quality > best:
                best, self.weights = quality, dict(zip(SOURCES, weights, strict=True))

    def _suggested(self, name: str, documents: list[Any]) -> Any:
        """A sparse matrix of scores by one project, in batches of the size that Annif uses."""
        asked, sparse = self.registry.get_project(name), import_module("scipy.sparse")
        size = import_module("annif.corpus").DocumentList.DOC_BATCH_SIZE
        batches = [asked.suggest(documents[i : i + size]).array for i in range(0, len(documents), size)]
        return sparse.csr_array(sparse.vstack(batches))

    def save(self, folder: Path) -> None:
        """Annif has written vocabulary and models while it trained; its training data are not part of them."""
        del self.documents
        self._write_configuration()
        for cached in (*folder.rglob("mllm-train.gz"), *folder.rglob("omikuji-train.txt")):
            cached.unlink()

    def load(self, folder: Path) -> None:
        """A new registry, with models from disk."""
        self.registry = self._registry()
        self.registry.get_project("ensemble").initialize()

    def rows(self, X: Any) -> Any:
        """Annif's documents."""
        return self._documents(X)

    def predict(self, rows: Any, k: int) -> Any:
        """The ensemble's suggestions."""
        return self._suggested("ensemble", rows)

    def top(self, predicted: Any, k: int) -> tuple[Any, Any]:
        """From a sparse matrix of scores."""
        return ranked_rows(predicted.indptr, predicted.indices, predicted.data, k)


if __name__ == "__main__":
    main(Annif)
