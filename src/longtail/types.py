"""The nouns that cross folders: Document(s), LabelSet, Edges, Dataset; TopK has a file of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from longtail import pairs
from longtail.columns import check_same_rows, is_sparse, tag_lists, text_column
from longtail.errors import UsageError
from longtail.label_ids import LabelIds
from longtail.lazy_strings import LazyStrings, joined_with, strings_at
from longtail.notebook import html_table
from longtail.topk import TopK as TopK

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FIELDS = ("title", "text")
"""The fields a document's text is made of, in this order, unless a configuration names fewer."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text to tag. ``extra`` holds further keys of its record (a group, a date)."""

    id: str
    title: str = ""
    text: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class Prepared(Protocol):
    """What was computed of training documents before (``longtail prepare``)."""

    def tfidf(self, config: Any, fields: Sequence[str], label_texts: Sequence[str]) -> Any:
        """Vocabulary and rows for these settings; an error if they are not there."""

    def fingerprint(self, data: Dataset) -> str | None:
        """The fingerprint of the data set that was prepared; None if ``data`` is another one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Documents(Sequence[Document]):
    """Many documents as columns: lists of equal length, and optionally one feature row each.

    ``features`` is set when the user brings a matrix of their own; then the texts are usually empty. Columns of
    prepared documents stay on the disk (``LazyStrings``).
    """

    ids: list[str]
    titles: list[str]
    texts: list[str]
    features: csr_array | None = None
    extra: list[Mapping[str, Any]] | None = None
    prepared: Prepared | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.ids), len(self.titles), len(self.texts)}
        if self.features is not None:
            lengths.add(self.features.shape[0])
        if self.extra is not None:
            lengths.add(len(self.extra))
        if len(lengths) != 1:
            raise UsageError(f"the columns of the documents have different lengths: {sorted(lengths)}")

    @classmethod
    def of(cls, source: DocumentsLike) -> Documents:
        """Take what users have at hand: one or several strings or Documents, a sparse matrix, a Dataset."""
        if isinstance(source, Documents):
            return source
        if isinstance(source, Dataset):
            return source.documents
        if isinstance(source, (str, Document)):
            source = [source]
        if is_sparse(source):
            return cls.from_features(source)
        is_table = (
            isinstance(source, Mapping) or getattr(source, "ndim", 1) != 1 or hasattr(source, "columns")
        )
        if is_table or not isinstance(source, Iterable):
            # Iterating over a record or a table would take its keys or column names for texts.
            raise UsageError(
                f"documents must be texts or a sparse matrix, not a {type(source).__name__}: "
                "pass the column with the texts, or scipy.sparse.csr_array of a table of features"
            )
        rows: list[Any] = list(source)
        wrong = next((i for i, row in enumerate(rows) if not isinstance(row, (str, Document))), None)
        if wrong is not None:
            raise UsageError(f"document {wrong} is a {type(rows[wrong]).__name__}, not a string or Document")
        numbered = [Document(str(i), text=row) if isinstance(row, str) else row for i, row in enumerate(rows)]
        extra = [d.extra for d in numbered] if any(d.extra for d in numbered) else None
        return cls(
            [d.id for d in numbered], [d.title for d in numbered], [d.text for d in numbered], None, extra
        )

    @classmethod
    def from_features(cls, features: Any, ids: list[str] | None = None) -> Documents:
        """Documents that are feature rows, with no text."""
        from scipy.sparse import csr_array

        matrix = csr_array(features, dtype=np.float32)
        n = matrix.shape[0]
        return cls(ids or [str(i) for i in range(n)], [""] * n, [""] * n, matrix)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return self.take(range(*row.indices(len(self))))
        return Document(
            self.ids[row], self.titles[row], self.texts[row], self.extra[row] if self.extra else {}
        )

    def __iter__(self) -> Iterator[Document]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"Documents({len(self):,})" if self.features is None else f"Documents({len(self):,} feature rows)"
        )

    def take(self, rows: Iterable[int]) -> Documents:
        """The documents at these row numbers, in that order."""
        rows = [int(r) for r in rows]
        return Documents(
            strings_at(self.ids, rows),
            strings_at(self.titles, rows),
            strings_at(self.texts, rows),
            None if self.features is None else self.features[rows],
            None if self.extra is None else [self.extra[r] for r in rows],
        )

    def joined(self, fields: Sequence[str] = FIELDS) -> list[str]:
        """The text of each document: its fields, those that are not empty, joined by a newline."""
        unknown = [name for name in fields if name not in FIELDS]
        if unknown or not fields:
            raise UsageError(f"fields must be among {', '.join(FIELDS)}, not {list(fields)!r}")

        def join(titles: list[str], texts: list[str]) -> list[str]:
            both = zip(titles, texts, strict=True)
            # A document that is one plain string has no title: it is the short text itself.
            if len(fields) == 1:
                return [title or text if "title" in fields else text or title for title, text in both]
            return [f"{title}\n{text}" if title and text else title or text for title, text in both]

        if isinstance(self.texts, LazyStrings):
            return cast("list[str]", joined_with(self.titles, self.texts, join))
        return join(self.titles, self.texts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSet:
    """The labels in order: ids, texts (empty where there is none), further keys of their records.

    ``features`` is a row a label (float32) when the user brings such a matrix, over the documents' columns.
    ``index`` is the column of each id; who has it already may pass it, which saves making it.
    """

    ids: list[str]
    texts: list[str]
    extra: list[Mapping[str, Any]] | None = None
    features: csr_array | None = None
    index: dict[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        lengths = {len(self.ids), len(self.texts), len(self.ids if self.extra is None else self.extra)}
        if len(lengths) != 1 or (self.features is not None and self.features.shape[0] != len(self.ids)):
            raise UsageError("the columns of the label set have different lengths")
        object.__setattr__(self, "ids", LabelIds.of(self.ids))
        if list(self.index) == self.ids:
            return
        object.__setattr__(self, "index", {label: i for i, label in enumerate(self.ids)})
        if len(self.index) != len(self.ids):
            twice = next(label for i, label in enumerate(self.ids) if self.index[label] != i)
            raise UsageError(f"the label id {twice!r} is there twice")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        some = ", ".join([*map(repr, self.ids[:3]), *(["..."] if len(self) > 3 else [])])
        return f"LabelSet({len(self):,}: {some})" if len(self) else "LabelSet(0)"

    @property
    def has_text(self) -> bool:
        """Whether any label has a text."""
        return any(self.texts)

    def with_texts(self, texts: Mapping[str, str]) -> LabelSet:
        """The same labels with new ones behind them, given as texts by id."""
        extra = None if self.extra is None else [*self.extra, *({} for _ in texts)]
        features = None if self.features is None else pairs.with_empty_rows(self.features, len(texts))
        return LabelSet([*self.ids, *texts], [*self.texts, *texts.values()], extra, features)

    def extended(self, ids: Iterable[str]) -> LabelSet:
        """The same labels with those of ``ids`` that are new behind them (without text)."""
        new = dict.fromkeys((label for label in ids if label not in self.index), "")
        return self.with_texts(new) if new else self


class Edges(NamedTuple):
    """Links that come with the data, as columns: from, to (ids of documents or labels), weight (float32)."""

    sources: list[str]
    targets: list[str]
    weights: np.ndarray

    def located(self, index: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From, to (int64) and weight of the links between nodes of ``index``, their numbers by id."""
        ends = np.array([[index.get(id_, -1) for id_ in side] for side in self[:2]], dtype=np.int64)
        known = (ends >= 0).all(axis=0)
        return ends[0, known], ends[1, known], self.weights[known]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """Documents, labels and the sparse matrix ``Y`` (documents x labels, float32) that joins them.

    ``Y`` stores each pair once, in the order of the columns, and no zeros: what is stored is a label.
    ``filtered`` (same shape) marks pairs that are never scored, such as a document as its own label.
    ``revealed`` (same shape) marks labels that are known of a document before it is tagged (warm start).
    ``edges`` are auxiliary links between documents and labels; they may name some that are not here.
    """

    documents: Documents
    labels: LabelSet
    Y: csr_array
    filtered: csr_array | None = None
    revealed: csr_array | None = None
    edges: Edges | None = None

    def __post_init__(self) -> None:
        shape = (len(self.documents), len(self.labels))
        for name in ("Y", "filtered", "revealed"):
            matrix = getattr(self, name)
            if matrix is not None and matrix.shape != shape:
                raise UsageError(
                    f"{name} has shape {matrix.shape}, but there are {shape[0]} documents and {shape[1]} labels"
                )
            if matrix is not None:
                object.__setattr__(self, name, pairs.canonical(matrix))

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"Dataset({len(self):,} documents, {len(self.labels):,} labels, {self.Y.nnz:,} assignments)"

    def _repr_html_(self) -> str:
        texts = [text if len(text) <= 80 else f"{text[:79]}…" for text in self.documents[:5].joined()]
        tags = (self.Y.indices[self.Y.indptr[row] : self.Y.indptr[row + 1]] for row in range(len(texts)))
        named = [", ".join(self.labels.ids[label] for label in row) for row in tags]
        ids = self.documents.ids[:5]
        return html_table(repr(self), ["id", "text", "labels"], zip(ids, texts, named, strict=True))

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        tags: Any,
        label_texts: Mapping[str, str] | Sequence[str] | None = None,
        *,
        label_separator: str | None = None,
    ) -> Dataset:
        """A data set from Python lists.

        Args:
            texts: one string a document (a pandas column will do).
            tags: a list of label ids a document, or a sparse matrix (documents x labels).
            label_texts: the text of a label by its id; a list in column order when ``tags`` is a matrix.
            label_separator: what stands between labels where those of a document are one string; "none": nothing.
        """
        from scipy.sparse import csr_array

        check_same_rows(texts, tags)
        documents = Documents.of(texts if isinstance(texts, Documents) else text_column(texts))
        if is_sparse(tags):
            Y = csr_array(tags, dtype=np.float32)
            names = [str(i) for i in range(Y.shape[1])]
            if isinstance(label_texts, Mapping):
                raise UsageError(
                    "tags is a matrix, so label_texts must be a list in the order of its columns"
                )
            label_column = [""] * len(names) if label_texts is None else [str(text) for text in label_texts]
            return cls(documents, LabelSet(names, label_column), Y)
        rows = tag_lists(tags, label_separator)
        if len(rows) != len(documents):
            raise UsageError(f"{len(documents)} texts but {len(rows)} lists of tags")
        if label_texts is not None and not isinstance(label_texts, Mapping):
            raise UsageError("label_texts must be a mapping from label id to text")
        known = {str(label): str(text) for label, text in (label_texts or {}).items()}
        labels = LabelSet(list(known), list(known.values())).extended(tag for row in rows for tag in row)
        return cls(documents, labels, label_matrix(rows, labels))

    @classmethod
    def from_labels(cls, labels: LabelSet | Mapping[str, str]) -> Dataset:
        """A data set of labels alone (or texts by label id), for systems that need no training document."""
        if isinstance(labels, Mapping):
            labels = LabelSet(list(labels), list(labels.values()))
        return cls(Documents([], [], []), labels, pairs.empty(0, len(labels)))

    @classmethod
    def from_matrix(cls, X: Any, Y: Any, label_ids: Sequence[str] | None = None) -> Dataset:
        """A data set from feature rows X and a label matrix Y."""
        from scipy.sparse import csr_array

        target = csr_array(Y, dtype=np.float32)
        ids = list(label_ids) if label_ids is not None else [str(i) for i in range(target.shape[1])]
        return cls(Documents.from_features(X), LabelSet(ids, [""] * len(ids)), target)

    def take(self, rows: Iterable[int]) -> Dataset:
        """The part with these rows, over the same labels."""
        rows = np.asarray(list(rows), dtype=np.int64)
        return self._changed(lambda matrix: matrix[rows], documents=self.documents.take(rows))

    def relabelled(self, labels: LabelSet) -> Dataset:
        """The same documents over another label set, matched by id; it must hold every label in use."""
        if labels is self.labels:
            return self
        missing = next((i for i in np.unique(self.Y.indices) if self.labels.ids[i] not in labels.index), None)
        if missing is not None:
            raise UsageError(f"the label {self.labels.ids[missing]!r} is not in the new label set")
        columns = np.array([labels.index.get(label, -1) for label in self.labels.ids], dtype=np.int64)
        return self._changed(lambda matrix: pairs.with_columns(matrix, columns, len(labels)), labels=labels)

    def _changed(self, change: Callable[[csr_array], csr_array], **parts: Any) -> Dataset:
        """The same with every matrix changed alike, and these parts."""
        filtered = None if self.filtered is None else change(self.filtered)
        revealed = None if self.revealed is None else change(self.revealed)
        return replace(self, Y=change(self.Y), filtered=filtered, revealed=revealed, **parts)

    @property
    def unscored(self) -> csr_array | None:
        """The pairs that are neither predictions nor truth to a measure: filtered or revealed; None without any."""
        return pairs.union([self.filtered, self.revealed])

    @property
    def label_counts(self) -> np.ndarray:
        """How many documents each label has."""
        return np.bincount(self.Y.indices, minlength=len(self.labels))

    def fingerprint(self) -> str:
        """A sha256 of everything but ``extra`` keys: the same data give the same one on any machine."""
        prepared = self.documents.prepared
        if prepared is not None and (known := prepared.fingerprint(self)) is not None:
            return known
        digest = hashlib.sha256()
        documents, labels = self.documents, self.labels
        for column in (documents.ids, documents.titles, documents.texts, labels.ids, labels.texts):
            _digest_texts(digest, column)
        for matrix in (self.Y, documents.features):
            if matrix is not None:
                pairs.digest(digest, matrix)
        # What a data set may do without is named; where it is not there or empty, it leaves no trace.
        optional = {"filtered": self.filtered, "revealed": self.revealed, "label features": labels.features}
        for name, matrix in optional.items():
            if matrix is not None and matrix.nnz:
                digest.update(name.encode())
                pairs.digest(digest, matrix)
        if self.edges is not None and len(self.edges.weights):
            digest.update(b"edges")
            for side in self.edges[:2]:
                _digest_texts(digest, side)
            digest.update(self.edges.weights.astype("<f4").tobytes())
        return digest.hexdigest()


