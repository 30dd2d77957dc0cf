"""Documents to tag as Python users have them: what ``Documents.of`` takes, data frames, and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from longtail.columns import is_sparse
from longtail.data.frame import from_frame
from longtail.data.options import ReadOptions
from longtail.data.python_data import Frame, check_not_parts, columns_of, record_columns, trained_columns
from longtail.errors import UsageError
from longtail.types import Dataset, Document, Documents


def documents_of(source: Any, trained: Mapping[str, Any]) -> Documents:
    """The documents, without their labels.

    Args:
        source: texts, or a data frame, a dict of columns, or records (dicts).
        trained: the columns that a model was trained with, which are read; without them, those of usual names.
    """
    if isinstance(source, (str, Document, Documents, Dataset)) or is_sparse(source):
        return Documents.of(source)
    if isinstance(source, Mapping) and any(isinstance(cell, str) for cell in source.values()):
        source = [source]  # one record
    check_not_parts(source)
    columns = columns_of(source)
    if columns is None:
        if getattr(source, "ndim", 1) != 1 or not isinstance(source, Iterable):
            return Documents.of(source)
        rows = list(source)
        columns = record_columns(rows)
        if columns is None:
            return Documents.of(rows)
    options = ReadOptions(with_labels=False)
    if "texts" in trained:
        options = trained_columns(columns, trained, options)
    try:
        return from_frame(Frame(columns), options).documents
    except UsageError as error:
        raise UsageError(
            f"{error}; or pass the column with the texts, as in predict(data['title'])"
        ) from None
