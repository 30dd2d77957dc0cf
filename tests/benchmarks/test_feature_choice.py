import pytest

from benchmarks.feature_choice import VARIANTS, main
from longtail.config import parse_overrides
from longtail.data import catalogue, write
from longtail.systems import create


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_valid_setting(name: str) -> None:
    create("linear", parse_overrides(VARIANTS[name]))


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    main(["--data", str(tmp_path / "data"), "--variants", "words;default"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| variant | P@1 |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| words", "| default"]
