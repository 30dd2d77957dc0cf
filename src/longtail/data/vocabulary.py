"""Label files: TSV ``<uri><TAB>label``, CSV ``uri,label_en,alt_en,notation``, SKOS, or labels.jsonl."""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from longtail.data.encoding import HINT, UTF_8, UTF_16_MARKS, is_evidently_utf8
from longtail.data.label_file import LabelRows, read_jsonl_labels
from longtail.data.label_names import ALTERNATIVE_KEYS
from longtail.data.lines import bare_name, opened, text_lines
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.parts import find_file
from longtail.data.records import Report, fail
from longtail.errors import DataError, MissingPackageError
from longtail.types import LabelSet

_STEMS = ("labels", "vocab", "vocabulary", "subjects")
_RDF_SYNTAX = {".ttl": "turtle", ".rdf": "xml", ".xml": "xml", ".nt": "nt", ".jsonld": "json-ld"}
_ENDINGS = (".jsonl", ".tsv", ".csv", *_RDF_SYNTAX)
_USUAL_LANGUAGE = "en"
_XML_HEAD = 200
_SEVERAL_NAMES = re.compile(r"[|;]")


def read_labels(path: str | Path, *, options: ReadOptions = DEFAULTS, report: Report = fail) -> LabelSet:
    """The labels of a file (JSONL, TSV, CSV or SKOS), each of which must have a name.

    That is enough to tag documents without training: ``Dataset.from_labels``. Alternative names are in
    ``LabelSet.extra``; ``label_names`` gives all names.
    """
    return _read(Path(path), options, report, named=True)


def read_vocabulary(path: str | Path, *, options: ReadOptions = DEFAULTS, report: Report = fail) -> LabelSet:
    """The labels of a vocabulary file, with texts in the language of the options (else English, else any)."""
    return _read(Path(path), options, report, named=False)


def _read(path: Path, options: ReadOptions, report: Report, *, named: bool) -> LabelSet:
    ending = Path(bare_name(path)).suffix
    if options.encoding != UTF_8:
        # The encoding is that of the documents; labels often come from somewhere else.
        with opened(path, None) as handle:
            if is_evidently_utf8(handle):
                options = replace(options, encoding=UTF_8)
    if ending == ".jsonl":
        return read_jsonl_labels(path, report, named=named, encoding=options.encoding)
    if ending in _RDF_SYNTAX:
        return _read_skos(path, _RDF_SYNTAX[ending], options, report, named)
    if ending == ".csv":
        return _read_csv(path, options, LabelRows(path, report, named=named), report)
    if ending in (".tsv", ".txt"):
        return _read_tsv(path, LabelRows(path, report, named=named), report, options.encoding)
    raise DataError(f"a vocabulary must be one of {', '.join(_ENDINGS)}", path=path)


def folder_labels(
    folder: Path | None, options: ReadOptions, report: Report, *, besides: Iterable[Path] = ()
) -> tuple[LabelSet | None, Path | None]:
    """The vocabulary and its file: that of the options, or labels.csv, vocab.tsv, subjects.ttl ... of the folder.

    Args:
        besides: the files of documents, none of which is the vocabulary.
    """
    names = [f"{stem}{ending}" for stem in _STEMS for ending in _ENDINGS]
    taken = [path.name for path in besides]
    names = [name for name in names if all(name != bare_name(file) for file in taken)]
    path = None if folder is None else find_file(folder, names)
    if options.labels is not None:
        path = Path(options.labels)
    return (None, None) if path is None else (read_vocabulary(path, options=options, report=report), path)


def bare_uri(field: str) -> str:
    """The address without its angle brackets."""
    field = field.strip()
    return field[1:-1] if field.startswith("<") and field.endswith(">") else field


def _read_tsv(path: Path, rows: LabelRows, report: Report, encoding: str) -> LabelSet:
    for number, line in text_lines(path, encoding):
        if not line.strip():
            continue
        uri, tab, rest = line.partition("\t")
        text, _, notation = rest.partition("\t")
        if not tab or not uri.strip():
            report(DataError("expected an address, a tab and the label's text", path=path, line=number))
            continue
        rows.add(
            number, bare_uri(uri), text.strip(), {"notation": notation.strip()} if notation.strip() else {}
        )
    return rows.labels()


