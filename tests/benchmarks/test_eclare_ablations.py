"""Every row of the paper's tables is there under its name and is the paper's system with one change."""

from pathlib import Path

import pytest

from benchmarks.eclare_ablations import PAPER_FILE, TABLE_4, TABLE_5, TABLE_7, VARIANTS, main
from longtail.config import parse_overrides, read_toml, to_dict
from longtail.systems import create
from tests.benchmarks.ablation_tables import settings_are_valid_and_differ, table_has_a_row_a_variant

QUICK = [
    "width=8",
    "text.kind=word",
    "classifier.max_terms=64",
    *(f"stages.{stage}.epochs=1" for stage in ("embed", "shortlist", "rank")),
]

# The rows of the paper's tables, and what each changes of its own system.
CHANGES = {
    "ECLARE": set(),
    "ECLARE-GCN": {"classifier.gale"},
    "ECLARE-LightGCN": {"classifier.gale"},
    "ECLARE-Cooc": {"graph.kind"},
    "ECLARE-PN": {"graph.normalisation"},
    "ECLARE-PPR": {"negatives.source"},
    "ECLARE-NoGraph": {
        "game.clusters",
        "game.negatives",
        "game.labels",
        "shortlist.clustering",
        "classifier.initialise",
    },
    "ECLARE-NoLTE": {"classifier.lte"},
    "ECLARE-NoRefine": {"classifier.refinement"},
    "ECLARE-SUM": {"classifier.combine"},
    "ECLARE-k=2": {"classifier.order"},
    "ECLARE-8K": {"shortlist.labels_per_cluster"},
    "ECLARE without GAME": {"game.clusters", "game.negatives", "game.labels"},
    "ECLARE C=2^17": {"shortlist.labels_per_cluster"},
    "DECAF": {"shortlist.clustering"},
    "MACH": {"shortlist.clustering"},
}


def flat(config: object) -> dict[str, object]:
    def leaves(table: dict[str, object], prefix: str) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in table.items():
            found |= (
                leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
            )
        return found

    return leaves(to_dict(config), "")


def config_of(name: str) -> dict[str, object]:
    return flat(create("eclare", parse_overrides(VARIANTS[name])).config)


def test_all_variants_are_valid_and_differ() -> None:
    settings_are_valid_and_differ("eclare", VARIANTS)


def test_the_first_row_is_the_system_of_the_paper() -> None:
    settings = read_toml(PAPER_FILE)
    assert settings.pop("system") == "eclare"
    assert config_of("ECLARE") == flat(create("eclare", settings).config)


@pytest.mark.parametrize("name", CHANGES)
def test_a_row_of_the_paper_changes_its_part_alone(name: str) -> None:
    paper, found = config_of("ECLARE"), config_of(name)
    assert {key for key, value in found.items() if value != paper[key]} == CHANGES[name]


def test_all_rows_of_the_tables_are_there() -> None:
    assert {*TABLE_4, *TABLE_5, *TABLE_7} == set(CHANGES)
    assert {*TABLE_4, *TABLE_5, *TABLE_7} < set(VARIANTS)


def test_a_table_with_a_row_a_variant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["ECLARE-NoLTE", "MACH", "default"]
    lines = table_has_a_row_a_variant(main, chosen, QUICK, tmp_path, capsys)
    assert lines[0].split(" | ")[6] == "LMI"
    lost = [line.split(" | ")[6] for line in lines[2:]]
    # With so few labels, the default ranks them all.
    assert lost[2] == "-"
    assert all(0 < float(cell) < 100 for cell in lost[:2])
    assert lost[0] != lost[1]
