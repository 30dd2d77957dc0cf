from __future__ import annotations

import lzma
from pathlib import Path

import orjson
import pytest

from benchmarks import sample_data
from longtail.data import write
from longtail.types import Dataset, Documents, LabelSet, label_matrix

NAMES = ["libc6", "libx11-6", "libjs-jquery", "libwww-perl", "libfoo-dev", "python3", "git"]


def part(*rows: tuple[str, list[str]]) -> Dataset:
    labels = LabelSet(NAMES, [f"{name}: text" for name in NAMES])
    ids = [name for name, _ in rows]
    documents = Documents(ids, [f"{name}: a package" for name in ids], [""] * len(ids))
    return Dataset(documents, labels, label_matrix([names for _, names in rows], labels))


def test_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {
        "train": part(
            ("a", NAMES), ("b", ["libc6", "libx11-6", "git"]), ("git", ["git", "python3", "libfoo-dev"])
        ),
        "valid": part(("c", ["python3", "libjs-jquery"])),
        "test": part(("d", ["git", "libwww-perl"])),
    }
    write(parts, tmp_path / "data")
    monkeypatch.setattr(sample_data, "SIZES", {"train": 2, "valid": 1, "test": 1})
    sample_data.main(["--data", str(tmp_path / "data"), "-o", str(tmp_path / "out.xz")])
    lines = [orjson.loads(line) for line in lzma.decompress((tmp_path / "out.xz").read_bytes()).splitlines()]
    documents = {line["id"]: line for line in lines if "part" in line}
    # Shared libraries are no labels, a package is not its own label, and two labels must be left.
    assert sorted(documents["a"]["labels"]) == ["git", "libfoo-dev", "libjs-jquery", "libwww-perl", "python3"]
    assert "b" not in documents
    assert sorted(documents["git"]["labels"]) == ["libfoo-dev", "python3"]
    assert documents["d"]["part"] == "test"
    labels = {line["id"]: line["text"] for line in lines if "part" not in line}
    assert labels == {name: f"{name}: text" for name in NAMES if name not in ("libc6", "libx11-6")}
