import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.galaxc_ablations import VARIANTS, main, pooled_recall
from tests.benchmarks.ablation_tables import settings_are_valid_and_differ, table_has_a_row_a_variant

TINY = [
    "width=8",
    *(f"{stage}.epochs=1" for stage in ("initial.embed", "initial.rank", "stages.joint")),
]


def test_all_variants_are_valid_and_differ() -> None:
    settings_are_valid_and_differ("galaxc", VARIANTS)


def test_recall_counts_every_pair() -> None:
    Y = csr_array(np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]], np.float32))
    assert pooled_recall(np.array([[0, 1], [2, 3], [3, 2]], np.int32), Y) == pytest.approx(2 / 4)


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    lines = table_has_a_row_a_variant(main, ["ANN alone", "no attention"], TINY, tmp_path, capsys)
    headings = lines[0].split(" | ")
    for name in ("initial recall@100", "recall@100"):
        assert all(0 <= float(line.split(" | ")[headings.index(name)]) <= 100 for line in lines[2:])
