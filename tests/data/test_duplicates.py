"""Duplicates within a part and between parts, with their places."""

from __future__ import annotations

from pathlib import Path

from longtail.data.duplicates import Finding, find_duplicates
from longtail.data.reading import read_parts
from tests.data.build import put

LONG = " ".join(f"word{number}" for number in range(40))


def test_duplicates_of_one_part(tmp_path: Path) -> None:
    rows = [f"1,{LONG},x", f"2,{LONG} more,x", f"2,{LONG.upper()},x", "4,other,y", "5,,y", "6,,y"]
    path = put(tmp_path / "a.csv", "\n".join(["id,text,labels", *rows, ""]))
    found = find_duplicates(read_parts(path).parts)
    part = found.parts["train"]
    assert part.ids == Finding(1, ("'2' in line 4, first in line 3",))
    assert part.texts == Finding(1, ("'2' in line 4, first in line 2",))
    assert part.near == Finding(1, ("'2' in line 3, first in line 2",))
    assert list(found.warnings()) == [
        "train: 1 document has the text of an earlier one, 1 nearly: remove them unless they should count several "
        "times; longtail split keeps them in one part"
    ]


def test_duplicates_in_two_parts(tmp_path: Path) -> None:
    put(tmp_path / "train.csv", f"id,text,labels\n1,{LONG},x\n2,plain,y\n")
    put(tmp_path / "valid.csv", "id,text,labels\n7,Plain,y\n")
    put(tmp_path / "test.csv", f"id,text,labels\n3,new,x\n4,{LONG} more,y\n1,else,y\n")
    found = find_duplicates(read_parts(tmp_path).parts)
    assert found.shared == {
        "train and valid": Finding(1, ("same text: valid.csv, line 2 and train.csv, line 3",)),
        "train and test": Finding(1, ("same id: test.csv, line 4 and train.csv, line 2",)),
    }
    assert found.nearly_shared == {
        "train and test": Finding(1, ("similar texts: test.csv, line 3 and train.csv, line 2",))
    }
    assert [warning.partition(",")[0] for warning in found.warnings()] == [
        "1 document is in both train and valid",
        "1 document is in both train and test",
    ]
    assert ", 1 nearly, so metrics will be too high" in list(found.warnings())[1]


def test_nothing_twice(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "text,labels\na,x\nb,y\n")
    found = find_duplicates(read_parts(path).parts)
    assert list(found.warnings()) == []
    assert find_duplicates({}).parts == {}
