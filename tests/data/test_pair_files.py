from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data import Edges, read_edges
from longtail.data.pair_files import write_edges
from longtail.errors import DataError
from tests.data.build import put


def test_edges(tmp_path: Path) -> None:
    put(tmp_path / "edges.tsv.gz", "a\tb\t0.5\nb c\td\n\n")
    edges = read_edges(tmp_path)
    assert (edges.sources, edges.targets, edges.weights.tolist()) == (["a", "b c"], ["b", "d"], [0.5, 1.0])
    assert read_edges(tmp_path / "edges.tsv.gz").sources == ["a", "b c"]


@pytest.mark.parametrize(
    "line", ["a", "a\tb\tc", "a\tb\tnan", "a\tb\tinf", "a\tb\t-1", "a\tb\t1\t2", "\tb\t1", "a\t\t1"]
)
def test_bad_edges(tmp_path: Path, line: str) -> None:
    put(tmp_path / "edges.tsv", f"a\tb\n{line}\n")
    with pytest.raises(DataError, match=r"edges.tsv, line 2: expected two ids and a finite weight"):
        read_edges(tmp_path)


def test_no_edges(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no edges.tsv"):
        read_edges(tmp_path)


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda id_: not any(mark in id_ for mark in "\t\r\n\0\ufeff")
)
LINKS = st.lists(st.tuples(IDS, IDS, st.floats(0, width=32, allow_infinity=False)))


@given(LINKS)
def test_what_is_written_is_read_again(links: list[tuple[str, str, float]]) -> None:
    edges = Edges(
        [a for a, _, _ in links], [b for _, b, _ in links], np.array([w for *_, w in links], np.float32)
    )
    with tempfile.TemporaryDirectory() as place:
        write_edges([edges, edges], Path(place) / "edges.tsv")
        again = read_edges(place)
    assert again.sources == 2 * edges.sources
    assert again.targets == 2 * edges.targets
    assert again.weights.tobytes() == 2 * edges.weights.tobytes()


@pytest.mark.parametrize("id_", ["", "a\tb", "a\nb", "\0", "\ufeffa"])
def test_ids_that_no_line_can_hold(tmp_path: Path, id_: str) -> None:
    with pytest.raises(DataError, match=r"cannot be a line of edges.tsv"):
        write_edges([Edges(["a"], [id_], np.ones(1, np.float32))], tmp_path / "edges.tsv")
