"""Which files of a folder are the documents, and in which format each of them is."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from longtail.data.format import Format
from longtail.data.formats import FORMATS, format_named, sniff
from longtail.data.lines import bare_name
from longtail.data.parts import PARTS, STEMS
from longtail.errors import DataError

_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".txt", ".ft", ".fasttext")
_NOT_DOCUMENTS = ("labels", "vocab", "vocabulary", "subjects", "edges", "output-items", "readme", "license")


class Files(NamedTuple):
    """The files of some parts, all in one format; ``folder`` is where a file of labels may be."""

    format: Format
    parts: dict[str, Path]
    folder: Path | None


def document_files(place: Path, format: str | None) -> list[Files]:
    """The files to read, by their format; the format that has the part train comes first."""
    if not place.is_dir():
        chosen = format_named(format or sniff(place))
        return [Files(chosen, {"train": place}, place.parent if chosen.joins_parts else None)]
    if format is not None:
        chosen = format_named(format)
        return [Files(chosen, chosen.files(place), place)]
    try:
        chosen = format_named(sniff(place))
    except DataError:
        single = None if _has_parts(place) else _single_file(place)
        if single is None:
            raise
        return document_files(single, None)
    if not chosen.joins_parts:
        return [Files(chosen, chosen.files(place), place)]
    return _by_format(place)


def _by_format(folder: Path) -> list[Files]:
    found: dict[str, dict[str, Path]] = {}
    for part in PARTS:
        there: dict[Path, str] = {}
        for name, format in FORMATS.items():
            path = format.files(folder).get(part) if format.joins_parts else None
            if path is not None and path not in there and format.fits_file(path):
                there[path] = name
        if len(there) > 1:
            names = " and ".join(path.name for path in there)
            formats = " or ".join(there.values())
            raise DataError(
                f"{names} may each be the part {part}: keep one of them, or name the format with "
                f"--format {formats} (format in Python)",
                path=folder,
            )
        for path, name in there.items():
            found.setdefault(name, {})[part] = path
    return [Files(FORMATS[name], parts, folder) for name, parts in found.items()]


def _has_parts(folder: Path) -> bool:
    stems = {stem for names in STEMS.values() for stem in names}
    return any(path.name.lower().split(".")[0] in stems for path in folder.iterdir())


def _single_file(folder: Path) -> Path | None:
    """The only file of documents of a folder, whatever its name; None if there is none."""
    found = [path for path in _document_like(folder) if _is_readable(path)]
    if len(found) > 1:
        raise DataError(
            f"there is no train part, and {', '.join(path.name for path in found)} may each be the documents: "
            "name the file, or call the parts train, valid and test",
            path=folder,
        )
    return found[0] if found else None


def files_not_read(folder: Path, read: Collection[Path]) -> list[str]:
    """Names of files in the folder that look like documents and are not among those that are read."""
    return [path.name for path in _document_like(folder) if path not in read and _is_readable(path)]


def _document_like(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and not path.name.startswith(".")
        and bare_name(path).endswith(_ENDINGS)
        and not bare_name(path).startswith("filter_")
        and bare_name(path).split(".")[0] not in _NOT_DOCUMENTS
    ]


def _is_readable(path: Path) -> bool:
    try:
        return sniff(path) != "text"
    except DataError:
        return False
