"""Label ids that are probably misspelled: exact cases, and single changes of any word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data.misspelled import MOST, Pair, label_doubts, misspelled, misspelled_labels, sentence
from longtail.data.reading import read_parts
from tests.data.build import put


@pytest.mark.parametrize(
    ("unused", "lacking", "same"),
    [
        ("Fish", "fish", True),
        ("deep sea", "deep-sea", True),
        (" fish_tank", "Fish Tank", True),
        ("q-12", "Q 12", True),
        ("fsh", "fish", False),
        ("fihs", "fish", False),
        ("fishh", "fish", False),
        ("dish", "fish", False),
        ("Dish", "fish", False),
    ],
)
def test_close_ids(unused: str, lacking: str, same: bool) -> None:
    assert misspelled([unused], ["other", lacking]) == (
        [Pair(unused, lacking, same)] if len(unused) > 3 else []
    )


@pytest.mark.parametrize(
    ("unused", "lacking"),
    [
        ("1003", "1002"),
        ("Q12a", "Q12b"),
        ("cat", "rat"),
        ("c#", "c"),
        ("c++x", "c++y1"),
        ("house", "mouses"),
        ("http://x/#a", "http://x/-a"),
        ("shoes", "boots"),
    ],
)
def test_other_ids_are_labels_of_their_own(unused: str, lacking: str) -> None:
    assert misspelled([unused], [lacking]) == []


def test_nothing_to_compare_with() -> None:
    assert misspelled(["fish"], []) == []
    assert misspelled([], ["fish"]) == []
    assert misspelled(["fsih"], [*(f"label {n}" for n in range(MOST)), "fish"]) == []


@given(st.text(alphabet="abcdef", min_size=5, max_size=9), st.data())
def test_any_single_change_is_found(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from("xyz"))
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for other in (
        word[:at] + letter + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + word[at + 1 :],
        swapped,
    ):
        assert [pair.meant for pair in misspelled([other], [word])] == [word]


def test_the_sentence_names_three() -> None:
    pairs = [Pair(f"{name}h", name, False) for name in ("fish", "wish", "dish", "mesh")]
    assert sentence(pairs, "labels.tsv") == (
        "labels.tsv has labels that no document has and that are probably misspelled: 'fishh' (documents have "
        "'fish'), 'wishh' (documents have 'wish'), 'dishh' (documents have 'dish') and 1 more; write the ids as "
        "the documents do"
    )
    assert " more" not in sentence(pairs[:3], "label_texts")


def test_ids_of_a_file_of_labels(tmp_path: Path) -> None:
    put(tmp_path / "train.csv", "text,labels\na,dogs\nb,cats\n")
    labels = put(tmp_path / "labels.tsv", "cats\tCats\ndogz\tDogs\nbirds\tBirds\n")
    assert misspelled_labels(read_parts(tmp_path)) == (
        f"{labels} has labels that no document has and that are probably misspelled: 'dogz' (documents have "
        "'dogs'); write the ids as the documents do"
    )
    put(labels, "cats\tCats\ndogs\tDogs\ndogz\tanother\n")
    assert misspelled_labels(read_parts(tmp_path)) is None
    labels.unlink()
    assert misspelled_labels(read_parts(tmp_path)) is None


def test_odd_ids() -> None:
    assert list(label_doubts(["cats", "Cats", "c++", "c#", "dogs", " dogs"])) == [
        "labels differ in case or spacing only: 'cats' and 'Cats', 'dogs' and ' dogs'; write them alike if they "
        "mean the same"
    ]
    assert "all labels are numbers like '1.0'" in next(label_doubts(["1.0", "20.0"]))
    assert list(label_doubts(["1.0", "2.5"])) == list(label_doubts([])) == []
