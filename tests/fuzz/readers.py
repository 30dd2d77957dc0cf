"""Changes of data files of every format, and what must be true of reading them then."""

import gzip
import lzma
import sys
import zlib
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TextIO, cast

import numpy as np

from longtail.data import read_folder, read_labels, stream
from longtail.errors import LongtailError
from tests.fuzz.models import ANSWERED, REFUSED
from tests.fuzz.values import changed_array

_JSONL = "".join(
    f'{{"id": "d{n}", "title": "t {n}", "text": "ein text {n}", "labels": ["a{n % 3}", "b"]}}\n'
    for n in range(8)
)
_SPARSE = "4 6 5\n0,2 0:1.5 3:2\n1 1:1e-3\n 2:1\n4,0 5:0.25\n"
_SKOS = (
    "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    '<http://x/1> a skos:Concept ; skos:prefLabel "cat"@en, "Katze"@de .\n'
)

SEEDS: dict[str, dict[str, str]] = {
    "jsonl": {
        "train.jsonl": _JSONL,
        "labels.jsonl": '{"id": "b", "text": "bee"}\n{"id": "a0", "text": "ah"}\n',
    },
    "table": {"train.csv": 'id,title,text,labels\n1,x,"a ""b""\nc",p;q\n2,y,z,q\n'},
    "tsv": {"train.tsv": "id\ttext\tlabels\n1\tx y\tp;q\n2\ty\tq\n"},
    "fasttext": {"train.txt": "__label__a __label__b some text\n__label__a other\n"},
    "annif": {"train.tsv": "a text\t<http://x/1> <http://x/2>\nmore\t<http://x/1>\n"},
    "text2text": {"train.txt": "0,1\tone text\n1\tother\n", "output-items.txt": "first\nsecond\n"},
    "xmc": {"train.txt": _SPARSE, "labels.txt": "a\nb\nc\nd\ne\n", "filter_labels_train.txt": "0 1\n1 2\n"},
    "xmc-split": {"trn_X_Xf.txt": "2 3\n0:1 2:0.5\n1:2\n", "trn_X_Y.txt": "2 2\n0:1\n1:1 0:1\n"},
    "xmc-raw": {
        "trn.json": '{"uid": "u", "title": "t", "content": "c", "target_ind": [0, 1], "target_rel": [1.0, 0.5]}\n',
        "lbl.json": '{"uid": "0", "title": "a"}\n{"uid": "1", "title": "b"}\n',
    },
    "pecos": {"X.trn.npz": "", "Y.trn.npz": ""},
    "text": {"a.txt": "one text\n\nother text\n"},
    "vocabulary": {
        "labels.ttl": _SKOS,
        "labels.csv": "uri,label_en\nhttp://x/1,cat\n",
        "labels.tsv": "<u>\tcat\n",
    },
    "rdf": {
        "labels.rdf": (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="http://x/1">'
            "<skos:prefLabel>cat &amp; dog</skos:prefLabel></skos:Concept></rdf:RDF>"
        ),
        "labels.jsonld": (
            '{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#"}, "@id": "http://x/1", '
            '"@type": "skos:Concept", "skos:prefLabel": "cat"}'
        ),
        "labels.nt": (
            "<http://x/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
            "<http://www.w3.org/2004/02/skos/core#Concept> .\n"
            '<http://x/1> <http://www.w3.org/2004/02/skos/core#prefLabel> "cat"@en .\n'
        ),
    },
    "parquet": {"train.parquet": ""},
}
"""A small data set per format; matrices of PECOS are made of changed arrays, tables of Parquet by pyarrow."""

_PIECES = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n" * 50,
    b'"',
    b"{",
    b"[" * 2000,
    b"9" * 400,
    b"-1",
    b"1e999",
)
_PIECES += (
    b"nan",
    b"2147483648",
    b"18446744073709551616",
    b":",
    b",",
    b"\t",
    b"<",
    b"\xed\xa0\x80",
    "\u2028".encode(),
)


