import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.galaxc_ablations import VARIANTS, main, pooled_recall
from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create

TINY = [
    part
    for stage in ("initial.embed", "initial.rank", "stages.joint")
    for part in ("--set", f"{stage}.epochs=1")
]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_valid_setting(name: str) -> None:
    create("galaxc", parse_overrides(VARIANTS[name]))


def test_recall_counts_every_pair() -> None:
    Y = csr_array(np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]], np.float32))
    assert pooled_recall(np.array([[0, 1], [2, 3], [3, 2]], np.int32), Y) == pytest.approx(2 / 4)


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    with threads.limit(1):
        main(
            [
                "--data",
                str(tmp_path / "data"),
                "--variants",
                "ANN alone;no attention",
                "--set",
                "width=8",
                *TINY,
            ]
        )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| ANN alone", "| no attention"]
    assert all(0 <= float(cell) <= 100 for line in lines[2:] for cell in line.split(" | ")[1:8])
