import pytest

from benchmarks.eclare_ablations import VARIANTS, main
from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_valid_setting(name: str) -> None:
    create("eclare", parse_overrides(VARIANTS[name]))


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    tiny = ["--set", "width=8", "--set", "stages.rank.epochs=1", "--set", "stages.shortlist.epochs=1"]
    with threads.limit(1):
        main(["--data", str(tmp_path / "data"), "--variants", "no LTE;attention", *tiny])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| no LTE", "| attention"]
