"""Documents as graphs with vectors: by hand, at the edges, alone and in batches, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.graph.keygraph import KeyGraphs
from longtail.run import Run
from longtail.storage import open_folder, read_arrays, write_arrays, writing_folder
from longtail.storage.manifest import write_manifest
from longtail.systems.gnnxml.config import DocumentsConfig
from longtail.systems.gnnxml.documents import DocumentGraphs, key_graphs
from longtail.threads import limit
from tests.tiny_encoders import WIDTH, write_transformer

FRUIT = "Apples grow on trees. Pears grow on trees. We like it. Apples and pears taste well."
TEXTS = [
    FRUIT,
    "The red apples fell from trees near Lake Garda.",
    "Green pears came from Lake Garda, and nobody said why.",
    "red pears",
    "",
    "他说苹果很好。他喜欢树。",
    "το μήλο πέφτει. Το δέντρο μένει.",
    "التفاح جيد. الشجرة عالية",
]
EDGES = ["", "...", "zzz", "pears", " ".join(f"tree{i % 700}" for i in range(50_000)), *TEXTS[5:]]


@pytest.fixture(scope="module")
def fitted() -> DocumentGraphs:
    with limit(1):
        return DocumentGraphs.fit(TEXTS, DocumentsConfig(min_documents=1, keywords=5, width=6))


def same(a: tuple[KeyGraphs, np.ndarray], b: tuple[KeyGraphs, np.ndarray]) -> None:
    assert np.array_equal(a[0].documents, b[0].documents)
    assert np.array_equal(a[0].keywords, b[0].keywords)
    assert np.array_equal(a[0].edges.toarray(), b[0].edges.toarray())
    assert np.array_equal(a[1], b[1])


def test_the_graph_of_a_text_by_hand(fitted: DocumentGraphs) -> None:
    config = DocumentsConfig(min_documents=1, keywords=30, entities=0, width=6)
    finder = DocumentGraphs.fit([FRUIT], config).finder
    passages, _, graphs = key_graphs([FRUIT], finder)
    assert passages.spell() == [
        "Apples grow on trees.",
        "Pears grow on trees.",
        "We like it.",
        "Apples and pears taste well.",
    ]
    words = ["" if k < 0 else finder.spell(int(k)) for k in graphs.keywords]
    assert sorted(words) == sorted(["apples", "grow", "trees", "pears", "like", "and", "taste", "well"])
    place = {word: i for i, word in enumerate(words)}
    edges = graphs.edges.toarray()
    assert edges[place["grow"], place["trees"]] == 2
    assert edges[place["apples"], place["pears"]] == 1
    assert edges[place["apples"], place["grow"]] == 1
    assert not edges[place["like"]].any()
    sentences = graphs.sentences.toarray()
    assert np.flatnonzero(sentences[place["apples"]]).tolist() == [0, 3]


def test_sentences_without_a_keyword_are_the_empty_vertex() -> None:
    config = DocumentsConfig(min_documents=1, keywords=1, entities=0, width=6)
    graphs = DocumentGraphs.fit([FRUIT], config)
    *_, made = key_graphs([FRUIT], graphs.finder)
    assert made.keywords[-1] == -1
    assert len(made.keywords) == 2
    assert made.sentences.toarray().sum(axis=0).tolist() == [1, 1, 1, 1]
    assert graphs.spell(int(made.keywords[1])) == ""
    assert graphs.spell(int(made.keywords[0])) in FRUIT.lower()


def test_a_vertex_is_the_sum_of_its_sentences(fitted: DocumentGraphs) -> None:
    passages, _, graphs = key_graphs(TEXTS, fitted.finder)
    vectors = fitted.encoder(passages.spell())
    made, features = fitted.graphs(TEXTS)
    np.testing.assert_allclose(features, graphs.sentences @ vectors, atol=1e-5)
    assert features.dtype == np.float32
    assert features.shape == (len(made.keywords), fitted.width)
    assert made.sentences.shape == (len(made.keywords), 0)


@pytest.mark.parametrize("text", EDGES)
def test_texts_at_the_edges_have_a_graph(fitted: DocumentGraphs, text: str) -> None:
    made, features = fitted.graphs([text])
    assert len(made) == 1
    assert len(features) == made.documents[-1] >= 1
    assert np.isfinite(features).all()
    if text in ("", "...", "zzz"):
        assert made.keywords.tolist() == [-1]
        assert not features.any()


def test_no_documents(fitted: DocumentGraphs) -> None:
    made, features = fitted.graphs([])
    assert len(made) == 0
    assert made.documents.tolist() == [0]
    assert features.shape == (0, fitted.width)


def test_other_scripts_have_keywords(fitted: DocumentGraphs) -> None:
    made, _ = fitted.graphs(TEXTS[5:])
    for document in range(3):
        assert (made.keywords[made.documents[document] : made.documents[document + 1]] >= 0).sum() >= 3


def test_a_document_has_the_same_graph_in_any_batch(fitted: DocumentGraphs) -> None:
    texts = [*TEXTS, *EDGES]
    made, features = fitted.graphs(texts)
    for i, text in enumerate(texts):
        row = np.array([i])
        same((made.take(row), features[made.vertices(row)]), fitted.graphs([text]))


def test_threads_change_nothing(fitted: DocumentGraphs) -> None:
    many = [f"{text} {' '.join(TEXTS)}" * 40 for text in TEXTS * 20]
    with limit(1):
        one = fitted.graphs(many)
    with limit(3):
        same(fitted.graphs(many), one)
        again = DocumentGraphs.fit(TEXTS, fitted.config)
    same(again.graphs(TEXTS), fitted.graphs(TEXTS))


def saved(graphs: DocumentGraphs, place: Path) -> Path:
    with writing_folder(place) as folder:
        (folder / "documents").mkdir()
        graphs.save(folder / "documents")
    return place


def loaded(place: Path) -> DocumentGraphs:
    folder = open_folder(place).sub("documents")
    assert folder is not None
    return DocumentGraphs.load(folder)


def test_saved_and_loaded_it_is_the_same(fitted: DocumentGraphs, tmp_path: Path) -> None:
    again = loaded(saved(fitted, tmp_path / "model"))
    assert again.config == fitted.config
    same(again.graphs(TEXTS), fitted.graphs(TEXTS))


def test_the_projection_takes_half_the_space_on_disk(fitted: DocumentGraphs, tmp_path: Path) -> None:
    path = saved(fitted, tmp_path / "model") / "documents" / "projection.safetensors"
    assert read_arrays(path)["directions"].dtype == np.float16


def test_words_of_single_documents_are_known_if_there_are_no_others() -> None:
    graphs = DocumentGraphs.fit(["red apple", "green pear"], DocumentsConfig(width=6))
    assert graphs.config.min_documents == 1
    assert graphs.graphs(["red pear"])[1].any()


def test_arrays_that_do_not_fit_are_refused(fitted: DocumentGraphs, tmp_path: Path) -> None:
    place = saved(fitted, tmp_path / "model")
    path = place / "documents" / "projection.safetensors"
    directions = read_arrays(path)["directions"]
    for wrong in (directions[1:], directions.astype(np.float64), directions[None], directions * np.inf):
        write_arrays(path, {"directions": wrong})
        write_manifest(place)
        with pytest.raises(ModelIntegrityError, match=r"projection\.safetensors: directions"):
            loaded(place)


def test_a_transformer_makes_the_vectors_once(tmp_path: Path) -> None:
    (tmp_path / "bert").mkdir()
    folder = write_transformer(tmp_path / "bert")
    config = DocumentsConfig(min_documents=1, encoder=str(folder), cache=str(tmp_path / "cache"))
    run = Run()
    graphs = DocumentGraphs.fit(TEXTS, config, run)
    kept = graphs.graphs([*TEXTS, FRUIT], run)
    assert kept[1].shape[1] == graphs.width == WIDTH
    assert set(run.seconds) == {"keywords", "keyword graphs"}
    files = sorted((tmp_path / "cache").rglob("*.safetensors"))
    assert files
    same(graphs.graphs([*TEXTS, FRUIT], Run()), kept)
    assert sorted((tmp_path / "cache").rglob("*.safetensors")) == files
    # Outside of a training nothing is kept; vectors are those of half precision, nearly.
    fresh = graphs.graphs([*TEXTS, FRUIT])
    np.testing.assert_allclose(fresh[1], kept[1], atol=0.02)
    assert np.array_equal(fresh[0].edges.toarray(), kept[0].edges.toarray())
    again = loaded(saved(graphs, tmp_path / "model"))
    np.testing.assert_allclose(again.graphs(TEXTS)[1], graphs.graphs(TEXTS)[1], atol=1e-5)
