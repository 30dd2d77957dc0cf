"""Small files that claim much, and large files of nothing: how do commands end, and with how much memory?

Each file is given to ``check``, ``train`` and ``predict`` in a process of its own, with ``MEMORY`` bytes.
An ending is right if it takes less than ``MOST_MB`` and is an answer, or one sentence and exit code 1.
"""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 8 * 2**30
MOST_MB = 1024
GB = 10**9
SECONDS = 1200


def hostile_files(scale: float = 1.0) -> dict[str, Callable[[Path], Path]]:
    """A function that writes each file into a folder; ``scale`` makes the large ones smaller."""
    giga = int(GB * scale)
    return {
        "a line of 1 GB": lambda folder: _repeated(
            folder / "a.jsonl", b'{"text": "', b"a", giga, b'", "labels": ["x"]}\n'
        ),
        "a cell of 1 GB": lambda folder: _repeated(
            folder / "a.csv", b"title,text,labels\nt,", b"a ", giga, b",x\n"
        ),
        "a quoted cell of 1 GB in many lines": lambda folder: _repeated(
            folder / "a.csv", b'title,text,labels\nt,"', b"words\n", giga, b'",x\n'
        ),
        "a text of 1 GB": lambda folder: _repeated(folder / "a.txt", b"", b"a ", giga, b"\n"),
        "0.6 GB of newlines": lambda folder: _repeated(folder / "a.jsonl", b"", b"\n", int(0.6 * giga), b""),
        "0.6 GB of newlines in a table": lambda folder: _repeated(
            folder / "a.csv", b"title,text,labels\n", b"\n", int(0.6 * giga), b""
        ),
        "gzip of 4 GB": lambda folder: _packed(folder / "a.jsonl.gz", gzip.open, 4 * giga),
        "xz of 1 GB": lambda folder: _packed(folder / "a.jsonl.xz", lzma.open, giga),
        "a header of 2,000,000,000 labels": _header,
        "a label matrix of 2^40 columns": lambda folder: _pecos(folder, columns=2**40),
        "a label matrix with wrapped pointers": lambda folder: _pecos(folder, wrapped=True),
        "Parquet: a text of 20 MB, 4,096 times": lambda folder: _parquet(folder, in_lists=False),
        "Parquet: a label of 20 MB in 4,096 lists": lambda folder: _parquet(folder, in_lists=True),
        "Parquet: 500 texts of 1 MB by their prefix": lambda folder: _prefixed(folder, in_lists=False),
        "Parquet: a list of 500 labels of 1 MB by their prefix": lambda folder: _prefixed(
            folder, in_lists=True
        ),
        "Parquet: a text of 0.5 GB, of 1 KB in the footer": lambda folder: _lying(
            folder, text=["x" * int(0.5 * giga)], labels=[["a"]]
        ),
        "Parquet: a list of 0.6 GB, of 1 KB in the footer": lambda folder: _lying(
            folder, text=["a"], labels=[["x" * int(0.001 * giga)] * 600]
        ),
        "Parquet: a list of 100,000,000 equal labels": lambda folder: _equal_labels(folder, int(0.1 * giga)),
    }


def measure(work: Path, *, scale: float = 1.0, only: str = "") -> dict[str, Any]:
    """How every command ends on every file."""
    model = work / "model"
    train = work / "train.jsonl"
    train.write_text(
        "".join(f'{{"title": "t", "text": "a word{n % 9}", "labels": ["l{n % 9}"]}}\n' for n in range(200))
    )
    _run(["train", str(train), "-o", str(model), "--system", "linear", "-q"])
    rows = []
    for name, write in hostile_files(scale).items():
        if only not in name:
            continue
        folder = work / "case"
        folder.mkdir()
        path = write(folder)
        size = sum(each.stat().st_size for each in folder.iterdir())
        for command, given in (
            ("check", ["check", path]),
            ("train", ["train", path, "-o", work / "made", "--system", "linear"]),
            ("predict", ["predict", model, path, "-o", work / "out.jsonl"]),
        ):
            row = {"file": name, "bytes": size, "command": command, **_run([str(each) for each in given])}
            print(row, flush=True)
            rows.append(row)
            subprocess.run(["rm", "-rf", str(work / "made"), str(work / "out.jsonl")], check=True)
        subprocess.run(["rm", "-rf", str(folder)], check=True)
    return {
        "runs": len(rows),
        "wrong": sum(not row["right"] for row in rows),
        "most_mb": max((row["peak_mb"] for row in rows), default=0),
        "rows": rows,
    }


# A process inherits the peak of the process that forks it, so a small one starts the command and reports its peak.
_MEASURED = f"""
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as handle:
    handle.write(f"{{code}} {{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024}}")
"""


