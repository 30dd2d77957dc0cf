"""Names: capitalised words in a row within a sentence."""

from __future__ import annotations

import pytest

from longtail.text.passages import read_passages


def names_of(*texts: str) -> list[str]:
    passages = read_passages(texts)
    names, spans = passages.names, passages.tokens.spans
    joined = passages.points.codes.tobytes().decode("utf-32-le")
    found = []
    for first, size in zip(names.first.tolist(), names.sizes.tolist(), strict=True):
        last = first + size - 1
        found.append(joined[spans.starts[first] : spans.starts[last] + spans.lengths[last]])
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met the European Union in Paris.", ["European Union", "Paris"]),
        ("The Union was there. Paris was not.", ["Union"]),
        ("he saw Jean-Luc Picard and O'Brien too", ["Jean-Luc Picard", "O'Brien"]),
        ("it is for France, Spain and Italy to say", ["France", "Spain", "Italy"]),
        ("THE COUNCIL OF THE UNION", []),
        ("it was One Two Three Four Five Six and then some more words here", ["One Two Three Four Five"]),
        ("του είπε η Μαρία Κάλλας", ["Μαρία Κάλλας"]),
        ("мы были в Нижнем Новгороде вчера", ["Нижнем Новгороде"]),
        ("他说好。", []),
        ("كيف حالك", []),
        ("", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert names_of(text) == names


def test_a_name_is_known_in_capitals_and_with_other_gaps() -> None:
    hashes = read_passages(
        ["of the Red Cross to", "of the RED-Cross to", "of the Red Crescent to"]
    ).names.hashes
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]
