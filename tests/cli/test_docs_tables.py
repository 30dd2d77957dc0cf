"""The tables of settings in the documentation: made from the code, and up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longtail.cli.docs_tables import END, START, config_of, main, stale, table, updated
from longtail.cli.settings_table import settings_of
from longtail.errors import UsageError
from longtail.systems import REGISTRY, get
from longtail.text.config import TextConfig

DOCS = Path(__file__).parents[2] / "docs"


def test_the_documentation_is_up_to_date() -> None:
    assert [path.name for path in stale(DOCS)] == [], "run: make docs"


def test_a_page_gets_the_table_of_its_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, other = tmp_path / "linear.md", tmp_path / "other.md"
    page.write_text(f"# Linear\n\n{START}\nold\n{END}\n\nMore.\n")
    other.write_text("# No table\n")
    main(str(tmp_path))
    assert capsys.readouterr().out == f"{page}: settings updated\n"
    text = page.read_text()
    assert text.startswith(
        f"# Linear\n\n{START}\n| setting | default | meaning |\n|---|---|---|\n| `fields` |"
    )
    assert text.endswith(f"|\n{END}\n\nMore.\n")
    assert "| `tree.leaf_size` | `200` | Labels per leaf cluster" in text
    assert other.read_text() == "# No table\n"
    assert stale(tmp_path) == {}
    page.write_text(text.replace("`200`", "`100`"))
    assert list(stale(tmp_path)) == [page]


@pytest.mark.parametrize("system", REGISTRY)
def test_all_settings_of_a_system_are_there_or_in_a_shared_table(system: str) -> None:
    rows = table(get(system).Config, system)
    for setting in settings_of(get(system).Config):
        parent = setting.name.rpartition(".")[0]
        assert f"| `{setting.name}` | " in rows or f"`{parent}.*`" in rows
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()} == {4}


def test_text_features_have_a_page_of_their_own() -> None:
    assert config_of("features") is TextConfig
    whole = table(TextConfig, "features")
    assert whole.count("\n") - 1 == len(settings_of(TextConfig))
    assert '`text.kind` | `"wordpiece"`' in table(get("eclare").Config, "eclare")
    assert "`text.kind`" not in table(get("linear").Config, "linear"), "the usual default"
    assert "| `text.*` | | Further settings of text features: [features](features.md). |" in table(
        get("linear").Config, "linear"
    )


@pytest.mark.parametrize("text", [START, f"{END}\n{START}", f"{START}{END}{START}{END}"])
def test_markers_that_do_not_match(text: str) -> None:
    with pytest.raises(UsageError, match=r"the page linear.md must have"):
        updated(text, "linear")


def test_a_page_of_no_system() -> None:
    with pytest.raises(UsageError, match="there is no system 'nothing'"):
        updated(f"{START}\n{END}", "nothing")
