import pytest

from benchmarks.xgrank_ablations import VARIANTS, main
from tests.benchmarks.ablation_tables import settings_are_valid_and_differ, table_has_a_row_a_variant
from tests.tiny_encoders import write_transformer

pytest.importorskip("transformers")


def test_all_variants_are_valid_and_differ() -> None:
    settings_are_valid_and_differ("xgrank", VARIANTS)


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    settings = [
        "train.epochs=1",
        "encoder.tokens=12",
        f"encoder.names={write_transformer(tmp_path / 'encoder')}",
    ]
    table_has_a_row_a_variant(main, ["default", "binary cross entropy"], settings, tmp_path, capsys)
