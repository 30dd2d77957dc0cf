from __future__ import annotations

import sys
from pathlib import Path

import pytest

from longtail.data import ReadOptions, label_names, read_labels, read_vocabulary
from longtail.errors import DataError, MissingPackageError
from tests.data.build import put

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
<http://x/b> a skos:Concept ; skos:prefLabel "bee"@en, "Biene"@de ; skos:altLabel "honeybee"@en, "Imme"@de ;
    skos:broader <http://x/a> ; skos:notation "7" .
<http://x/a> a skos:Concept ; skos:prefLabel "insect"@en .
<http://x/old> a skos:Concept ; skos:prefLabel "old"@en ; owl:deprecated true .
"""


def test_skos(tmp_path: Path) -> None:
    path = put(tmp_path / "v.ttl.gz", TURTLE)
    labels = read_vocabulary(path)
    assert labels.ids == ["http://x/a", "http://x/b"]
    assert labels.texts == ["insect", "bee"]
    assert labels.extra is not None
    assert labels.extra[1] == {"alt": ["honeybee"], "parents": ["http://x/a"], "notation": "7"}
    german = read_vocabulary(path, options=ReadOptions(language="de"))
    assert german.texts == ["insect", "Biene"]
    with pytest.raises(DataError, match="no language 'fi'; there are de, en"):
        read_vocabulary(path, options=ReadOptions(language="fi"))


def test_bad_skos(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not valid RDF"):
        read_vocabulary(put(tmp_path / "v.ttl", "this is no turtle"))
    with pytest.raises(DataError, match="no skos:Concept"):
        read_vocabulary(put(tmp_path / "w.ttl", "<u:a> <u:b> <u:c> ."))


def test_skos_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingPackageError, match=r"longtail\[skos\]"):
        read_vocabulary(put(tmp_path / "v.ttl", TURTLE))


def test_csv_with_languages(tmp_path: Path) -> None:
    path = put(
        tmp_path / "v.csv", 'uri,label_fi,label_en,notation\n<u:1>,yksi,"one, first",\nu:2,kaksi,two,2\n'
    )
    labels = read_vocabulary(path)
    assert labels.ids == ["u:1", "u:2"]
    assert labels.texts == ["one, first", "two"]
    assert labels.extra is not None
    assert list(labels.extra) == [{}, {"notation": "2"}]
    assert read_vocabulary(path, options=ReadOptions(language="fi")).texts == ["yksi", "kaksi"]


def test_csv_with_alternative_names_and_missing_languages(tmp_path: Path) -> None:
    content = "uri,label_fi,label_en,alt_en,alt_fi\nu:1,yksi,one,first | single,eka\nu:2,kaksi,,,\n"
    labels = read_labels(put(tmp_path / "v.csv", content))
    assert label_names(labels) == [["one", "first", "single"], ["kaksi"]]
    plain = read_labels(put(tmp_path / "w.csv", "id,label,altLabels\n1,one,first; single\n"))
    assert label_names(plain) == [["one", "first", "single"]]


@pytest.mark.parametrize(
    ("name", "content", "names"),
    [
        ("v.tsv", "<u:1>\tone\nu:2\ttwo\t2\n", [["one"], ["two"]]),
        (
            "v.jsonl",
            '{"id": "u:1", "altLabels": ["one"]}\n{"id": "u:2", "text": "two"}',
            [["", "one"], ["two"]],
        ),
        ("v.ttl", TURTLE, [["insect"], ["bee", "honeybee"]]),
    ],
)
def test_labels_of_any_format_with_all_their_names(
    tmp_path: Path, name: str, content: str, names: list[list[str]]
) -> None:
    assert label_names(read_labels(put(tmp_path / name, content))) == names


UNNAMED = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://x/a> a skos:Concept ; skos:altLabel "Imme"@de .
<http://x/b> a skos:Concept ; skos:notation "7" .
"""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.tsv", "u:1\tone\nu:2\t \n", "v.tsv, line 2: the label 'u:2' has no name"),
        ("v.csv", "uri,label_en,label_fi\nu:1,,\n", "v.csv, line 2: the label 'u:1' has no name"),
        ("v.jsonl", '{"id": "a", "text": "x"}\n{"id": "b", "text": ""}', "line 2: the label 'b' has no name"),
        ("v.jsonl", '{"id": "a", "alt": [" ", 3]}', "line 1: the label 'a' has no name"),
        (
            "v.jsonl",
            '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}',
            "line 2: the label id 'a' is there twice",
        ),
        ("v.ttl", UNNAMED, "line 4: the concept http://x/b has no skos:prefLabel or skos:altLabel"),
    ],
)
def test_labels_that_cannot_be_told_apart_or_named(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_labels(put(tmp_path / name, content))
    assert "\n" not in str(caught.value)


def test_an_alternative_name_of_another_language_is_better_than_none(tmp_path: Path) -> None:
    problems: list[DataError] = []
    labels = read_labels(put(tmp_path / "v.ttl", UNNAMED), report=problems.append)
    assert (labels.ids, labels.texts) == (["http://x/a"], ["Imme"])
    assert len(problems) == 1
    # A vocabulary beside documents may have labels without names.
    assert read_vocabulary(tmp_path / "v.ttl").texts == ["", ""]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "v.csv",
            "uri,label_en\nu:1,a\nu:1,b\n",
            r"line 3: the label id 'u:1' is there twice \(first in line 2\)",
        ),
        ("v.csv", "uri,label_en\nu:1\n", "line 2: there are 1 fields, but 2 columns"),
        ("v.csv", "name,label_en\nu:1,a\n", "line 1: expected a column uri"),
        ("v.csv", "uri,x\nu:1,a\n", "line 1: expected a column label_en"),
        ("v.tsv", "u:1\ta\nu:2\n", "line 2: expected an address, a tab"),
        ("v.doc", "u:1", "a vocabulary must be one of"),
    ],
)
def test_bad_vocabularies(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(put(tmp_path / name, content))


XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="u:1">'
    "<skos:prefLabel>Größe</skos:prefLabel></skos:Concept></rdf:RDF>"
)
NAMED = {
    "v.jsonl": '{"id": "u:1", "text": "Größe"}\n',
    "w.jsonl": '{"id": "u:1", "text": "Größe", "alt": []}\n',
    "v.tsv": "u:1\tGröße\n",
    "v.csv": "id,label\nu:1,Größe\n",
    "v.ttl": '@prefix s: <http://www.w3.org/2004/02/skos/core#> . <u:1> a s:Concept ; s:prefLabel "Größe" .',
    "v.rdf": XML,
}


@pytest.mark.parametrize(("name", "content"), NAMED.items())
def test_encodings(tmp_path: Path, name: str, content: str) -> None:
    options = ReadOptions(encoding="cp1252")
    path = put(tmp_path / name, content.encode("cp1252"))
    assert read_vocabulary(path, options=options).texts == ["Größe"]
    with pytest.raises(DataError, match=r"UTF-8|utf-8|is not valid RDF"):
        read_vocabulary(path)
    for marked in (content.encode(), f"\ufeff{content}".encode("utf-16-le")):
        # Labels in UTF-8 beside documents in another encoding, and a byte order mark, are recognised.
        assert read_vocabulary(put(path, marked), options=options).texts == ["Größe"]
        assert read_vocabulary(path).texts == ["Größe"]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "utf-8"])
def test_xml_names_its_own_encoding(tmp_path: Path, encoding: str) -> None:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>{XML}'.encode(encoding)
    path = put(tmp_path / "v.rdf", declared)
    for options in (ReadOptions(), ReadOptions(encoding="cp1250")):
        assert read_vocabulary(path, options=options).texts == ["Größe"]
