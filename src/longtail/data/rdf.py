"""RDF files as graphs: nothing is fetched from elsewhere, and time and memory grow with the file alone.

rdflib fetches a context that a JSON-LD file names by its address, from the network or the disk: here an error. Its
parser of RDF/XML takes time and memory that grow with the square of the depth, of the number of prefixes and of the
pieces of a text: here depth is bounded, prefixes are not kept and a text is joined once.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from longtail.data.encoding import HINT, UTF_8
from longtail.data.lines import opened, whole_lines
from longtail.errors import DataError, MissingPackageError

_ELSEWHERE = ("@context", "@import")
_AT_ONCE = 2**16
_DEEPEST = 500
"""Elements and declared namespaces that are open at once."""


def rdf_graph(path: Path, syntax: str, encoding: str | None = None) -> tuple[Any, Any]:
    """The module rdflib, and the graph in a file of that syntax (turtle, xml, nt, json-ld)."""
    try:
        rdflib: Any = importlib.import_module("rdflib")
    except ImportError:
        raise MissingPackageError("rdflib", extra="skos", purpose="reading a SKOS vocabulary") from None
    graph = _without_prefixes(rdflib)
    with opened(path, encoding) as handle, _silent():
        source: BinaryIO = cast(BinaryIO, _Lines(handle, path))
        if syntax == "json-ld":
            content = source.read()
            _check_contexts(content, path)
            source = cast(BinaryIO, _Named(content, path))
        try:
            if syntax == "xml":
                _parse_xml(source, graph, path)
            else:
                graph.parse(file=source, format=syntax)
        except (DataError, EOFError, OSError, MemoryError):
            raise
        except UnicodeDecodeError:
            raise DataError(f"is not valid {encoding or UTF_8}; {HINT}", path=path) from None
        except Exception as error:
            problem = " ".join(str(error).split())[:200]
            raise DataError(f"is not valid RDF ({problem})", path=path) from None
    return rdflib, graph


def _without_prefixes(rdflib: Any) -> Any:
    """A graph that does not note prefixes: rdflib searches for a free name again and again."""

    def bind(graph: Any, *prefix: Any, **options: Any) -> None:
        """Do nothing."""

    return type("Graph", (rdflib.Graph,), {"bind": bind})(bind_namespaces="none")


def _parse_xml(source: BinaryIO, graph: Any, path: Path) -> None:
    rdfxml: Any = importlib.import_module("rdflib.plugins.parsers.rdfxml")
    inputs: Any = importlib.import_module("rdflib.parser")
    given = inputs.FileInputSource(source)
    parser = rdfxml.create_parser(given, graph)
    handler = parser.getContentHandler()
    pieces: list[str] = []
    depth = 0

    def joined(step: Callable[..., None], by: int) -> Callable[..., None]:
        def then(*given: Any) -> None:
            nonlocal depth
            depth += by
            if depth > _DEEPEST:
                raise DataError(f"its elements are nested more than {_DEEPEST} deep", path=path)
            if pieces:
                text = "".join(pieces)
                pieces.clear()
                characters(text)
            step(*given)

        return then

    characters, handler.characters = handler.characters, pieces.append
    for name, by in {"startElementNS": 1, "endElementNS": -1, "startPrefixMapping": 1}.items():
        setattr(handler, name, joined(getattr(handler, name), by))
    handler.endPrefixMapping = joined(handler.endPrefixMapping, -1)
    parser.parse(given)


class _Named(BytesIO):
    """Bytes with the name that parsers of RDF ask a file for."""

    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(content)
        self.name = str(path)


class _Lines:
    """A file as a parser reads it, some bytes at a time, with the limits on its lines."""

    def __init__(self, handle: BinaryIO, path: Path) -> None:
        # Parsers of RDF ask a file for its name.
        self.name = str(path)
        self._lines = whole_lines(handle, path)
        self._waiting = BytesIO()

    def read(self, size: int = -1) -> bytes:
        """The next bytes; all that are left without a size."""
        if size is None or size < 0:
            return self._waiting.read() + b"".join(self._lines)
        found = self._waiting.read(size)
        if not found and size:
            self._waiting = BytesIO(self._some())
            found = self._waiting.read(size)
        return found

    def close(self) -> None:
        """Whoever opened the file closes it."""

    def _some(self) -> bytes:
        lines, taken = [], 0
        for line in self._lines:
            lines.append(line)
            taken += len(line)
            if taken >= _AT_ONCE:
                break
        return b"".join(lines)


def _check_contexts(content: bytes, path: Path) -> None:
    """Refuse a context that is the address of another file."""
    try:
        waiting = [orjson.loads(content)]
    except ValueError as error:
        raise DataError(f"is not valid JSON ({error})", path=path) from None
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for key in _ELSEWHERE:
                given = value.get(key)
                named = next((one for one in _list(given) if isinstance(one, str)), None)
                if named is not None:
                    raise DataError(
                        f"its {key} is at {named[:200]}, and nothing is fetched: put it into the file",
                        path=path,
                    )
            waiting += value.values()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@contextmanager
def _silent() -> Iterator[None]:
    """rdflib logs values that it cannot convert, with tracebacks; they stay as they are written."""
    logger = logging.getLogger("rdflib")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
