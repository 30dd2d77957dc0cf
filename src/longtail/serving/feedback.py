"""Feedback on predictions: accepted, rejected and added labels of documents, in an SQL database.

What ``add`` has returned an id for is on disk: SQLite runs with a write-ahead log that every commit syncs, other
databases with what they promise of a commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy import exc

from longtail.errors import FeedbackStoreError, UsageError
from longtail.types import Document

SECONDS_TO_WAIT = 30
"""How long a writer waits for another one."""
ROWS_AT_ONCE = 1000

_TABLES = sql.MetaData()
_FEEDBACK = sql.Table(
    "longtail_feedback",
    _TABLES,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("time", sql.DateTime(timezone=True), nullable=False),
    sql.Column("model", sql.Text, nullable=False),
    sql.Column("version", sql.Text, nullable=False),
    sql.Column("user", sql.Text, nullable=False),
    sql.Column("document_key", sql.Text, nullable=False),
    sql.Column("document_id", sql.Text, nullable=False),
    sql.Column("title", sql.Text, nullable=False),
    sql.Column("text", sql.Text, nullable=False),
    sql.Column("accepted", sql.JSON, nullable=False),
    sql.Column("rejected", sql.JSON, nullable=False),
    sql.Column("added", sql.JSON, nullable=False),
    sql.Index("longtail_feedback_document", "model", "document_key"),
    # Ids of deleted rows are not given again.
    sqlite_autoincrement=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a user said of the labels of one document.

    Attributes:
        document: its id may be empty; then its text identifies it.
        id: of the stored entry; 0 before.
    """

    model: str
    version: str
    document: Document
    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    user: str = ""
    time: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: int = 0

    def __post_init__(self) -> None:
        right, wrong = {*self.accepted, *self.added}, set(self.rejected)
        both = next((label for label in self.rejected if label in right), None)
        if both is not None:
            raise UsageError(f"the label {both!r} is both right and wrong: leave it in one of the lists")
        if not right and not wrong:
            raise UsageError("the feedback has no label: give accepted, rejected or added ones")
        document = self.document
        if not (document.title or document.text):
            raise UsageError("the document of the feedback has neither a title nor a text")
        texts = (self.model, self.version, self.user, document.id, document.title, document.text)
        for value in (*texts, *right, *wrong):
            _check_text(value)

    @property
    def labels(self) -> list[str]:
        """The labels that are right: accepted and added ones, each once."""
        return list(dict.fromkeys((*self.accepted, *self.added)))

    @property
    def document_key(self) -> str:
        """What identifies the document: its id, or a hash of its title and text."""
        if self.document.id:
            return f"id:{self.document.id}"
        digest = hashlib.sha256(f"{self.document.title}\0{self.document.text}".encode())
        return f"sha256:{digest.hexdigest()}"


