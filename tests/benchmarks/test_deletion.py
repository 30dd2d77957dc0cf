"""The deletion test on synthetic data."""

import json

import pytest

from benchmarks.deletion import different_words, main, over_labels, used_labels, without
from longtail.data import catalogue, write
from longtail.types import Dataset, Document


def test_words_are_removed_in_all_their_places():
    document = Document("x", title="Red car", text="a red, RED bike")
    assert different_words("Red car a red") == ["a", "car", "red"]
    assert without(document, ["red", "bike"]) == Document("x", " car", "a ,  ")
    assert without(Document("x", "red", ""), ["red"]).title == " "


def test_labels_that_no_training_document_has_can_be_left_out():
    train = Dataset.from_texts(["one", "two"], [["a"], ["c"]], {"a": "A", "b": "B", "c": "C"})
    valid = Dataset.from_texts(["three"], [["b", "c"]], {"a": "A", "b": "B", "c": "C"})
    labels = used_labels(train)
    assert (labels.ids, labels.texts) == (["a", "c"], ["A", "C"])
    assert over_labels(train, labels).Y.toarray().tolist() == [[1, 0], [0, 1]]
    assert over_labels(valid, labels).Y.toarray().tolist() == [[0, 1]]


def test_rows_are_kept_and_rows_of_other_systems_stay(tmp_path, capsys):
    write(catalogue.build("synthetic", n_labels=60), tmp_path / "data")
    kept = tmp_path / "rows.json"
    models = tmp_path / "models"

    def run(system):
        main(
            [
                *("--data", str(tmp_path / "data"), "--systems", system, "--json", str(kept)),
                *("--documents", "200", "--explained", "10", "--words", "5", "--models", str(models)),
            ]
        )
        return json.loads(kept.read_text())["rows"]

    first, rows = run("linear"), run("lexical")
    assert sorted(place.name for place in models.iterdir()) == ["lexical-96", "linear-96"]
    assert [row["system"] for row in rows] == ["linear", "lexical"]
    # With the model that was kept.
    again = run("linear")[-1]
    assert again["success"] == pytest.approx(first[0]["success"], abs=10)
    assert again["fall top"] == pytest.approx(first[0]["fall top"], rel=0.02)
    assert all(row["success"] >= 80 for row in rows)
    assert all(row["fall top"] > row["fall random"] for row in rows)
    assert "| linear | 10 |" in capsys.readouterr().out
