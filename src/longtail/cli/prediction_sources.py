"""The documents to tag: those of a file, or of the JSONL and Parquet files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longtail.errors import DataError

if TYPE_CHECKING:
    from longtail.data.records import Batch

ENDINGS = (".jsonl", ".ndjson", ".parquet", ".jsonl.gz", ".ndjson.gz")


def stream_all(source: str, **how: Any) -> Iterator[Batch]:
    """Documents in batches, file by file; ``how`` is what ``longtail.data.stream`` takes.

    Documents without an id have their row number in their file.
    """
    from longtail.data import stream

    if not Path(source).is_dir():
        return stream(source, **how)
    files = sorted(path for path in Path(source).iterdir() if path.name.lower().endswith(ENDINGS))
    if not files:
        raise DataError(f"is a folder without files that end in {', '.join(ENDINGS[:3])}", path=source)
    return (batch for file in files for batch in stream(file, **how))
