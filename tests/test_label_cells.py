from __future__ import annotations

import itertools
import math

import pytest

from longtail.label_cells import (
    BRACKETS,
    LISTS,
    NONE,
    WHITE_SPACE,
    SeparatorScan,
    check_not_indicators,
    label_of,
    ordered_labels,
    splitter,
)


@pytest.mark.parametrize(
    ("sample", "separator", "cell", "labels"),
    [
        (["a;b, c", "d"], ";", "a; b, c;", ["a", "b, c"]),
        (["a|b, c"], "|", "x|y", ["x", "y"]),
        (["New York", "Rome", "nan"], NONE, "New York", ["New York"]),
        (['["a", 2]', "[]"], LISTS, '["a;b", 2, null]', ["a;b", "2"]),
        (["['a', 'b']"], LISTS, "['x, y', 'z']", ["x, y", "z"]),
        (
            ["http://x/1 http://x/2", "<http://x/3>"],
            WHITE_SPACE,
            "http://x/1,2 <b:c>",
            ["http://x/1,2", "b:c"],
        ),
        ([], NONE, "x y", ["x y"]),
        (["<a b><c>", "<d>"], BRACKETS, "<a b><c>", ["a b", "c"]),
        (["<a>", "b <c>"], NONE, "b <c>", ["b <c>"]),
        (["C", "C++", "Notepad", "Notepad++"], NONE, "C++", ["C++"]),
        (["fire", "truck", "fire truck", "apple pie", "New York"], NONE, "fire truck", ["fire truck"]),
    ],
)
def test_the_separator_of_a_sample(sample: list[str], separator: str, cell: str, labels: list[str]) -> None:
    found = SeparatorScan().add_all(sample).separator()
    assert found == separator
    assert splitter(found)(cell) == labels


@pytest.mark.parametrize(
    ("separator", "cell", "labels"),
    [
        ("//", "a;b // c", ["a;b", "c"]),
        (" ", "a  b", ["a", "b"]),
        (",", "Travel, Leisure", ["Travel", "Leisure"]),
        (NONE, "Travel, Leisure", ["Travel, Leisure"]),
        (NONE, "nan", []),
        (";", "a;None;;NaN", ["a"]),
    ],
)
def test_a_given_separator(separator: str, cell: str, labels: list[str]) -> None:
    assert splitter(separator)(cell) == labels


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (
            ["Sports", "Travel, Leisure"],
            r"'Travel, Leisure' may be one label or 2 labels .* --label-separator",
        ),
        (["a", "b", "c", "b a", "a c"], r"'a c' .* 2 labels with white space .* or ' ' for several"),
        (["a", "b", "c", "b/a", "a/c/b"], r"'a/c/b' may be one label or 3 labels with slashes .* '/' for"),
        (["red fox", "fox red", "blue sea", "sea blue"], r"'blue sea' .* 2 labels with white space"),
        (["a\nb", "c"], r"'a\\nb' .* 2 labels with line breaks .* or '\\n' for several"),
        (["a\tb", "c"], r"with tabs between them"),
        (["a;b", "c|d"], r"';' \(as in 'a;b'\) and '\|' \(as in 'c\|d'\): name the separator"),
    ],
)
def test_doubt_is_an_error_with_the_choices(sample: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeparatorScan().add_all(sample).separator()


def test_labels_that_never_stand_alone() -> None:
    tags = ["python", "numpy", "pandas", "java", "spring", "linux", "bash"]
    cells = [f"{one} {other}" for one, other in itertools.combinations(tags, 2)]
    with pytest.raises(ValueError, match="2 labels with white space between them"):
        SeparatorScan().add_all(cells).separator()
    # Each of them has documents of its own: they may well be names.
    assert SeparatorScan().add_all(cells * 3).separator() == "none"


def test_names_of_several_words() -> None:
    names = [f"{place} {thing} {n}" for n, (place, thing) in enumerate(itertools.product("abc", "xyz"))]
    assert (
        SeparatorScan().add_all([f"{name} street{n}" for n, name in enumerate(names * 2)]).separator()
        == "none"
    )
    kinds = ["deep sea fish", "deep sea", "sea bird", "fresh water fish", "water bird", "bird of prey"]
    assert SeparatorScan().add_all(kinds * 2).separator() == "none"


@pytest.mark.parametrize("cell", ["['a' 'b']", "[1", "[[1]]", "x"])
def test_what_is_no_list(cell: str) -> None:
    with pytest.raises(ValueError, match="expected a JSON list"):
        splitter(LISTS)(cell)


def test_numbers_as_labels() -> None:
    assert [label_of(value) for value in (1, 1.0, 0.5, "1.0", None, math.nan, "nan", "")] == [
        *("1", "1", "0.5", "1.0"),
        *(None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("cells", "trained", "expected"),
    [
        (["a", "b"], ";", ";"),
        (["a;b"], ";", ";"),
        (["a, b"], ",", ","),
        (["a;b|c"], "|", "|"),
        (["a;b"], "none", "none"),
        (["a;b"], "json", ";"),
        (['["a"]'], ";", "json"),
        (["http://x/1 http://x/2"], ";", " "),
    ],
)
def test_the_separator_of_the_training_data_settles_doubt(cells, trained, expected):
    assert SeparatorScan().add_all(cells).separator(trained) == expected


def test_another_separator_than_that_of_the_training_data_is_doubt():
    with pytest.raises(
        ValueError, match=r"separated by '\|', but by ';' in the training data .* --label-separator"
    ):
        SeparatorScan().add_all(["a|b"]).separator(";")


@pytest.mark.parametrize("row", [[0, 1, 0], [1, 1], [0.0, 0.0], [True, False, False], [0, 1.0, 0]])
def test_a_row_of_a_matrix_is_no_list_of_labels(row: list[float]) -> None:
    with pytest.raises(ValueError, match="are a row of a 0/1 matrix"):
        check_not_indicators(row)
    with pytest.raises(ValueError, match="are a row of a 0/1 matrix"):
        splitter(LISTS)(str(row).replace("True", "1").replace("False", "0"))


@pytest.mark.parametrize(
    "row", [[], [0], [0, 1], [1, 0], ["0", "0", "1"], [0, 0, 2], [None, 0, 0], [[0], [0]]]
)
def test_what_may_be_label_ids(row: list[object]) -> None:
    check_not_indicators(row)


def test_labels_in_their_order() -> None:
    assert ordered_labels({"b", "a", "c"}) == ["a", "b", "c"]
    assert ordered_labels(frozenset({2, 10, 1})) == [1, 10, 2]
    assert ordered_labels(("b", "a")) == ["b", "a"]
    assert ordered_labels({"b": 1.0, "a": 0.5}) == ["b", "a"]
    for wrong in (b"ab", bytearray(b"ab")):
        with pytest.raises(ValueError, match="and not a list of label ids"):
            ordered_labels(wrong)
