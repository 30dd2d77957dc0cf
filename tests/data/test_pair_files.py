from __future__ import annotations

from pathlib import Path

import pytest

from longtail.data import read_edges
from longtail.errors import DataError
from tests.data.build import put


def test_edges(tmp_path: Path) -> None:
    put(tmp_path / "edges.tsv.gz", "a\tb\t0.5\nb c\td\n\n")
    edges = read_edges(tmp_path)
    assert (edges.sources, edges.targets, edges.weights.tolist()) == (["a", "b c"], ["b", "d"], [0.5, 1.0])
    assert read_edges(tmp_path / "edges.tsv.gz").sources == ["a", "b c"]


@pytest.mark.parametrize("line", ["a", "a\tb\tc", "a\tb\tnan", "a\tb\t1\t2"])
def test_bad_edges(tmp_path: Path, line: str) -> None:
    put(tmp_path / "edges.tsv", f"a\tb\n{line}\n")
    with pytest.raises(DataError, match=r"edges.tsv, line 2: expected two ids and a finite weight"):
        read_edges(tmp_path)


def test_no_edges(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no edges.tsv"):
        read_edges(tmp_path)