def _run(arguments: list[str]) -> dict[str, Any]:
    """Run a command with bounded memory; its exit code, its peak and its last sentence."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "ending"
        command = [sys.executable, "-m", "longtail", *arguments]
        shown = subprocess.run(
            [sys.executable, "-c", _MEASURED, str(told), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        code, peak = map(int, told.read_text().split())
    lines = shown.strip().splitlines()
    right = (
        code in (0, 1)
        and peak < MOST_MB
        and not any(word in shown for word in ("Traceback", "should not happen", "not enough memory"))
    )
    return {"code": code, "peak_mb": peak, "right": right, "last_line": _problem(lines)}


def _problem(lines: list[str]) -> str:
    """The sentence that says what is wrong, without the temporary folder."""
    told = [line for line in lines if "the limit is" in line or line.startswith("longtail:")]
    return (told or lines or [""])[-1].strip().rsplit("/case/", 1)[-1][:300]


def _repeated(path: Path, start: bytes, middle: bytes, size: int, end: bytes) -> Path:
    block = middle * (2**20 // len(middle))
    with path.open("wb") as handle:
        handle.write(start)
        for _ in range(size // len(block)):
            handle.write(block)
        handle.write(middle * (size % len(block) // len(middle)))
        handle.write(end)
    return path


def _packed(path: Path, opened: Callable[..., Any], size: int) -> Path:
    block = b'{"title": "t", "text": "a", "labels": ["x"]}\n' * 40_000
    with opened(path, "wb") as handle:
        for _ in range(max(1, size // len(block))):
            handle.write(block)
    return path


def _header(folder: Path) -> Path:
    rows = "".join(f"{n % 3} {n % 50}:1\n" for n in range(60))
    (folder / "train.txt").write_text(f"60 50 2000000000\n{rows}")
    return folder / "train.txt"


def _pecos(folder: Path, *, columns: int = 3, wrapped: bool = False) -> Path:
    pointers = np.arange(61, dtype=np.int64)
    indices = np.arange(60) % 3
    values = np.ones(60, np.float32)
    kind = np.array(b"csr")
    np.savez(
        folder / "X.trn.npz",
        format=kind,
        shape=np.array([60, 3]),
        data=values,
        indices=indices,
        indptr=pointers,
    )
    if wrapped:
        pointers[10], pointers[11] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    np.savez(
        folder / "Y.trn.npz",
        format=kind,
        shape=np.array([60, columns]),
        data=values,
        indices=indices,
        indptr=pointers,
    )
    return folder / "X.trn.npz"


def _parquet(folder: Path, *, in_lists: bool) -> Path:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")

    count = 4096
    once = pyarrow.array(["x" * (20 * 2**20)])
    same = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, pyarrow.int32()), once)
    lists = pyarrow.ListArray.from_arrays(pyarrow.array(range(count + 1), pyarrow.int32()), same)
    short = pyarrow.array(["a"] * count)
    table = pyarrow.table(
        {"title": short, "text": short if in_lists else same, "labels": lists if in_lists else short}
    )
    parquet.write_table(table, folder / "a.parquet", compression="zstd", store_schema=False)
    return folder / "a.parquet"


def _prefixed(folder: Path, *, in_lists: bool) -> Path:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")

    long = [("x" * 2**20) + str(n) for n in range(500)]
    text, labels = (["a"], [long]) if in_lists else (long, [["a"]] * 500)
    encoding = {"title": "PLAIN", "text": "DELTA_BYTE_ARRAY", "labels.list.element": "DELTA_BYTE_ARRAY"}
    parquet.write_table(
        pyarrow.table({"title": ["t"] * len(text), "text": text, "labels": labels}),
        folder / "a.parquet",
        compression="zstd",
        use_dictionary=False,
        column_encoding=encoding,
    )
    return folder / "a.parquet"


def _lying(folder: Path, **columns: Any) -> Path:
    """A file whose footer says that every large column unpacks to 1,000 bytes."""
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    path = folder / "a.parquet"
    table = pyarrow.table({"title": ["t"], **columns})
    parquet.write_table(
        table,
        path,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        data_page_size=2**31 - 1,
    )
    group = parquet.read_metadata(path).row_group(0)
    sizes = [group.column(at).total_uncompressed_size for at in range(group.num_columns)]
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    for size in (size for size in sizes if size > 10**5):
        old = _varint(size)
        footer = footer.replace(old, _varint(1000, len(old)))
    path.write_bytes(content[: -8 - length] + footer + content[-8:])
    return path


def _varint(number: int, length: int = 1) -> bytes:
    """A number as a footer of Parquet has it, of at least so many bytes."""
    number <<= 1
    found: list[int] = []
    while number or len(found) < length:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found[:-1], found[-1] & 127])


def _equal_labels(folder: Path, count: int) -> Path:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    codes = pyarrow.array(np.zeros(count, np.int32))
    same = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["a"]))
    labels = pyarrow.ListArray.from_arrays(pyarrow.array([0, count], pyarrow.int32()), same)
    table = pyarrow.table({"title": ["t"], "text": ["a"], "labels": labels})
    parquet.write_table(table, folder / "a.parquet", compression="zstd", store_schema=False)
    return folder / "a.parquet"
