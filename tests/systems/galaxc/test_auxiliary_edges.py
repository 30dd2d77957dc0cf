"""Links that come with documents, and documents that see each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail import threads
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Document, Documents, Edges
from tests.planted import Parts
from tests.systems.galaxc.worlds import p_at_1, same, settings

# --- links ----------------------------------------------------------------------------------------------------


def wordless() -> tuple[Dataset, Dataset]:
    """Documents of one and the same word, of which links alone say what they are about."""
    topics = [f"topic{i}" for i in range(5)]
    texts = [*(f"{topic} plain" for topic in topics for _ in range(4)), *(["common"] * 20)]
    tags = [*([topic] for topic in topics for _ in range(4)), *([topics[i % 5]] for i in range(20))]
    data = Dataset.from_texts(texts, tags, {topic: topic for topic in topics})
    ids = data.documents.ids
    # Each common document is linked with the first two of its topic.
    links = [(ids[20 + i], ids[4 * (i % 5) + j]) for i in range(20) for j in range(2)]
    edges = Edges([a for a, _ in links], [b for _, b in links], np.ones(len(links), np.float32))
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
def by_links() -> dict[str, Galaxc]:
    """Models that use links nowhere, for new documents, and in training too."""
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
                    score="classifier",
                )
            ).fit(train)
            for auxiliary in ("none", "predict", "train")
        }


def test_links_matter_where_they_are_used(by_links: dict[str, Galaxc]) -> None:
    _, new = wordless()
    found = {name: p_at_1(model, new) for name, model in by_links.items()}
    assert found["none"] == 20
    assert found["train"] == 100
    assert found["predict"] >= 80
    cold = {name: model.predict(new.documents, k=5) for name, model in by_links.items()}
    assert same(cold["none"], by_links["none"].predict(new, k=5))
    # Links change nothing in training unless they are asked for.
    assert same(cold["none"], cold["predict"])
    assert not same(cold["train"], cold["predict"])


def test_unknown_ends_of_links_are_ignored(by_links: dict[str, Galaxc]) -> None:
    _, new = wordless()
    model = by_links["train"]
    assert new.edges is not None
    clean = Edges(*(side[:10] for side in new.edges))
    assert same(model.predict(new), model.predict(replace(new, edges=clean)))
    assert same(model.predict(new), model.predict(new.documents, edges=clean))


def test_a_linked_document_without_a_known_word_is_no_unknown_one(by_links: dict[str, Galaxc]) -> None:
    train, _ = wordless()
    edges = Edges(["x", "x"], train.documents.ids[12:14], np.ones(2, np.float32))
    answer = by_links["train"].predict([Document("x", text="unheard")], k=1, edges=edges)
    assert answer.labels[0, 0] == 3


def test_a_link_to_a_document_that_joined_later_leads_there(
    by_links: dict[str, Galaxc], tmp_path: Path
) -> None:
    by_links["train"].save(tmp_path / "model")
    model = Galaxc.load(tmp_path / "model")
    added = Dataset.from_texts(["topic4 plain"], [["topic4"]])
    model.add_documents(replace(added, documents=Documents.of([Document("late", text="topic4 plain")])))
    edges = Edges(["x", "17"], ["late", "x"], np.array([2, 1], np.float32))
    linked = model.folded_.space.links(edges, model.labels_.ids).table(["x"], 4)
    assert linked.tolist() == [[model.folded_.space.graph.n_nodes - 1, 17, -1, -1]]
    assert model.predict([Document("x", text="common")], k=1, edges=edges).labels[0, 0] == 4


# --- transduction ---------------------------------------------------------------------------------------------


def test_answers_depend_on_the_others_only_where_that_is_asked_for(tiny: Parts, tmp_path: Path) -> None:
    for transductive in (True, False):
        model = Galaxc(**settings(epochs=1, graph={"transductive": transductive})).fit(tiny.train)
        together = model.predict(tiny.test, k=5)
        alone = model.predict(tiny.test.take([0]), k=5)
        assert np.array_equal(together.scores[0], alone.scores[0]) != transductive
        # Nobody stays in the graph.
        assert same(model.predict(tiny.test, k=5), together)
