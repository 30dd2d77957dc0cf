import pytest

from benchmarks.gnnxml_ablations import VARIANTS, main
from longtail import threads
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create

TINY = ["match.epochs=1", "documents.width=8", "network.width=8"]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_valid_setting(name: str) -> None:
    create("gnnxml", parse_overrides(VARIANTS[name]))


def test_the_versions_of_the_paper_differ() -> None:
    configs = [create("gnnxml", parse_overrides(settings)).config for settings in VARIANTS.values()]
    assert all(one != other for i, one in enumerate(configs) for other in configs[:i])


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    chosen = "v1: sum of vertices;v4: + concatenated readout"
    arguments = ["--data", str(tmp_path / "data"), "--variants", chosen]
    arguments += [part for setting in TINY for part in ("--set", setting)]
    with threads.limit(1):
        main(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {name}" for name in chosen.split(";")]
    assert all(0 <= float(cell) <= 100 for line in lines[2:] for cell in line.split(" | ")[1:6])
