"""All formats, in the order in which they are tried on unknown data."""

from __future__ import annotations

from pathlib import Path

from longtail.data import (
    annif,
    canonical_jsonl,
    fasttext,
    nameless,
    pecos,
    plain_text,
    table,
    text2text,
    xmc_raw,
    xmc_sparse,
    xmc_split,
)
from longtail.data.format import Format
from longtail.data.lines import first_lines
from longtail.errors import DataError, UsageError

_MODULES = (
    xmc_raw,
    canonical_jsonl,
    xmc_split,
    pecos,
    xmc_sparse,
    fasttext,
    annif,
    text2text,
    table,
    plain_text,
)
FORMATS: dict[str, Format] = {module.FORMAT.name: module.FORMAT for module in _MODULES}


def format_named(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def sniff(path: str | Path) -> str:
    """The name of the format of a file or folder."""
    place = Path(path)
    if not place.exists():
        raise DataError("there is no such file or folder", path=place)
    for found in FORMATS.values():
        files = found.files(place).values() if place.is_dir() else [place]
        if any(found.fits_file(file) for file in files):
            if found.name == plain_text.FORMAT.name:
                nameless.check_plain(first_lines(place, nameless.LINES), place)
            return found.name
    if place.is_file() and "".join(first_lines(place, 1)).lstrip().startswith("["):
        raise DataError(nameless.JSON_ARRAY, path=place)
    if place.is_file() and not place.stat().st_size:
        raise DataError("the file is empty", path=place)
    kind = "folder" if place.is_dir() else "file"
    raise DataError(
        f"the {kind} is in none of the known formats, which are {', '.join(FORMATS)}: "
        "convert it to one of them, or say with --format (format in Python) which one it is in",
        path=place,
    )
