"""The canonical data folder: one JSON object a line in train, valid, test and labels .jsonl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from longtail.data.column_names import ID_NAMES, LABEL_NAMES, TEXT_NAMES, TITLE_NAMES, plain_name
from longtail.data.format import Format
from longtail.data.json_block import blocks, separator_in
from longtail.data.json_keys import Keys
from longtail.data.json_record import json_object
from longtail.data.lines import LINES_AT_ONCE, bare_name, byte_lines, first_lines
from longtail.data.options import ReadOptions
from longtail.data.pair_files import EDGES, write_edges
from longtail.data.parts import Parts, part_files
from longtail.data.records import REVEALED, Batch, Report, batches_of_blocks
from longtail.data.roles import no_text
from longtail.data.row_folder import read_blocks
from longtail.data.understood import Understood, lacking
from longtail.data.vocabulary import folder_labels
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, LabelSet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SAMPLE = 4096
_READ = {*ID_NAMES, *TITLE_NAMES, *TEXT_NAMES, *LABEL_NAMES}
ENDINGS = (".jsonl", ".ndjson", ".json")


def read(files: Mapping[str, Path], folder: Path | None, options: ReadOptions, report: Report) -> Parts:
    """Read these parts; labels come from the folder's labels.jsonl, or another file of labels."""
    labels, labels_path = folder_labels(folder, options, report, besides=files.values())
    keys = {path: Keys(options, lambda: separator_in(files.values(), options)) for path in files.values()}
    return read_blocks(
        files,
        lambda path: blocks(path, options, report, keys=keys[path]),
        report,
        labels=labels,
        labels_path=labels_path,
        understood=lambda path: keys[path].understood(path),
        encoding=options.encoding,
    )


def stream(path: Path, options: ReadOptions, size: int) -> Iterator[Batch]:
    """The documents of one file, some at a time."""
    return batches_of_blocks(blocks(path, options, size=min(size, LINES_AT_ONCE)), size)


def describe(path: Path, options: ReadOptions) -> Understood:
    """How this file is read, by its first lines; raises if none of them has a title or a text."""
    keys = Keys(options)
    for _, line in islice(byte_lines(path, options.encoding), _SAMPLE):
        if line and not line.isspace():
            # A wrong line is reported when it is read.
            with suppress(ValueError):
                keys.of(tuple(json_object(line)))
    check_keys(keys, path)
    return keys.understood(path)


def check_keys(keys: Keys, path: str | Path) -> None:
    """Raise if records of these keys have no title or text, or not those that a model was trained on."""
    if not keys.names:
        return
    problem = lacking(keys.names, keys.options, "key")
    if problem is None and not keys.have_text:
        problem = no_text(keys.names, "keys")
    if problem is not None:
        raise DataError(problem, path=path)


def write(parts: Mapping[str, Dataset], folder: Path) -> None:
    """Write the parts, their labels, filters and edges into the folder."""
    labels = next(iter(parts.values())).labels
    with open(folder / "labels.jsonl", "wb") as handle:
        handle.writelines(_label_lines(labels))
    for part, data in parts.items():
        if data.documents.features is not None and not any(data.documents.joined()):
            raise UsageError(
                "the documents are feature rows without text, which JSONL does not hold: "
                "write them in the format xmc, xmc-split or pecos"
            )
        with open(folder / f"{part}.jsonl", "wb") as handle:
            handle.writelines(_document_lines(data))
        if data.filtered is not None:
            with open(folder / f"filter_{part}.tsv", "wb") as handle:
                handle.writelines(_filter_lines(data))
    # The parts of one folder share their edges.
    edges = {id(data.edges): data.edges for data in parts.values() if data.edges is not None}
    if edges:
        write_edges(edges.values(), folder / EDGES)


def _document_lines(data: Dataset) -> Iterator[bytes]:
    known: Iterable[Sequence[str]] = (
        repeat(()) if data.revealed is None else _ids_of(data.revealed, data.labels)
    )
    rows = zip(data.documents, _ids_of(data.Y, data.labels), known, strict=data.revealed is not None)
    for document, labels, revealed in rows:
        record: dict[str, Any] = {"id": document.id}
        if document.title:
            record["title"] = document.title
        record["text"] = document.text
        record["labels"] = labels
        if revealed:
            record[REVEALED] = revealed
        yield _line(record, _further(document.extra), f"the document {document.id!r}")


def _further(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The further keys; those that would be read as the id, the title, the text or the labels get a prefix."""
    return {f"other_{key}" if plain_name(key) in _READ else key: value for key, value in extra.items()}


def _ids_of(matrix: csr_array, labels: LabelSet) -> Iterator[list[str]]:
    ids, indptr, indices = labels.ids, matrix.indptr, matrix.indices
    for row in range(matrix.shape[0]):
        yield [ids[column] for column in indices[indptr[row] : indptr[row + 1]]]


def _label_lines(labels: LabelSet) -> Iterator[bytes]:
    for row, (id_, text) in enumerate(zip(labels.ids, labels.texts, strict=True)):
        extra = {} if labels.extra is None else labels.extra[row]
        yield _line({"id": id_, "text": text}, extra, f"the label {id_!r}")


def _filter_lines(data: Dataset) -> Iterator[bytes]:
    if data.filtered is None:
        return
    pairs = data.filtered.tocoo()
    for row, column in zip(pairs.row, pairs.col, strict=True):
        document, label = data.documents.ids[row], data.labels.ids[column]
        if any(mark in name for mark in "\t\r\n" for name in (document, label)):
            raise DataError(f"the filtered pair {document!r}, {label!r} has a tab or line end in an id")
        yield f"{document}\t{label}\n".encode()


def _line(record: dict[str, Any], extra: Mapping[str, Any], whose: str) -> bytes:
    try:
        return orjson.dumps({**extra, **record}, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise DataError(f"{whose} cannot be written as JSON ({error})") from None


def _folder_files(folder: Path) -> dict[str, Path]:
    return part_files(folder, ENDINGS)


def _fits_file(path: Path) -> bool:
    if bare_name(path).endswith(ENDINGS[:2]):
        return True
    start = first_lines(path, 1)
    return bool(start) and start[0].lstrip().startswith("{")


FORMAT = Format(
    name="jsonl",
    shape='train.jsonl, valid.jsonl, test.jsonl, labels.jsonl with {"id", "title", "text", "labels"} a line',
    files=_folder_files,
    fits_file=_fits_file,
    read=read,
    stream=stream,
    write=write,
    describe=describe,
    joins_parts=True,
    keeps_links=True,
)
