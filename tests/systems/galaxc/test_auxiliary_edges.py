"""Edges that come with documents, and documents that see each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail import threads
from longtail.systems.galaxc.auxiliary_edges import AuxiliaryEdges
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Document, Documents, Edges
from tests.planted import Parts
from tests.systems.galaxc.worlds import p_at_1, same, settings

# --- lookup ---------------------------------------------------------------------------------------------------

NODES = {"a": 0, "b": 1, "c": 2}


def edges_of(*rows: tuple[str, str, float]) -> AuxiliaryEdges:
    sources, targets, weights = ([row[i] for row in rows] for i in range(3))
    return AuxiliaryEdges.of(Edges(sources, targets, np.array(weights, np.float32)), NODES)


def test_edges_go_both_ways_and_the_heaviest_comes_first() -> None:
    edges = edges_of(("new", "a", 1), ("b", "new", 3), ("new", "c", 2))
    assert edges.table(["new", "b", "elsewhere"], 3).tolist() == [[1, 2, 0], [-1, -1, -1], [-1, -1, -1]]
    assert edges.table(["new"], 2).tolist() == [[1, 2]]


def test_equal_edges_go_by_their_nodes_and_none_is_there_twice() -> None:
    edges = edges_of(("new", "c", 1), ("new", "a", 1), ("c", "new", 5), ("new", "new", 9), ("a", "a", 1))
    assert edges.table(["new", "a"], 3).tolist() == [[2, 0, -1], [-1, -1, -1]]


def test_edges_to_unknown_nodes_are_left_out() -> None:
    assert edges_of(("new", "who", 1)).table(["new"], 2).tolist() == [[-1, -1]]
    assert edges_of().table(["new"], 1).tolist() == [[-1]]


# --- prediction and training ----------------------------------------------------------------------------------


def wordless() -> tuple[Dataset, Dataset]:
    """Documents of one and the same word, whose edges alone tell what they are about."""
    topics = [f"topic{i}" for i in range(5)]
    texts = [*(f"{topic} plain" for topic in topics for _ in range(4)), *(["common"] * 20)]
    tags = [*([topic] for topic in topics for _ in range(4)), *([topics[i % 5]] for i in range(20))]
    data = Dataset.from_texts(texts, tags, {topic: topic for topic in topics})
    ids = data.documents.ids
    # Each common document has edges to the first two of its topic.
    pairs = [(ids[20 + i], ids[4 * (i % 5) + j]) for i in range(20) for j in range(2)]
    edges = Edges([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs), np.float32))
    new = Dataset(
        Documents.of([Document(f"new-{i}", text="common") for i in range(5)]),
        data.labels,
        csr_array(np.eye(5, dtype=np.float32)),
        edges=Edges(
            [f"new-{i}" for i in range(5) for _ in range(2)] + ["?", "new-0"],
            [ids[4 * i + j] for i in range(5) for j in range(2)] + [ids[0], "nowhere"],
            np.ones(12, np.float32),
        ),
    )
    return replace(data, edges=edges), new


@pytest.fixture(scope="module")
def by_use() -> dict[str, Galaxc]:
    """Models that use edges nowhere, for new documents, and in training too."""
    train, _ = wordless()
    with threads.limit(1):
        return {
            auxiliary: Galaxc(
                **settings(
                    epochs=40,
                    graph={"auxiliary": auxiliary},
                    neighbourhood={"near": 1.0},
                    negatives={"hard": 0},
                    initial={"clusters": 4},
                )
            ).fit(train)
            for auxiliary in ("none", "predict", "train")
        }


def test_edges_matter_where_they_are_used(by_use: dict[str, Galaxc]) -> None:
    _, new = wordless()
    found = {name: p_at_1(model, new) for name, model in by_use.items()}
    assert found["none"] == 20
    assert found["train"] == 100
    assert found["predict"] >= 80
    cold = {name: model.predict(new.documents, k=5) for name, model in by_use.items()}
    assert same(cold["none"], by_use["none"].predict(new, k=5))
    # Edges change nothing in training unless that is set.
    assert same(cold["none"], cold["predict"])
    assert not same(cold["train"], cold["predict"])


def test_unknown_ends_of_edges_are_ignored(by_use: dict[str, Galaxc]) -> None:
    _, new = wordless()
    model = by_use["train"]
    assert new.edges is not None
    clean = Edges(*(side[:10] for side in new.edges))
    assert same(model.predict(new), model.predict(replace(new, edges=clean)))
    assert same(model.predict(new), model.predict(new.documents, edges=clean))


def test_a_document_with_edges_and_without_a_known_word_is_readable(by_use: dict[str, Galaxc]) -> None:
    train, _ = wordless()
    edges = Edges(["x", "x"], train.documents.ids[12:14], np.ones(2, np.float32))
    answer = by_use["train"].predict([Document("x", text="unheard")], k=1, edges=edges)
    assert answer.indices[0, 0] == 3


def test_an_edge_to_a_document_that_was_added_leads_there(by_use: dict[str, Galaxc], tmp_path: Path) -> None:
    by_use["train"].save(tmp_path / "model")
    model = Galaxc.load(tmp_path / "model")
    added = Dataset.from_texts(["topic4 plain"], [["topic4"]])
    model.add_documents(replace(added, documents=Documents.of([Document("late", text="topic4 plain")])))
    edges = Edges(["x", "17"], ["late", "x"], np.array([2, 1], np.float32))
    linked = model.predictor_.nodes.auxiliary_edges(edges, model.labels_.ids).table(["x"], 4)
    assert linked.tolist() == [[model.predictor_.nodes.graph.n_nodes - 1, 17, -1, -1]]
    assert model.predict([Document("x", text="common")], k=1, edges=edges).indices[0, 0] == 4


# --- transduction ---------------------------------------------------------------------------------------------


def test_answers_depend_on_the_others_only_where_that_is_asked_for(tiny: Parts, tmp_path: Path) -> None:
    for transductive in (True, False):
        model = Galaxc(**settings(epochs=1, graph={"transductive": transductive})).fit(tiny.train)
        together = model.predict(tiny.test, k=5)
        alone = model.predict(tiny.test.take([0]), k=5)
        assert np.array_equal(together.scores[0], alone.scores[0]) != transductive
        # Nobody stays in the graph.
        assert same(model.predict(tiny.test, k=5), together)
