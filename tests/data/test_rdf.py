import gzip
import json
import logging
from pathlib import Path

import pytest

from longtail.data import limit, limits, read_labels
from longtail.data.rdf import rdf_graph
from longtail.errors import DataError

pytest.importorskip("rdflib")

SKOS = "http://www.w3.org/2004/02/skos/core#"
TURTLE = f'@prefix skos: <{SKOS}> .\n<http://x/1> a skos:Concept ; skos:prefLabel "cat" .\n'
XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    f'xmlns:skos="{SKOS}"><skos:Concept rdf:about="http://x/1"><skos:prefLabel>%s</skos:prefLabel>'
    "</skos:Concept></rdf:RDF>"
)
JSON_LD = {
    "@context": {"skos": SKOS},
    "@id": "http://x/1",
    "@type": "skos:Concept",
    "skos:prefLabel": "cat",
}


@pytest.mark.parametrize(
    ("name", "syntax", "content"),
    [
        ("a.ttl", "turtle", TURTLE),
        ("a.rdf", "xml", XML % "cat"),
        ("a.jsonld", "json-ld", json.dumps(JSON_LD)),
    ],
)
def test_graphs_are_read_packed_or_not(tmp_path: Path, name: str, syntax: str, content: str) -> None:
    path = tmp_path / name
    for data in (content.encode(), gzip.compress(content.encode())):
        path.write_bytes(data)
        rdflib, graph = rdf_graph(path, syntax)
        assert {str(label) for label in graph.objects(None, rdflib.SKOS.prefLabel)} == {"cat"}


@pytest.mark.parametrize("where", ["file://{secret}", "http://localhost:1/context"])
@pytest.mark.parametrize("kind", ["plain", "list", "deep", "import"])
def test_a_context_that_is_elsewhere_is_not_fetched(tmp_path: Path, where: str, kind: str) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"@context": {"skos": SKOS}}))
    address = where.format(secret=secret)
    context = {
        "plain": address,
        "list": [{}, address],
        "deep": {"x": {"@id": "http://y", "@context": address}},
        "import": {"@import": address},
    }[kind]
    path = tmp_path / "labels.jsonld"
    path.write_text(json.dumps({**JSON_LD, "@context": context}))
    with pytest.raises(DataError, match="nothing is fetched: put it into the file"):
        read_labels(path)


def test_entities_of_xml_neither_read_files_nor_grow(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("very secret")
    path = tmp_path / "labels.rdf"
    path.write_text(f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]>' + XML % "cat &e;")
    assert read_labels(path).texts == ["cat "]
    nested = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    path.write_text(f'<!DOCTYPE x [<!ENTITY e0 "0123456789">{nested}]>' + XML % "&e11;")
    with pytest.raises(DataError, match="is not valid RDF"):
        read_labels(path)


def test_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.ttl"
    path.write_text(TURTLE + "# " + "x" * 300 + "\n")
    with limit(line=200), pytest.raises(DataError, match=r"too many bytes in one line.*--limit line="):
        read_labels(path)
    path.write_text(TURTLE + "\n" * 300)
    with limit(blank=200), pytest.raises(DataError, match=r"--limit blank="):
        read_labels(path)
    monkeypatch.setattr(limits, "SMALL", 1000)
    path.write_bytes(gzip.compress((TURTLE + "# words\n" * 50_000).encode()))
    with pytest.raises(DataError, match=r"--limit ratio="):
        read_labels(path)


def test_deep_nesting_and_numbers_without_end_are_errors_without_a_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "labels.ttl"
    path.write_text(TURTLE + "<http://x/1> <http://y> " + "[ <http://y> " * 5000)
    with pytest.raises(DataError, match="is not valid RDF"):
        read_labels(path)
    number = '"' + "9" * 5000 + '"^^<http://www.w3.org/2001/XMLSchema#integer>'
    path.write_text(TURTLE + f"<http://x/1> <http://y> {number} .")
    with caplog.at_level(logging.WARNING):
        assert len(read_labels(path)) == 1
    assert not caplog.records
