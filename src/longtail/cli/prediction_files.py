"""Predictions as files: JSON lines, long CSV or Parquet, a sparse matrix. Written batch by batch."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from longtail.errors import MissingPackageError, UsageError
from longtail.types import LabelSet, TopK

COLUMNS = ("doc_id", "rank", "label_id", "label", "score")


class PredictionFile(ABC):
    """Takes the predictions of batch after batch."""

    def __init__(self, handle: BinaryIO, labels: LabelSet) -> None:
        self.handle = handle
        self.labels = labels

    @abstractmethod
    def write(self, ids: list[str], best: TopK) -> None:
        """Add the predictions ``best`` of the documents ``ids``; -1 marks a rank without a label."""

    def finish(self) -> None:
        """Write what must come at the end, if anything."""
        return

    def close(self) -> None:
        """Release the handle, whether or not the file was finished."""
        return

    def _rows(self, best: TopK) -> Iterator[tuple[list[int], list[float]]]:
        # Plain lists once a batch: indexing numpy arrays number by number is many times slower.
        for labels, scores in zip(best.indices.tolist(), shortest(best.scores), strict=True):
            there = [at for at, label in enumerate(labels) if label >= 0]
            yield [labels[at] for at in there], [scores[at] for at in there]


def shortest(scores: np.ndarray) -> list[list[float]]:
    """The scores as Python floats that print with the few digits a float32 has (0.1, not 0.10000000149)."""
    import orjson

    # Through JSON text and back is several times faster than numpy's own conversion to strings.
    text = orjson.dumps(np.ascontiguousarray(scores, np.float32), option=orjson.OPT_SERIALIZE_NUMPY)
    digits: list[list[float]] = orjson.loads(text)
    return digits


class JsonLines(PredictionFile):
    """One object per document: id, and labels with id, text and score, best first."""

    def write(self, ids: list[str], best: TopK) -> None:
        """Add one line per document."""
        import orjson

        names, texts = self.labels.ids, self.labels.texts
        for document, (labels, scores) in zip(ids, self._rows(best), strict=True):
            found = [
                {"id": names[label], "text": texts[label], "score": score}
                for label, score in zip(labels, scores, strict=True)
            ]
            self.handle.write(orjson.dumps({"id": document, "labels": found}) + b"\n")


class Csv(PredictionFile):
    """One row per document and label; a document without any label has one row, empty behind its id."""

    def __init__(self, handle: BinaryIO, labels: LabelSet) -> None:
        super().__init__(handle, labels)
        self._write([COLUMNS])

    def write(self, ids: list[str], best: TopK) -> None:
        """Add the rows of a batch."""
        names, texts = self.labels.ids, self.labels.texts
        rows: list[tuple[Any, ...]] = []
        for document, (labels, scores) in zip(ids, self._rows(best), strict=True):
            ranked = enumerate(zip(labels, scores, strict=True), 1)
            rows += [(document, rank, names[label], texts[label], score) for rank, (label, score) in ranked]
            if not labels:
                # A document without a label keeps a row, with nothing behind its id.
                rows.append((document, "", "", "", ""))
        self._write(rows)

    def _write(self, rows: list[Any]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        self.handle.write(text.getvalue().encode("utf-8", "surrogatepass"))


class Parquet(PredictionFile):
    """The same rows as columns with types."""

    def __init__(self, handle: BinaryIO, labels: LabelSet) -> None:
        super().__init__(handle, labels)
        try:
            arrow: Any = import_module("pyarrow")
            parquet: Any = import_module("pyarrow.parquet")
        except ImportError:
            raise MissingPackageError("pyarrow", extra="parquet", purpose="writing Parquet") from None
        types = (arrow.string(), arrow.int32(), arrow.string(), arrow.string(), arrow.float32())
        self.arrow = arrow
        self.schema = arrow.schema(list(zip(COLUMNS, types, strict=True)))
        self.writer = parquet.ParquetWriter(handle, self.schema)

    def write(self, ids: list[str], best: TopK) -> None:
        """Add a batch as one row group."""
        there = best.indices >= 0
        # The rank counts answers, not places: a threshold may leave gaps.
        ranks = there.cumsum(axis=1)
        # A document without a label keeps a row, with nulls behind its id.
        shown = there.copy()
        shown[:, :1] |= ~there.any(axis=1, keepdims=True)
        rows, columns = np.nonzero(shown)
        labels = best.indices[shown].tolist()
        empty = ~there[shown]
        data = {
            "doc_id": [ids[row] for row in rows.tolist()],
            "rank": self.arrow.array(ranks[rows, columns].astype(np.int32), mask=empty),
            "label_id": [None if label < 0 else self.labels.ids[label] for label in labels],
            "label": [None if label < 0 else self.labels.texts[label] for label in labels],
            "score": self.arrow.array(best.scores[shown], mask=empty),
        }
        self.writer.write_table(self.arrow.table(data, schema=self.schema))

    def finish(self) -> None:
        """Write the footer; without it the file would not be Parquet."""
        self.writer.close()

    def close(self) -> None:
        """Close the writer while its handle is open: it would try that when it is collected, and complain."""
        with suppress(OSError):
            self.writer.close()


class SparseMatrix(PredictionFile):
    """Documents x labels with scores as scipy.sparse.load_npz reads it; ``ids`` holds the documents' ids."""

    def __init__(self, handle: BinaryIO, labels: LabelSet) -> None:
        super().__init__(handle, labels)
        self.ids: list[str] = []
        self.parts: list[Any] = []

    def write(self, ids: list[str], best: TopK) -> None:
        """Keep the batch as a sparse matrix, a few bytes per label."""
        self.ids += ids
        self.parts.append(best.to_csr(len(self.labels)))

    def finish(self) -> None:
        """Write the one matrix; no pickle inside, so ``allow_pickle=False`` reads it."""
        from scipy.sparse import csr_array, vstack

        empty = csr_array((0, len(self.labels)), dtype=np.float32)
        whole = csr_array(vstack([empty, *self.parts], format="csr"))
        np.savez_compressed(
            self.handle,
            format=np.array(b"csr"),
            shape=np.array(whole.shape),
            data=whole.data,
            indices=whole.indices,
            indptr=whole.indptr,
            _is_array=np.array(True),
            ids=np.array(self.ids, dtype=np.str_),
        )


FORMATS: dict[str, type[PredictionFile]] = {
    "jsonl": JsonLines,
    "csv": Csv,
    "parquet": Parquet,
    "npz": SparseMatrix,
}
"""Format -> its writer."""

OTHER_ENDINGS = {"gz", "xz", "bz2", "zst", "zip", "tsv", "tab", "npy", "xlsx", "html"}
"""Endings that promise something else than JSON lines."""

BINARY = ("parquet", "npz")


def format_of(path: str) -> str:
    """The format that a file's ending asks for; JSON lines where it asks for none."""
    ending = Path(path).suffix[1:].lower()
    if ending in FORMATS:
        return ending
    if ending in OTHER_ENDINGS:
        raise UsageError(
            f"predictions are not written as .{ending}: end the name {path} in one of "
            f"{', '.join(f'.{name}' for name in FORMATS)}, or say with --format what to write into it"
        )
    return "jsonl"
