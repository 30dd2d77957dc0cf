"""A small real data set that comes with the package: Debian packages and the packages that they are related to.

12,000 packages of Debian 12 (bookworm, main): name and short description are the title, the packages that it
depends on, recommends or suggests are the labels, without shared libraries. ``benchmarks/sample_data.py`` made it
from ``longtail data debian``.

Names, descriptions and relations are those of Debian's package index. They were written by the maintainers of the
packages, and each is under the free licence of its package, which is in Debian's file
``/usr/share/doc/PACKAGE/copyright``.
"""

from __future__ import annotations

import lzma
from importlib.resources import files
from typing import Any

import orjson

from longtail.types import Dataset, Documents, LabelSet

FILE = "sample.jsonl.xz"
PARTS = ("train", "valid", "test")


def sample() -> dict[str, Dataset]:
    """Its parts train, valid and test; a package as its own label is never scored."""
    import numpy as np
    from scipy.sparse import csr_array

    from longtail.types import label_matrix

    packed = (files("longtail.data.catalogue") / FILE).read_bytes()
    lines: list[dict[str, Any]] = [orjson.loads(line) for line in lzma.decompress(packed).splitlines()]
    named = [line for line in lines if "part" not in line]
    labels = LabelSet([line["id"] for line in named], [line["text"] for line in named])
    made = {}
    for part in PARTS:
        rows = [line for line in lines if line.get("part") == part]
        ids = [line["id"] for line in rows]
        own = np.array([(row, labels.index[name]) for row, name in enumerate(ids) if name in labels.index])
        shape = (len(rows), len(labels))
        itself = csr_array((np.ones(len(own), np.float32), (own[:, 0], own[:, 1])), shape=shape)
        made[part] = Dataset(
            Documents(ids, [line["title"] for line in rows], [""] * len(rows)),
            labels,
            label_matrix([line["labels"] for line in rows], labels),
            itself,
        )
    return made