def _read_csv(path: Path, options: ReadOptions, rows: LabelRows, report: Report) -> LabelSet:
    lines = (f"{line}\n" for _, line in text_lines(path, options.encoding))
    reader = csv.reader(lines, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        id_at = next((header.index(name) for name in ("uri", "id") if name in header), None)
        text_at = _text_columns(header, options.language, path)
        chosen = header[text_at[0]].removeprefix("label_")
        alternative = [*ALTERNATIVE_KEYS, *(f"{key}_{chosen}" for key in ALTERNATIVE_KEYS)]
        alternative_at = [at for at, name in enumerate(header) if name in alternative]
        if id_at is None:
            raise DataError(
                f"expected a column uri, but there are {', '.join(header) or 'none'}", path=path, line=1
            )
        notation_at = header.index("notation") if "notation" in header else None
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                problem = f"there are {len(row)} fields, but {len(header)} columns"
                report(DataError(problem, path=path, line=reader.line_num))
                continue
            more = {
                "alt": [name for at in alternative_at for name in _several(row[at])],
                "notation": "" if notation_at is None else row[notation_at],
            }
            rows.add(
                reader.line_num,
                bare_uri(row[id_at]),
                next((text for at in text_at if (text := row[at].strip())), ""),
                {key: value for key, value in more.items() if value},
            )
    except csv.Error as error:
        raise DataError(f"is not valid CSV ({error})", path=path, line=reader.line_num) from None
    return rows.labels()


def _several(cell: str) -> list[str]:
    """The names in one cell, which | or ; separates."""
    return [name for part in _SEVERAL_NAMES.split(cell) if (name := part.strip())]


def _text_columns(header: Sequence[str], language: str | None, path: Path) -> list[int]:
    """The columns of the label's text: that of the language first, then those of others."""
    languages = {name[len("label_") :]: at for at, name in enumerate(header) if name.startswith("label_")}
    if languages:
        first = languages[_language(languages, language, path)]
        return [first, *(at for at in languages.values() if at != first)]
    plain = next((header.index(name) for name in ("label", "text", "name") if name in header), None)
    if plain is None:
        raise DataError("expected a column label_en (or another language), or label", path=path, line=1)
    return [plain]


def _language(there: Iterable[str], wanted: str | None, path: Path) -> str:
    languages = sorted(there)
    if wanted is not None and wanted not in languages:
        raise DataError(f"there is no language {wanted!r}; there are {', '.join(languages)}", path=path)
    return wanted or (_USUAL_LANGUAGE if _USUAL_LANGUAGE in languages else languages[0])


def _read_skos(path: Path, syntax: str, options: ReadOptions, report: Report, named: bool) -> LabelSet:
    """Concepts in the order of their addresses: a graph has no order of its own."""
    try:
        rdflib: Any = importlib.import_module("rdflib")
    except ImportError:
        raise MissingPackageError("rdflib", extra="skos", purpose="reading a SKOS vocabulary") from None
    graph = rdflib.Graph()
    with opened(path, _rdf_encoding(path, syntax, options)) as handle:
        try:
            graph.parse(file=handle, format=syntax)
        except (EOFError, OSError):
            raise
        except UnicodeDecodeError:
            raise DataError(f"is not valid {options.encoding}; {HINT}", path=path) from None
        except Exception as error:
            problem = " ".join(str(error).split())[:200]
            raise DataError(f"is not valid RDF ({problem})", path=path) from None
    skos, rdf, owl = rdflib.SKOS, rdflib.RDF, rdflib.OWL
    concepts = sorted(
        concept
        for concept in set(graph.subjects(rdf.type, skos.Concept))
        if (concept, owl.deprecated, rdflib.Literal(True)) not in graph
    )
    if not concepts:
        raise DataError("there is no skos:Concept in it", path=path)
    spoken = {label.language or "" for label in graph.objects(None, skos.prefLabel)}
    chosen = _language(spoken or {""}, options.language, path)
    ids: list[str] = []
    texts: list[str] = []
    extra: list[Mapping[str, Any]] = []
    for concept in concepts:
        own = {label.language or "": str(label) for label in sorted(graph.objects(concept, skos.prefLabel))}
        others = sorted(graph.objects(concept, skos.altLabel))
        alternative = [str(x) for x in others if (x.language or "") in (chosen, "")]
        text = own.get(chosen) or own.get("") or next(iter(own.values()), "")
        if named and not text:
            # A concept without a preferred name has an alternative one, of whatever language.
            text = next((name for name in (*alternative, *map(str, others)) if name.strip()), "")
        if named and not text.strip():
            problem = f"the concept {concept} has no skos:prefLabel or skos:altLabel in any language"
            report(DataError(problem, path=path, line=_line_of(f"{concept}", path, options.encoding)))
            continue
        parents = sorted(str(parent) for parent in graph.objects(concept, skos.broader))
        notation = next((str(x) for x in sorted(graph.objects(concept, skos.notation))), None)
        more = {"alt": alternative, "parents": parents, "notation": notation}
        ids.append(str(concept))
        texts.append(text)
        extra.append({key: value for key, value in more.items() if value})
    return LabelSet(ids, texts, extra if any(extra) else None)


def _rdf_encoding(path: Path, syntax: str, options: ReadOptions) -> str | None:
    """The encoding of an RDF file; None for XML that names its own, which its parser finds."""
    if syntax != "xml":
        return options.encoding
    with opened(path, None) as handle:
        start = handle.read(_XML_HEAD)
    return (
        None if start.startswith(UTF_16_MARKS) or b"encoding=" in start.split(b">")[0] else options.encoding
    )


def _line_of(address: str, path: Path, encoding: str) -> int | None:
    """The first line of the file that has the address in full; None where a prefix stands for its beginning."""
    return next(
        (
            number
            for number, line in text_lines(path, encoding)
            if f"<{address}>" in line or f'"{address}"' in line
        ),
        None,
    )
