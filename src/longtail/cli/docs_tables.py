"""Writes the tables of settings in the documentation: ``python -m longtail.cli.docs_tables docs``.

A page ``docs/SYSTEM.md`` has the table of its system between ``<!-- settings -->`` and ``<!-- /settings -->``.
Pages without these markers are not changed.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longtail.cli.settings_table import settings_of
from longtail.errors import UsageError
from longtail.systems import REGISTRY, get
from longtail.text.config import TextConfig
from longtail.training.train_config import TrainConfig

START, END = "<!-- settings -->", "<!-- /settings -->"
OTHER = {"features": TextConfig}
"""Pages that are of no system, and what they describe."""
SHARED = {
    TextConfig: "Further settings of text features: [features](features.md).",
    TrainConfig: "Further settings of a training stage: `longtail info SYSTEM --all`.",
}
"""Tables that many systems have, of which a page shows other defaults than the usual ones."""


def config_of(page: str) -> type[Any]:
    """The configuration class that a page (by name, without ending) describes."""
    if page in OTHER:
        return OTHER[page]
    if page in REGISTRY:
        return get(page).Config
    raise UsageError(
        f"the page {page}.md has markers of a table of settings, but there is no system '{page}'"
    )


def table(config: type[Any], page: str) -> str:
    """The settings as a Markdown table; of shared tables only the defaults that differ from the usual ones."""
    shared = {} if page in OTHER else dict(_shared_tables(config(), ""))
    rows = []
    for setting in settings_of(config):
        inside, _, name = setting.name.rpartition(".")
        cls = shared.get(inside)
        if cls is None or _usual(cls, name) != setting.default:
            doc = setting.doc.replace("|", r"\|")
            rows.append(f"| `{setting.name}` | `{default(setting.default)}` | {doc} |")
    for cls, note in SHARED.items():
        tables = [name for name, kind in shared.items() if kind is cls]
        if tables:
            rows.append(
                f"| {', '.join(f'`{name}.*`' for name in tables)} | | {note.replace('SYSTEM', page)} |"
            )
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])


def _usual(cls: type[Any], name: str) -> Any:
    default = next(field.default for field in dataclasses.fields(cls) if field.name == name)
    return list(default) if isinstance(default, tuple) else default


def _shared_tables(config: Any, prefix: str) -> Iterator[tuple[str, type[Any]]]:
    """The dotted names of the tables that many systems have, and their classes."""
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if type(value) in SHARED:
            yield f"{prefix}{field.name}", type(value)
        elif dataclasses.is_dataclass(value):
            yield from _shared_tables(value, f"{prefix}{field.name}.")


def default(value: Any) -> str:
    """A default as TOML (and ``--set``) takes it."""
    return "none" if value is None else json.dumps(value)


def updated(text: str, page: str) -> str:
    """The text of a page with a table that is up to date."""
    if START not in text:
        return text
    if text.count(START) != 1 or text.count(END) != 1 or text.index(END) < text.index(START):
        raise UsageError(f"the page {page}.md must have {START} and {END} once, in this order")
    found = f"{START}\n{table(config_of(page), page)}\n{END}"
    return re.sub(f"{re.escape(START)}.*?{re.escape(END)}", lambda _: found, text, flags=re.DOTALL)


def stale(folder: Path) -> dict[Path, str]:
    """Pages whose tables are not up to date, and what they should be."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    new = {path: updated(text, path.stem) for path, text in pages.items()}
    return {path: text for path, text in new.items() if text != pages[path]}


def main(folder: str = "docs") -> None:
    """Bring the tables of a folder of pages up to date."""
    for path, text in stale(Path(folder)).items():
        path.write_text(text, encoding="utf-8")
        print(f"{path}: settings updated")


if __name__ == "__main__":
    main(*sys.argv[1:])
