"""Makes the data set that comes with the package: python -m benchmarks.sample_data --data DEBIAN -o FILE.

DEBIAN is the folder of ``longtail data debian``. A package's name and short description are a document, the
packages it is related to are its labels. Shared libraries are left out as labels: the build computes most of these
relations, a maintainer chooses the others. Packages with at least two labels left are sampled by the hash of their
names, and stay in the part (train, valid or test) that they were in.
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
import re
from pathlib import Path
from typing import Any

import orjson

from longtail.data import read_folder
from longtail.types import Dataset

SIZES = {"train": 9000, "valid": 1000, "test": 2000}
FEWEST_LABELS = 2
LIBRARY = re.compile(r"lib(?!js-)(?!.*-(?:bin|common|data|dev|doc|java|js|ocaml|perl|php|ruby|tools)\b)")
"""Names of shared libraries; other packages whose names begin with lib are not."""


def sample(parts: dict[str, Dataset], sizes: dict[str, int]) -> list[dict[str, Any]]:
    """The lines of the file: the documents of each part, then the labels that they have."""
    lines: list[dict[str, Any]] = []
    for part, size in sizes.items():
        data = parts[part]
        kept: list[dict[str, Any]] = []
        for row, document in enumerate(data.documents.ids):
            names = [data.labels.ids[label] for label in data.Y[[row]].indices]
            names = [name for name in names if not LIBRARY.match(name) and name != document]
            if len(names) >= FEWEST_LABELS:
                title = data.documents.titles[row]
                kept.append({"part": part, "id": document, "title": title, "labels": names})
        chosen = sorted(kept, key=lambda line: hashlib.sha256(line["id"].encode()).digest())[:size]
        lines += sorted(chosen, key=lambda line: str(line["id"]))
    used = {name for line in lines for name in line["labels"]}
    labels = parts["train"].labels
    return lines + [{"id": name, "text": labels.texts[labels.index[name]]} for name in sorted(used)]


def main(arguments: list[str] | None = None) -> None:
    """Read the folder, and write one file: JSON lines, compressed by xz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    lines = sample(read_folder(given.data), SIZES)
    content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    given.output.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    print(f"{given.output}: {len(lines):,} lines, {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
