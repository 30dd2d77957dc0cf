"""The graph by itself: what it keeps, what it refuses, and faiss beside torch."""

import subprocess
import sys

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.run import Run
from longtail.shortlist.ann_graph import Graph, digest

ROWS = np.random.default_rng(0).normal(size=(700, 7)).astype(np.float32)
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.build(ROWS, 6, 30, Run())


@pytest.mark.parametrize("n", [1, 2, 3, 699, 700])
def test_the_vectors_are_looked_at_in_place(n: int) -> None:
    small = Graph.build(ROWS[:n], 6, 30, Run())
    assert (small.vectors == ROWS[:n]).all()
    assert small.vectors.flags.aligned
    assert np.shares_memory(small.vectors, small.written)
    assert small.near(ROWS[:1], 5, 20).shape == (1, min(n, 5))


def test_each_vector_is_nearest_to_itself(graph: Graph) -> None:
    assert (graph.near(ROWS, 1, 50).ravel() == np.arange(700)).mean() > 0.99


def test_what_was_written_is_read(graph: Graph) -> None:
    again = Graph.of_arrays(graph.arrays(), ROWS.shape)
    assert (again.near(ROWS, 5, 20) == graph.near(ROWS, 5, 20)).all()
    assert (again.add(ROWS[:3], 30, Run()).written == graph.add(ROWS[:3], 30, Run()).written).all()
    assert graph.add(ROWS[:0], 30, Run()) is graph


def test_vectors_may_be_written_apart_in_half_of_the_bytes() -> None:
    rows = ROWS.astype(np.float16).astype(np.float32)
    graph = Graph.build(rows, 6, 30, Run())
    parts = graph.arrays(half=True)
    assert parts["vectors"].dtype == np.float16
    again = Graph.of_arrays(parts, rows.shape)
    assert (again.written == graph.written).all()
    assert (again.near(rows, 5, 20) == graph.near(rows, 5, 20)).all()
    with pytest.raises(ModelIntegrityError, match="altered"):
        Graph.of_arrays({**parts, "links": parts["links"][::-1].copy()}, rows.shape)


def test_another_shape_is_an_error(graph: Graph) -> None:
    for shape in ((699, 7), (700, 6), (350, 14), (10**6, 7), (0, 7)):
        with pytest.raises(ModelIntegrityError, match="graph"):
            Graph.of_arrays(graph.arrays(), shape)
    for written in (graph.written[:0], np.zeros(400_000, np.uint8)):
        with pytest.raises(ModelIntegrityError, match="graph"):
            Graph.of_arrays({"graph": written, "digest": digest(written, 0)}, (0, 7))


def test_a_wrong_graph_with_a_right_digest_never_ends_the_process(graph: Graph) -> None:
    rng = np.random.default_rng(6)
    head = len(graph.written) - graph.vectors.nbytes
    refused = 0
    for place in [*range(4, 200, 3), *range(head - 60, head, 3), *rng.integers(0, head, 50)]:
        written = graph.written.copy()
        written[place] ^= 255
        parts = {"graph": written, "digest": digest(written, graph.vectors.nbytes)}
        try:
            found = Graph.of_arrays(parts, ROWS.shape).near(ROWS[:3], 5, 20)
        except ModelIntegrityError:
            refused += 1
        else:
            assert ((found >= -1) & (found < len(ROWS))).all()
    assert refused > 50


@pytest.mark.parametrize("first", ["torch", "faiss"])
def test_torch_and_faiss_live_in_one_process(first: str) -> None:
    program = (
        f"import {first}\n"
        "import faiss, torch\n"
        "import numpy as np\n"
        "from longtail import threads\n"
        "from longtail.shortlist.ann import AnnIndex\n"
        "torch.set_num_threads(2)\n"
        "rows = np.random.default_rng(0).normal(size=(2100, 8))\n"
        "before = faiss.omp_get_max_threads()\n"
        "with threads.limit(2):\n"
        "    for _ in range(2):\n"
        "        found = AnnIndex.build(rows, m=8).search(rows[:100], 1)[0]\n"
        "        table = torch.from_numpy(rows).float() @ torch.from_numpy(rows[:100]).float().T\n"
        "        assert torch.softmax(table, 0).sum().isfinite()\n"
        "assert (found.ravel() == np.arange(100)).mean() > .9\n"
        "assert torch.get_num_threads() == 2 and faiss.omp_get_max_threads() == before\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
