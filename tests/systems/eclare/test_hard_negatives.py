"""Wrong labels that look right: where they come from, and that none is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cluster.meta_labels import cluster_graph
from longtail.systems.eclare import modules
from tests.planted import Parts
from tests.systems.eclare.workshop import Workshop
from tests.systems.eclare.worlds import course_of


def random_clusters(course: modules.Course) -> modules.Clusters:
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 8
    return modules.Clusters(
        tokens=rng.standard_normal((course.inputs.X.shape[1], 16)).astype(np.float32),
        residual=np.eye(16, dtype=np.float32),
        classifiers=rng.standard_normal((8, 16)).astype(np.float32),
        bias=np.zeros(1, np.float32),
        member_ptr=np.arange(0, 41, 5),
        members=np.argsort(codes, kind="stable").astype(np.int32),
        graph=cluster_graph(course.inputs.G, codes, 8, 10),
    )


@pytest.mark.parametrize("source", ["shortlist", "pagerank"])
def test_hard_negatives_are_never_right(tiny: Parts, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "MINED_AT_ONCE", 50)
    course = course_of(tiny, negatives={"source": source})
    hard = modules.hard_negatives(course, random_clusters(course))
    assert hard is not None
    assert hard.shape[0] == len(tiny.train)
    assert (hard >= 0).any()
    right = course.inputs.Y.toarray() > 0
    documents, slots = np.nonzero(hard >= 0)
    assert not right[documents, hard[documents, slots]].any()
    rows = [row[row >= 0] for row in hard]
    assert all(len(set(row)) == len(row) for row in rows)


def test_hard_negatives_come_from_the_document_s_clusters(tiny: Parts) -> None:
    course = course_of(tiny, shortlist={"beam": 2}, game={"negatives": False})
    clusters = random_clusters(course)
    hard = modules.hard_negatives(course, clusters)
    assert hard is not None
    x = course.inputs.X.toarray() @ clusters.tokens
    scores = np.maximum(x + np.maximum(x, 0), 0) @ clusters.classifiers.T
    best = np.argsort(-scores, axis=1)[:, :2]
    for row, found in enumerate(hard):
        if course.inputs.X[[row]].nnz:
            near = {int(label) for c in best[row] for label in range(40) if label % 8 == c}
            assert set(found[found >= 0]) == near - set(course.inputs.Y[[row]].indices)
        else:
            assert (found == -1).all()


def test_game_brings_in_other_negatives(tiny: Parts) -> None:
    found = []
    for game in (True, False):
        course = course_of(tiny, game={"negatives": game, "mix": 1.0})
        found.append(modules.hard_negatives(course, random_clusters(course)))
    assert not np.array_equal(*found)


def test_sources_of_hard_negatives(tiny: Parts) -> None:
    course = course_of(tiny)
    clusters = random_clusters(course)
    assert modules.hard_negatives(course, None) is None
    for nothing in ({"source": "none"}, {"hard": 0}):
        assert modules.hard_negatives(course_of(tiny, negatives=nothing), clusters) is None
    # Labels near those of a document need no shortlist.
    walk = modules.hard_negatives(course_of(tiny, negatives={"source": "pagerank"}), None)
    assert walk is not None
    assert not np.array_equal(walk, modules.hard_negatives(course, clusters))
    for source in ("shortlist", "pagerank", "none"):
        hard = Workshop(tiny, negatives={"source": source})["rank"].targets.hard
        assert (hard is None) == (source == "none")


def test_without_moves_up_what_is_left() -> None:
    Y = csr_array(np.array([[0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], np.float32))
    labels = np.array([[3, 0, 1, 4], [2, 0, -1, -1], [0, 1, 2, -1]], np.int32)
    found = modules.without(labels, Y, np.array([4, -1, -1]))
    assert found.tolist() == [[0, -1, -1, -1], [2, 0, -1, -1], [-1, -1, -1, -1]]
    assert found.dtype == np.int32
