"""Errors: one sentence each, an exit code for the command line and a status for the web."""

from pathlib import Path

import pytest

from longtail import errors
from longtail.errors import DataError, LongtailError, MissingPackageError, UsageError

FAMILY = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LongtailError)
]


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
def test_every_error_has_an_exit_code_a_status_and_a_docstring(kind):
    assert kind.exit_code == (2 if issubclass(kind, UsageError) else 1)
    assert 400 <= kind.http_status <= 599
    assert kind.__doc__


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("ConfigError", 422),
        ("OutputExistsError", 409),
        ("NotFittedError", 503),
        ("DataError", 422),
        ("ModelIntegrityError", 500),
        ("OutputError", 507),
        ("BusyError", 503),
        ("MissingPackageError", 501),
    ],
)
def test_statuses(name, status):
    assert getattr(errors, name).http_status == status


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        (None, None, "no id"),
        ("a.jsonl", None, "a.jsonl: no id"),
        (Path("a.jsonl"), 3, "a.jsonl, line 3: no id"),
        (None, 3, "no id"),
    ],
)
def test_a_data_error_says_where(path, line, expected):
    error = DataError("no id", path=path, line=line)
    assert str(error) == expected
    assert error.path == (None if path is None else Path(path))
    assert error.line == line


def test_a_missing_package_says_what_to_install():
    error = MissingPackageError("pyarrow", extra="parquet", purpose="reading Parquet")
    assert str(error) == "reading Parquet needs the package 'pyarrow': pip install 'longtail[parquet]'"
    assert error.package == "pyarrow"


def test_what_a_file_has_in_it_makes_no_further_lines() -> None:
    assert str(DataError("the column 'a\nb\r\nc' is not there", path="x", line=2)) == (
        "x, line 2: the column 'a b c' is not there"
    )
