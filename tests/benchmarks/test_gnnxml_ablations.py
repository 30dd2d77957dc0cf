from benchmarks.gnnxml_ablations import VARIANTS, main
from tests.benchmarks.ablation_tables import settings_are_valid_and_differ, table_has_a_row_a_variant


def test_all_variants_are_valid_and_differ() -> None:
    settings_are_valid_and_differ("gnnxml", VARIANTS)


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    settings = ["match.epochs=1", "documents.width=8", "network.width=8"]
    table_has_a_row_a_variant(
        main, ["v1: sum of vertices", "v4: + concatenated readout (default)"], settings, tmp_path, capsys
    )