class FeedbackStore:
    """A table of feedback in the database at an SQLAlchemy URL, or in an SQLite file of this name.

    Safe to use from several threads and processes.

    Args:
        writable: False opens a database that is there already, and changes nothing in it.
    """

    def __init__(self, place: str | Path, *, writable: bool = True) -> None:
        url = database_url(place)
        self.name = url.database or "" if _is_file(url) else url.render_as_string(hide_password=True)
        if _is_file(url):
            _prepare_file(Path(self.name), writable=writable)
        try:
            self._engine = sql.create_engine(url, pool_pre_ping=not _is_file(url))
        except (exc.SQLAlchemyError, ImportError) as error:
            raise UsageError(
                f"the feedback database {self.name} cannot be used: {_in_one_line(error)}"
            ) from None
        if _is_file(url):
            sql.event.listen(self._engine, "connect", _make_durable if writable else _make_read_only)
        try:
            self._open(writable)
        except BaseException:
            self.close()
            raise
        if _is_file(url) and writable:
            _sync_folder(Path(self.name).parent)

    def _open(self, writable: bool) -> None:
        with self._failures():
            if writable:
                _TABLES.create_all(self._engine)
            there = sql.inspect(self._engine)
            if not there.has_table(_FEEDBACK.name):
                raise UsageError(f"{self.name} has no table {_FEEDBACK.name}: it is no feedback database")
            columns = {column["name"] for column in there.get_columns(_FEEDBACK.name)}
        missing = [name for column in _FEEDBACK.columns if (name := column.name) not in columns]
        if missing:
            raise UsageError(
                f"{self.name}: the table {_FEEDBACK.name} has no column {missing[0]}: it is of another version"
            )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except exc.SQLAlchemyError as error:
            raise FeedbackStoreError(
                f"the feedback database {self.name} failed: {_in_one_line(error)}"
            ) from None

    def add(self, entry: Feedback) -> int:
        """Store an entry for good, and return its id."""
        document = entry.document
        row = {
            "time": entry.time,
            "model": entry.model,
            "version": entry.version,
            "user": entry.user,
            "document_key": entry.document_key,
            "document_id": document.id,
            "title": document.title,
            "text": document.text,
            "accepted": list(entry.accepted),
            "rejected": list(entry.rejected),
            "added": list(entry.added),
        }
        with self._failures(), self._engine.begin() as connection:
            key = connection.execute(_FEEDBACK.insert().values(row)).inserted_primary_key
        assert key is not None
        return int(key[0])

    def entries(
        self, model: str | None = None, *, latest: bool = False, after: int = 0
    ) -> Iterator[Feedback]:
        """The entries in the order in which they came.

        Args:
            model: only those about the model of this name.
            latest: only the last entry of each document (per model).
            after: only those with a higher id.
        """
        query = sql.select(_FEEDBACK).where(_FEEDBACK.c.id > after).order_by(_FEEDBACK.c.id)
        if model is not None:
            query = query.where(_FEEDBACK.c.model == model)
        if latest:
            last = sql.select(sql.func.max(_FEEDBACK.c.id)).group_by(
                _FEEDBACK.c.model, _FEEDBACK.c.document_key
            )
            query = query.where(_FEEDBACK.c.id.in_(last))
        with self._failures(), self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(query):
                yield _entry(row)

    def models(self) -> list[str]:
        """The names of the models that there is feedback about."""
        query = sql.select(_FEEDBACK.c.model).distinct().order_by(_FEEDBACK.c.model)
        with self._failures(), self._engine.connect() as connection:
            return list(connection.scalars(query))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def database_url(place: str | Path) -> sql.URL:
    """The URL itself, or that of an SQLite file."""
    if isinstance(place, str) and "://" in place:
        try:
            url = sql.make_url(place)
        except exc.ArgumentError:
            raise UsageError(
                "the URL of the feedback database is not one: write postgresql://user@host/name, or a file"
            ) from None
        if not _is_file(url) or not url.database or url.query.get("uri"):
            return url
        place = url.database
    if "\0" in str(place):
        raise UsageError("the name of the feedback database has a NUL character")
    return sql.URL.create("sqlite", database=str(Path(place).absolute()))


def _is_file(url: sql.URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")


def _prepare_file(path: Path, *, writable: bool) -> None:
    """Make a new file readable by its owner alone, as it holds users' texts; SQLite would let all read it."""
    if not writable:
        if not path.is_file():
            raise UsageError(f"there is no feedback database {path}")
        return
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise UsageError(f"the feedback database {path} cannot be written: {error.strerror}") from None


def _make_durable(connection: Any, record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {SECONDS_TO_WAIT * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    # NORMAL, usual with WAL, loses the last commits with the power.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _make_read_only(connection: Any, record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {SECONDS_TO_WAIT * 1000}")
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


def _sync_folder(folder: Path) -> None:
    """Keep the names of the database and its log; SQLite syncs what is in them."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_text(value: str) -> None:
    """Refuse what some database cannot hold, so that all of them take the same."""
    if "\0" in value:
        raise UsageError("the feedback has a NUL character: remove it")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "the feedback has half of a surrogate pair, which is no character: remove it"
        ) from None


def _entry(row: sql.Row[Any]) -> Feedback:
    # SQLite keeps no time zone.
    time: datetime = row.time
    return Feedback(
        id=row.id,
        time=time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC),
        model=row.model,
        version=row.version,
        user=row.user,
        document=Document(row.document_id, row.title, row.text),
        accepted=_labels(row.accepted),
        rejected=_labels(row.rejected),
        added=_labels(row.added),
    )


def _labels(value: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(label) for label in value)


def _in_one_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return " ".join(str(cause).split())
