from __future__ import annotations

import pytest

from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.roles import Roles, find_roles


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["id", "title", "text", "labels"], Roles("id", "title", ("text",), "labels")),
        (["title", "description", "tag"], Roles(None, "title", ("description",), "tag")),
        (["body", "abstract", "keywords"], Roles(None, None, ("abstract", "body"), "keywords")),
        (["text", "content", "category"], Roles(None, None, ("text", "content"), "category")),
        (["Titel", "Inhalt", "Schlagwörter"], Roles(None, "Titel", ("Inhalt",), "Schlagwörter")),
        (["Titre", "Résumé", "Mots-clés"], Roles(None, "Titre", ("Résumé",), "Mots-clés")),
        (["Título", "Contenido", "Categoría"], Roles(None, "Título", ("Contenido",), "Categoría")),
        (["sentence", "topic", "year"], Roles(None, None, ("sentence",), "topic", ("year",))),
        (["text", "subject", "topic"], Roles(None, None, ("text",), "subject", ("topic",))),
    ],
)
def test_usual_names(names: list[str], roles: Roles) -> None:
    assert find_roles(names, DEFAULTS) == roles


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["text", "labels", "tags"],
            "'labels' and 'tags' may each be the labels: say which with --label-column",
        ),
        (
            ["title", "headline"],
            "'title' and 'headline' may each be the title: say which with --title-column",
        ),
        (["text", "Text "], "'text' and 'Text ' may each be the text: say which with --text-column"),
    ],
)
def test_doubt_is_an_error_with_the_choices(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_roles(names, DEFAULTS)


def test_named_columns_settle_it() -> None:
    names = ["text", "body", "labels", "tags", "title"]
    options = ReadOptions(text_column=("title", "body"), label_column="tags")
    assert find_roles(names, options) == Roles(None, None, ("title", "body"), "tags", ("text", "labels"))
    assert find_roles(["a"], options) == Roles(others=("a",))
    assert find_roles(["text", "tags"], ReadOptions(with_labels=False)).labels is None
