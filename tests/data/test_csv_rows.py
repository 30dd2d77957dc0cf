from pathlib import Path

import pytest

from longtail.data import limit, read_labels
from longtail.data.csv_rows import csv_errors, csv_reader
from longtail.errors import DataError


def test_rows_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a;"b\nc"\nd;e\n')
    reader = csv_reader(path, "utf-8", ";")
    assert [(row, reader.line_num) for row in reader] == [(["a", "b\nc"], 2), (["d", "e"], 3)]


def test_what_is_no_csv_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n"a"b,c\n')
    reader = csv_reader(path, "utf-8", ",")
    with pytest.raises(DataError, match=r"a\.csv, line 2: is not valid CSV"), csv_errors(path, reader):
        list(reader)


def test_the_limit_on_a_cell_holds_for_files_of_labels_too(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    # More than the 131,072 characters that the csv module allows by itself.
    path.write_text("uri,label_en\nhttp://x/1,cat\nhttp://x/2," + "x" * 200_000 + "\n")
    assert len(read_labels(path)) == 2
    path.write_text('uri,label_en\nhttp://x/1,"' + "x\n" * 100 + '"\n')
    says = r"line \d+: there are too many characters in one cell, and the limit is 100.*--limit line="
    with limit(line=100), pytest.raises(DataError, match=says):
        read_labels(path)
