"""Vocabularies: the labels as TSV ``<uri><TAB>label``, CSV ``uri,label_en,notation``, SKOS, or labels.jsonl."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longtail.data.label_file import LabelRows, read_jsonl_labels
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


def read_vocabulary(path: str | Path, *, options: ReadOptions = DEFAULTS, report: Report = fail) -> LabelSet:
    """The labels of a vocabulary file, with texts in the language of the options (else English, else any)."""
    place = Path(path)
    ending = Path(bare_name(place)).suffix
    if ending == ".jsonl":
        return read_jsonl_labels(place, report)
    if ending in _RDF_SYNTAX:
        return _read_skos(place, _RDF_SYNTAX[ending], options.language)
    if ending == ".csv":
        return _read_csv(place, options.language, report)
    if ending in (".tsv", ".txt"):
        return _read_tsv(place, report)
    raise DataError(f"a vocabulary must be one of {', '.join(_ENDINGS)}", path=place)


def folder_labels(
    folder: Path | None, options: ReadOptions, report: Report
) -> tuple[LabelSet | None, Path | None]:
    """The vocabulary of a data folder and its file, if it has one (labels.csv, vocab.tsv, subjects.ttl ...)."""
    names = [f"{stem}{ending}" for stem in _STEMS for ending in _ENDINGS]
    path = None if folder is None else find_file(folder, names)
    return (None, None) if path is None else (read_vocabulary(path, options=options, report=report), path)


def bare_uri(field: str) -> str:
    """The address without its angle brackets."""
    field = field.strip()
    return field[1:-1] if field.startswith("<") and field.endswith(">") else field


def _read_tsv(path: Path, report: Report) -> LabelSet:
    rows = LabelRows(path, report)
    for number, line in text_lines(path):
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


def _read_csv(path: Path, language: str | None, report: Report) -> LabelSet:
    rows = LabelRows(path, report)
    reader = csv.reader((f"{line}\n" for _, line in text_lines(path)), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        id_at = next((header.index(name) for name in ("uri", "id") if name in header), None)
        text_at = _text_column(header, language, path)
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
            notation = "" if notation_at is None else row[notation_at]
            rows.add(
                reader.line_num,
                bare_uri(row[id_at]),
                row[text_at].strip(),
                {"notation": notation} if notation else {},
            )
    except csv.Error as error:
        raise DataError(f"is not valid CSV ({error})", path=path, line=reader.line_num) from None
    return rows.labels()


def _text_column(header: Sequence[str], language: str | None, path: Path) -> int:
    languages = {name[len("label_") :]: at for at, name in enumerate(header) if name.startswith("label_")}
    if languages:
        return languages[_language(languages, language, path)]
    plain = next((header.index(name) for name in ("label", "text", "name") if name in header), None)
    if plain is None:
        raise DataError("expected a column label_en (or another language), or label", path=path, line=1)
    return plain


def _language(there: Iterable[str], wanted: str | None, path: Path) -> str:
    languages = sorted(there)
    if wanted is not None and wanted not in languages:
        raise DataError(f"there is no language {wanted!r}; there are {', '.join(languages)}", path=path)
    return wanted or (_USUAL_LANGUAGE if _USUAL_LANGUAGE in languages else languages[0])


def _read_skos(path: Path, syntax: str, language: str | None) -> LabelSet:
    """Concepts in the order of their addresses: a graph has no order of its own."""
    try:
        rdflib: Any = importlib.import_module("rdflib")
    except ImportError:
        raise MissingPackageError("rdflib", extra="skos", purpose="reading a SKOS vocabulary") from None
    graph = rdflib.Graph()
    with opened(path) as handle:
        try:
            graph.parse(file=handle, format=syntax)
        except (EOFError, OSError):
            raise
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
    chosen = _language(spoken or {""}, language, path)
    ids: list[str] = []
    texts: list[str] = []
    extra: list[Mapping[str, Any]] = []
    for concept in concepts:
        own = {label.language or "": str(label) for label in sorted(graph.objects(concept, skos.prefLabel))}
        alternative = [
            str(x)
            for x in sorted(graph.objects(concept, skos.altLabel))
            if (x.language or "") in (chosen, "")
        ]
        parents = sorted(str(parent) for parent in graph.objects(concept, skos.broader))
        notation = next((str(x) for x in sorted(graph.objects(concept, skos.notation))), None)
        more = {"alt": alternative, "parents": parents, "notation": notation}
        ids.append(str(concept))
        texts.append(own.get(chosen) or own.get("") or next(iter(own.values()), ""))
        extra.append({key: value for key, value in more.items() if value})
    return LabelSet(ids, texts, extra if any(extra) else None)
