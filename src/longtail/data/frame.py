"""Data frames (pandas, polars, anything with named columns) as a data set."""

from __future__ import annotations

from typing import Any

from longtail.data.cells import cell_records, column_roles
from longtail.data.options import DEFAULTS, ReadOptions
from longtail.data.records import collect
from longtail.data.row_folder import NO_LABELS
from longtail.errors import UsageError
from longtail.label_cells import SeparatorScan
from longtail.types import Dataset


def from_frame(frame: Any, options: ReadOptions = DEFAULTS) -> Dataset:
    """A data set from a data frame; columns are found by the options, and further ones are kept as extra."""
    header = [str(name) for name in frame.columns]
    columns = [
        frame[name].tolist() if hasattr(frame[name], "tolist") else list(frame[name])
        for name in frame.columns
    ]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise UsageError(f"the columns {', '.join(header)} have different lengths: {sorted(sizes)}")
    rows = enumerate(zip(*columns, strict=True), 1)
    index: dict[str, int] = {}
    try:
        roles = column_roles(header, options)
        separator = options.label_separator
        if separator is None and roles.labels is not None:
            separator = (
                SeparatorScan()
                .add_all(columns[header.index(roles.labels)])
                .separator(options.trained_separator)
            )
        found = collect(cell_records(header, roles, rows, separator), index)
    except ValueError as error:
        raise UsageError(str(error)) from None
    labels = NO_LABELS.extended(index)
    return Dataset(found.documents, labels, found.matrix(len(labels)))
