"""Data as Python users have them, as a data set: texts and tags, records, data frames, a ``Dataset``.

No package of data frames is imported here: a frame is known by its methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from longtail.columns import check_same_rows, is_sparse, tag_lists
from longtail.data.column_names import LABEL_NAMES
from longtail.data.frame import from_frame
from longtail.data.options import ReadOptions
from longtail.data.roles import Roles, find_roles
from longtail.errors import UsageError
from longtail.types import Dataset, LabelSet

ID, TEXT, LABELS = "id", "text", "labels"
"""The names that columns get where the caller has named them otherwise."""


def dataset_of(
    source: Any,
    tags: Any = None,
    *,
    text: str | None = None,
    labels: str | None = None,
    label_texts: Mapping[str, str] | Sequence[str] | None = None,
    label_separator: str | None = None,
    trained: Mapping[str, Any] | None = None,
) -> Dataset:
    """A data set from what is at hand.

    Args:
        source: texts with ``tags``; or a Dataset, a data frame (pandas, polars, pyarrow, Hugging Face
            ``datasets``), a dict of columns, or records: dicts, or pairs of a text and its tags.
        tags: a list of label ids per text, or a sparse matrix (texts x labels).
        text: the column of the text in a frame or in records; guessed where it is not named.
        labels: the column of the labels.
        label_texts: texts of labels by id (a list in column order when ``tags`` is a matrix).
        label_separator: what stands between labels where those of a document are one string; inferred without it.
        trained: the columns and the separator that a model was trained with; they are used where none are named.
    """
    trained = trained or {}
    cells = ReadOptions(label_separator=label_separator, trained_separator=trained.get("separator"))
    if isinstance(source, (str, Path)):
        raise UsageError(
            f"{str(source)[:60]!r} is one string: give a list of texts, or read a file with longtail.read(path)"
        )
    if tags is not None:
        return _texts_and_tags(source, tags, text, labels, label_texts, cells)
    if isinstance(source, Dataset):
        if text is not None or labels is not None:
            raise UsageError("a Dataset has its texts and labels already: leave out text= and labels=")
        return with_label_texts(source, label_texts)
    check_not_parts(source)
    columns = columns_of(source)
    if columns is None:
        rows = list(source) if isinstance(source, Iterable) and not is_sparse(source) else [source]
        columns = record_columns(rows)
        if columns is None:
            texts, own = _pairs(rows)
            return Dataset.from_texts(texts, _tags(own, cells), label_texts)
        columns = _with_class_names(columns, getattr(source, "features", None))
    if text is None and "texts" in trained:
        cells = trained_columns(columns, trained, cells)
    if labels is None and trained.get("labels") is not None:
        labels = str(trained["labels"])
        if labels not in columns:
            raise UsageError(
                f"there is no column {labels!r}: the model was trained with the labels there, the data have "
                f"{', '.join(columns)}; name the column of the labels, as in labels='tags'"
            )
    return with_label_texts(_from_columns(columns, text, labels, cells), label_texts)


def remembered_columns(
    source: Any, text: str | None, labels: str | None, label_separator: str | None
) -> dict[str, Any]:
    """What a model keeps of the columns of a frame, to read files in the same way; for texts, the separator."""
    names = None if _is_lazy(source) else _names_of(source)
    if names is None and text is None:
        return {} if label_separator is None else {"separator": label_separator}
    # Columns that are named leave no doubt about others.
    named = ReadOptions(text_column=text, label_column=labels, remembered=text is not None)
    found = _roles(map(str, names or ()), named)
    return {
        "title": found.title,
        "texts": list(found.texts) if text is None else [text],
        "labels": labels or found.labels,
        "separator": label_separator,
    }


def with_label_texts(data: Dataset, texts: Mapping[str, str] | Sequence[str] | None) -> Dataset:
    """The data set with these texts of labels; labels that are new with them come behind the others."""
    if texts is None:
        return data
    if not isinstance(texts, Mapping):
        raise UsageError("label_texts must be a mapping from label id to text")
    given = {str(label): str(value) for label, value in texts.items()}
    old = data.labels
    known = [given.get(label, value) for label, value in zip(old.ids, old.texts, strict=True)]
    new = {label: value for label, value in given.items() if label not in old.index}
    labels = LabelSet(old.ids, known, old.extra, old.features)
    return data.relabelled(labels.with_texts(new) if new else labels)


def columns_of(source: Any) -> dict[str, list[Any]] | None:
    """The columns of a data frame by name, as lists; None for what has no named columns."""
    if isinstance(source, Mapping):
        return {str(name): _listed(column) for name, column in source.items()}
    if is_sparse(source) or getattr(source, "ndim", 2) == 1:
        return None
    if _is_lazy(source):
        source = source.collect()
    names = _names_of(source)
    if names is None:
        return None
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"there are two columns {str(twice)!r}; rename one")
    columns = {str(name): _listed(source[name]) for name in names}
    return _with_class_names(columns, getattr(source, "features", None))


def _is_lazy(source: Any) -> bool:
    """Whether it is a lazy frame of polars, which has no columns until it is collected."""
    return callable(getattr(source, "collect", None))


def _names_of(source: Any) -> list[Any] | None:
    """The names of the columns, where there are some."""
    if isinstance(source, Mapping):
        return list(source)
    if isinstance(source, Dataset):
        return None
    names = getattr(source, "column_names", None)  # Hugging Face datasets, pyarrow
    if names is None:
        names = getattr(source, "columns", None)  # pandas, polars
    if names is None or isinstance(names, Mapping) or not hasattr(source, "__getitem__"):
        return None
    return list(names)


def record_columns(rows: Sequence[Any]) -> dict[str, list[Any]] | None:
    """The same for a list of dicts; None for a list of anything else."""
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    keys = dict.fromkeys(chain.from_iterable(rows))
    return {str(key): [row.get(key) for row in rows] for key in keys}


def _texts_and_tags(
    source: Any,
    tags: Any,
    text: str | None,
    labels: str | None,
    label_texts: Mapping[str, str] | Sequence[str] | None,
    cells: ReadOptions,
) -> Dataset:
    if isinstance(source, Dataset):
        raise UsageError("a Dataset has its labels already: leave out the tags")
    if labels is not None:
        raise UsageError(f"give either tags or the column of the labels ({labels!r}), not both")
    check_same_rows(source, tags)
    if text is not None:
        source = _column(columns_of(source) or {}, text)
    return Dataset.from_texts(source, _tags(tags, cells), label_texts)


def _tags(tags: Any, cells: ReadOptions) -> Any:
    """A list of label ids per document; a sparse matrix as it is."""
    return tags if is_sparse(tags) else tag_lists(tags, cells.label_separator, cells.trained_separator)


def _pairs(rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Texts and tags of pairs."""
    if not rows:
        raise UsageError("there is no document: the data are empty")
    wrong = next(
        (at for at, row in enumerate(rows) if not isinstance(row, (tuple, list)) or len(row) != 2), None
    )
    if wrong is not None:
        raise UsageError(
            "tags are missing: give texts and a list of tags for each, a data frame with labels='its column', "
            f"or pairs of a text and its tags (document {wrong} is a {type(rows[wrong]).__name__})"
        )
    return [row[0] for row in rows], [row[1] for row in rows]