def make(place: Path, kind: str, seed: int) -> str:
    """Write the files of a data set, one or two of them changed."""
    random = Random(seed)
    place.mkdir()
    for name, content in SEEDS[kind].items():
        if name.endswith(".npz"):
            _matrix(place / name, random)
        elif name.endswith(".parquet"):
            _table(place / name, random)
        else:
            (place / name).write_text(content, encoding="utf-8")
    done = []
    for _ in range(random.choice((1, 1, 2))):
        path = random.choice(sorted(place.iterdir()))
        done.append(f"{path.name}: {_changed(path, random)}")
    return "; ".join(done)


def outcome(place: Path) -> str:
    """Read it in all ways: data sets and batches, or errors of longtail; everything else is raised."""
    results = []
    for path in (place, *sorted(place.iterdir())):
        for way in (_whole, _streamed, _piped, _labels):
            try:
                way(path)
                results.append(ANSWERED)
            except LongtailError as error:
                if "\n" in str(error):
                    raise AssertionError("an error of more than one line") from error
                results.append(REFUSED)
    return ANSWERED if ANSWERED in results else REFUSED


def _whole(path: Path) -> None:
    for data in read_folder(path).values():
        n, n_labels = data.Y.shape
        assert n == len(data.documents)
        assert n_labels == len(data.labels)
        indptr = data.Y.indptr
        assert (indptr[1:] >= indptr[:-1]).all()
        assert not len(data.Y.indices) or 0 <= data.Y.indices.min() <= data.Y.indices.max() < n_labels


def _streamed(path: Path) -> None:
    for documents, labels in stream(path, batch_size=3):
        assert len(documents) == len(labels)


def _piped(path: Path) -> None:
    if not path.is_file():
        return
    before = sys.stdin
    with path.open("rb") as handle:
        sys.stdin = cast(TextIO, SimpleNamespace(buffer=handle))
        try:
            for documents, labels in stream("-", batch_size=3):
                assert len(documents) == len(labels)
        finally:
            sys.stdin = before


def _labels(path: Path) -> None:
    if path.is_file():
        labels = read_labels(path)
        assert len(labels.ids) == len(set(labels.ids))


def _changed(path: Path, random: Random) -> str:
    content = bytearray(path.read_bytes())
    for _ in range(random.choice((0, 1, 1, 2, 5))):
        at = random.randrange(len(content) + 1)
        end = min(len(content), at + random.choice((0, 1, 1, 3, 20)))
        content[at:end] = random.choice(
            [random.choice(_PIECES), random.randbytes(random.randrange(4)), content[:at]]
        )
    kind = random.random()
    if kind < 0.06:
        content = bytearray(random.choice((gzip.compress, lzma.compress, zlib.compress))(bytes(content)))
        if content and random.random() < 0.5:
            content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    elif kind < 0.12:
        content = content[: random.randrange(len(content) + 1)]
    path.write_bytes(content)
    return f"{len(content)} bytes"


def _table(path: Path, random: Random) -> None:
    import pyarrow
    import pyarrow.parquet

    n = random.choice((1, 3, 40))
    table = pyarrow.table(
        {
            "id": [str(row) for row in range(n)],
            "text": [f"text {row % 5}" if row % 7 else None for row in range(n)],
            "labels": [["a", f"b{row % 3}"] for row in range(n)],
        }
    )
    codec = random.choice(("none", "snappy", "gzip", "zstd"))
    pyarrow.parquet.write_table(table, path, compression=codec, use_dictionary=random.random() < 0.7)


def _matrix(path: Path, random: Random) -> None:
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array([4, 3]),
        "data": np.ones(4, np.float32),
        "indices": np.array([0, 1, 2, 0], np.int32),
        "indptr": np.array([0, 1, 2, 3, 4], np.int64),
    }
    for _ in range(random.choice((0, 1, 1, 2))):
        name = random.choice(("shape", "data", "indices", "indptr"))
        arrays[name] = changed_array(arrays[name], random)
    random.choice((np.savez, np.savez_compressed))(path, **arrays)
