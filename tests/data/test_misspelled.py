"""Label ids that are probably misspelled: exact cases, and single changes of any word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.data.check import check
from longtail.data.misspelled import MOST, Pair, certain, label_doubts, misplaced_texts, misspelled
from longtail.types import Dataset
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
        ("labb1", "lab1", False),
        ("lob12", "lab12", False),
        ("alb3", "lab3", False),
        ("la1x", "lab1x", False),
        ("section 12 fsih", "section 12 fish", False),
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
        ("QA12", "QB12"),
        ("lab12", "lab21"),
        ("lab11", "lab1"),
        ("lab2", "lab1"),
        ("E11.9", "F11.9"),
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
    pairs = [Pair(f"{name.title()}", name, True) for name in ("fish", "wish", "dish", "mesh")]
    assert certain(pairs) == (
        "label_texts has labels that no document has and that are misspelled: 'Fish' (documents have 'fish'), "
        "'Wish' (documents have 'wish'), 'Dish' (documents have 'dish') and 1 more; write the ids as the documents "
        "do"
    )
    assert " more" not in certain(pairs[:3])


def test_texts_under_ids_that_no_document_has() -> None:
    texts = {"lab2": "dogs", "labb1": "cats", "lab11": "ants", "lab12": "bees", "lab13": "owls"}
    data = Dataset.from_texts(["a", "b"], [["lab1"], ["lab2"]], texts)
    assert misplaced_texts(data) == (
        "texts are given for labels that no document has: 4 ('labb1', 'lab11', 'lab12', ...), and not for labels "
        "that documents have: 1 ('lab1'); if an id is misspelled, correct it (probably 'labb1' is 'lab1')"
    )
    far = Dataset.from_texts(["a", "b"], [["lab1"], ["lab2"]], {"lab11": "ants"})
    assert misplaced_texts(far) == (
        "texts are given for labels that no document has: 1 ('lab11'), and not for labels that documents have: 2 "
        "('lab1', 'lab2'); if an id is misspelled, correct it"
    )


def test_cold_labels_beside_labels_with_texts_are_no_doubt() -> None:
    texts = {"lab1": "cats", "lab2": "dogs", "labb1": "ants"}
    data = Dataset.from_texts(["a", "b"], [["lab1"], ["lab2"]], texts)
    assert misplaced_texts(data) is None
    assert misplaced_texts(Dataset.from_texts(["a"], [["x"]])) is None
    assert misplaced_texts(Dataset.from_labels(data.labels)) is None


def test_documents_with_an_id_that_is_almost_one_with_a_text() -> None:
    ids = [f"lab{n}" for n in range(40)]
    texts = dict.fromkeys(ids, "a text")
    data = Dataset.from_texts(["a"] * 41, [[label] for label in [*ids, "labb1"]], texts)
    assert misplaced_texts(data) == (
        "documents have labels without a text: 1 ('labb1'); if an id is misspelled, correct it (probably 'labb1' "
        "is 'lab1')"
    )
    # Where many have none, or the id is another label of the series, it may well be one of its own.
    for other in (["labb1", "lab50", "lab51"], ["lab50"]):
        ids_of_documents = [*ids, *other]
        data = Dataset.from_texts(ids_of_documents, [[label] for label in ids_of_documents], texts)
        assert misplaced_texts(data) is None


def test_labels_of_other_parts_have_documents() -> None:
    data = Dataset.from_texts(["a"], [["cats"]], {"dogs": "they bark"})
    assert misplaced_texts(data) is not None
    assert misplaced_texts(data, Dataset.from_texts(["b"], [["dogs", "new"]])) is None


def test_ids_of_a_file_of_labels(tmp_path: Path) -> None:
    put(tmp_path / "train.csv", "text,labels\na,dogs\nb,cats\n")
    labels = put(tmp_path / "labels.tsv", "cats\tCats\ndogz\tDogs\nbirds\tBirds\n")
    assert check(tmp_path).warnings == (
        f"{labels}: texts are given for labels that no document has: 2 ('dogz', 'birds'), and not for labels that "
        "documents have: 1 ('dogs'); if an id is misspelled, correct it (probably 'dogz' is 'dogs')",
    )
    put(labels, "cats\tCats\ndogs\tDogs\ndogz\tanother\n")
    assert check(tmp_path).warnings == ()
    labels.unlink()
    assert check(tmp_path).warnings == ()


def test_odd_ids() -> None:
    assert list(label_doubts(["cats", "Cats", "c++", "c#", "dogs", " dogs"])) == [
        "labels differ in case or spacing only: 'cats' and 'Cats', 'dogs' and ' dogs'; write them alike if they "
        "mean the same"
    ]
    assert "all labels are numbers like '1.0'" in next(label_doubts(["1.0", "20.0"]))
    assert list(label_doubts(["1.0", "2.5"])) == list(label_doubts([])) == []