def _from_columns(
    columns: dict[str, list[Any]], text: str | None, labels: str | None, cells: ReadOptions
) -> Dataset:
    chosen = dict(columns)
    if labels is not None:
        chosen = {name: column for name, column in chosen.items() if name not in (labels, LABELS)}
        chosen[LABELS] = _column(columns, labels)
        cells = replace(cells, label_column=LABELS)
    if text is not None:
        # The column that is named is the text: no other one is guessed to be a part of it.
        kept = [name for name in chosen if name in (ID, LABELS) or (labels is None and name in LABEL_NAMES)]
        chosen = {**{name: chosen[name] for name in kept}, TEXT: _column(columns, text)}
    roles = _roles(chosen, cells)
    if roles.title is None and not roles.texts:
        raise UsageError(
            f"none of the columns {', '.join(columns)} is known as the text: name it, as in text='title'"
        )
    data = from_frame(Frame(chosen), cells)
    if not data.Y.nnz:
        raise UsageError(
            f"no document has a label: the columns are {', '.join(columns)}; name the one with the labels, "
            "as in labels='tags'"
        )
    return data


def check_not_parts(source: Any) -> None:
    """Refuse a dict of parts where one data set is expected: its keys are no columns."""
    if not isinstance(source, Mapping) or not source:
        return
    if all(isinstance(part, Dataset) or _names_of(part) is not None for part in source.values()):
        names = list(map(str, source))
        raise UsageError(
            f"a dict of the parts {', '.join(names)} is given, not one data set: pass one of them, "
            f"as in data[{names[-1]!r}]"
        )


def trained_columns(columns: Iterable[str], trained: Mapping[str, Any], options: ReadOptions) -> ReadOptions:
    """The options with the title and the texts that a model was trained on; one that is missing is an error."""
    texts = [str(name) for name in (trained.get("title"), *trained.get("texts", ())) if name is not None]
    missing = next((name for name in texts if name not in columns), None)
    if missing is not None:
        raise UsageError(
            f"there is no column {missing!r}: the model was trained on {', '.join(texts)}, the data have "
            f"{', '.join(columns)}; pass the column with the texts, or name it where text= is taken"
        )
    return replace(
        options, title_column=trained.get("title"), text_column=tuple(trained["texts"]), remembered=True
    )


def _roles(names: Iterable[str], options: ReadOptions) -> Roles:
    try:
        return find_roles(list(names), options)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _column(columns: Mapping[str, list[Any]], name: str) -> list[Any]:
    if name not in columns:
        raise UsageError(f"there is no column {name!r}; the columns are {', '.join(columns) or 'not named'}")
    return columns[name]


def _listed(column: Any) -> list[Any]:
    """A column as a list of plain values, by the method that its package has for it."""
    for method in ("to_pylist", "to_list", "tolist"):
        if callable(getattr(column, method, None)):
            return list(getattr(column, method)())
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise UsageError(f"a column must be a list of values, not {column!r:.60}")
    return list(column)


def _with_class_names(columns: dict[str, list[Any]], features: Any) -> dict[str, list[Any]]:
    """Hugging Face keeps classes as numbers, and their names beside them: the names are the labels."""
    if not isinstance(features, Mapping):
        return columns
    named = dict(columns)
    for column, feature in features.items():
        names = getattr(feature, "names", None) or getattr(getattr(feature, "feature", None), "names", None)
        if names and column in columns:
            named[column] = [_class_names(cell, names) for cell in columns[column]]
    return named


def _class_names(cell: Any, names: Sequence[str]) -> Any:
    if cell is None:
        return None
    if isinstance(cell, Iterable) and not isinstance(cell, str):
        return [names[number] for number in cell if number is not None and number >= 0]
    # Unlabelled rows have the class -1, which must not become the last one.
    return [names[cell]] if cell >= 0 else []


class Frame(dict[str, list[Any]]):
    """Named lists with the one attribute by which a data frame is read."""

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self)
