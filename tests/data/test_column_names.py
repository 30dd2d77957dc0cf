from __future__ import annotations

from longtail.data import column_names
from longtail.data.column_names import plain_name


def test_plain_names() -> None:
    assert [plain_name(name) for name in (" Mots-clés", "FULL Text", "Schlagwörter")] == [
        *("mots_cles", "full_text", "schlagworter"),
    ]


def test_names_are_plain_and_of_one_role() -> None:
    roles = ("ID_NAMES", "TITLE_NAMES", "TEXT_NAMES", "OTHER_TEXT_NAMES", "LABEL_NAMES", "OTHER_LABEL_NAMES")
    every = [name for role in roles for name in getattr(column_names, role)]
    assert len(set(every)) == len(every)
    assert all(plain_name(name) == name for name in every)


def test_a_name_that_is_too_long_for_a_usual_one_stays_as_it_is() -> None:
    name = "a" + "\u0301\u0323" * 1000
    assert plain_name(name) is name
