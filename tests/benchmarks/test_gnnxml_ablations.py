import json

from benchmarks.gnnxml_ablations import VARIANTS, main
from longtail import threads
from longtail.data import catalogue, write
from tests.benchmarks.ablation_tables import settings_are_valid_and_differ, table_has_a_row_a_variant


def test_all_variants_are_valid_and_differ() -> None:
    settings_are_valid_and_differ("gnnxml", VARIANTS)


def test_a_table_with_a_row_a_variant(tmp_path, capsys) -> None:
    settings = ["match.epochs=1", "documents.width=8", "network.width=8"]
    table_has_a_row_a_variant(main, ["v1: sum of vertices", "default"], settings, tmp_path, capsys)


def test_rows_are_added_to_a_file(tmp_path, capsys) -> None:
    write(catalogue.build("synthetic", n_labels=40), tmp_path / "data")
    out = tmp_path / "rows.json"
    arguments = [
        "--data",
        str(tmp_path / "data"),
        "--variants",
        "default",
        "--documents",
        "40",
        "--out",
        str(out),
    ]
    arguments += ["--valid-documents", "7", "--set", "match.epochs=1", "--set", "documents.width=8"]
    with threads.limit(1):
        main(arguments)
        main(arguments)
    runs = json.loads(out.read_text())["runs"]
    assert len(runs) == 2
    assert runs[0]["command"] == "python -m benchmarks.gnnxml_ablations " + " ".join(arguments)
    (row,) = runs[1]["rows"]
    assert (row["variant"], row["training_documents"], row["validation_documents"]) == ("default", 40, 7)
    assert set(row["metrics"]) == {"P@1", "P@5", "PSP@1", "PSP@5", "R@10"}
    assert "match" in row["phase_seconds"]
    assert row["metrics"] == runs[0]["rows"][0]["metrics"]
