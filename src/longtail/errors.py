"""Every error a user can meet, with the exit code of the command line and the status of the web service."""

from __future__ import annotations

import math
from pathlib import Path
from typing import ClassVar


class LongtailError(Exception):
    """The family: one sentence that says what is wrong, where, and what to do."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500


class UsageError(LongtailError):
    """The call itself is wrong: an option, an argument, a shape."""

    exit_code = 2
    http_status = 422


class ConfigError(UsageError):
    """A configuration key or value that does not exist or does not fit."""


class OutputExistsError(UsageError):
    """The output is there already and was not to be overwritten."""

    http_status = 409


class NotFittedError(UsageError):
    """The system has not been trained or loaded yet."""

    http_status = 503


class UnsupportedError(UsageError):
    """The system does not have the capability that the call needs."""


class UnreachablePrecisionError(UsageError):
    """No threshold keeps the wanted precision; ``best`` is the highest that one keeps."""

    def __init__(self, wanted: float, best: float) -> None:
        # Rounded down: the value that is named can be had.
        self.best = math.floor(1000 * best) / 1000
        super().__init__(
            f"no threshold keeps a precision of {wanted:g} on the validation documents, with its 95 % lower bound: "
            f"the highest that can be had is {self.best:g}"
        )


class DataError(LongtailError):
    """Input that cannot be read; names file and line where they are known."""

    http_status = 422

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        # What a file has in it may have line ends; the sentence has none.
        message = " ".join(message.splitlines())
        where = "" if path is None else f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {message}" if where else message)
        self.path = None if path is None else Path(path)
        self.line = line


class ModelError(LongtailError):
    """A model folder that cannot be used."""


class ModelIntegrityError(ModelError):
    """A file of the model folder is missing, truncated, altered or swapped."""


class ModelVersionError(ModelError):
    """The model folder has a format that this version does not read."""


class OutputError(LongtailError):
    """Writing failed (a full disk, no permission); the old output is intact."""

    http_status = 507


class BusyError(LongtailError):
    """Another process is writing the same output."""

    http_status = 503


class FeedbackStoreError(LongtailError):
    """The database of feedback does not take or give entries (it is gone, full or broken)."""

    http_status = 503


class TrainingError(LongtailError):
    """Training went astray: a loss or a gradient that is not a number."""


class EngineError(LongtailError):
    """The engine that was to do the work (a Ray cluster) cannot be used, or failed."""

    http_status = 503


class MissingPackageError(LongtailError):
    """An optional package is not installed; says which extra brings it."""

    http_status = 501

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': pip install 'longtail[{extra}]'")
        self.package = package


class PluginError(LongtailError):
    """A system of another package cannot be used; says which package, and why."""

    http_status = 501


class ServiceError(LongtailError):
    """The web service refused a request or does not answer; ``status`` is its HTTP status, None without answer."""

    http_status = 502

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