DocumentsLike: TypeAlias = (
    "Documents | Dataset | Document | str | Sequence[str] | Sequence[Document] | Sequence[str | Document] "
    "| csr_array"
)


def label_matrix(rows: Sequence[Iterable[str]], labels: LabelSet) -> csr_array:
    """The 0/1 matrix of lists of label ids; a label named twice in one document counts once."""
    from scipy.sparse import csr_array

    try:
        columns = [sorted({labels.index[label] for label in row}) for row in rows]
    except KeyError as error:
        raise UsageError(f"the label {error.args[0]!r} is not in the label set") from None
    indptr = np.concatenate([[0], np.cumsum([len(c) for c in columns], dtype=np.int64)])
    indices = np.fromiter((c for row in columns for c in row), dtype=np.int32, count=int(indptr[-1]))
    data = np.ones(len(indices), np.float32)
    return csr_array((data, indices, indptr), shape=(len(rows), len(labels)))


def _digest_texts(digest: Any, column: Sequence[str]) -> None:
    for start in range(0, len(column), 8192):
        rows = range(start, min(start + 8192, len(column)))
        part = column.take(np.array(rows)) if isinstance(column, LazyStrings) else column[start : rows.stop]
        digest.update(np.array([len(value) for value in part], dtype="<i8").tobytes())
        for value in part if isinstance(part, LazyStrings) else ["".join(part)]:
            digest.update(value.encode("utf-8", "surrogatepass"))
