from __future__ import annotations

from pathlib import Path

import pytest

from longtail.data import read_folder
from tests.cli.conftest import Call


def test_synthetic_data(call: Call, tmp_path: Path) -> None:
    size = ("--labels", 20, "--documents", 100, "-q")
    assert call("data", "synthetic", "-o", tmp_path / "a", *size).code == 0
    assert call("data", "synthetic", "-o", tmp_path / "b", *size).code == 0
    assert call("data", "synthetic", "-o", tmp_path / "c", *size, "--seed", 5).code == 0
    first, same, other = (read_folder(tmp_path / name) for name in "abc")
    assert "train" in first
    assert len(first["train"].labels) == 20
    assert first["train"].fingerprint() == same["train"].fingerprint()
    assert first["train"].fingerprint() != other["train"].fingerprint()
    refused = call("data", "synthetic", "-o", tmp_path / "a", *size)
    assert refused.code == 2


def test_debian_from_a_folder(call: Call, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    packages = [
        f"Package: p{n}\nVersion: 1\nDescription: short {n}\n long {n}\nDepends: p{(n + 1) % 30}\n"
        for n in range(30)
    ]
    (lists / "here_Packages").write_text("\n".join(packages) + "\n")
    answer = call("data", "debian", "-o", tmp_path / "out", "--folder", lists)
    assert answer.code == 0, answer.err
    assert "documents in train" in answer.err
    assert "p1" in read_folder(tmp_path / "out")["train"].labels.index


def test_the_sample_that_comes_with_the_package(call: Call, tmp_path: Path) -> None:
    answer = call("data", "sample", "-o", tmp_path / "a")
    assert answer.code == 0, answer.err
    assert "9,000 documents in train, 1,000 documents in valid, 2,000 documents in test" in answer.err
    found = read_folder(tmp_path / "a")
    assert found["test"].filtered is not None
    assert "python3" in found["train"].labels.index


@pytest.mark.parametrize(
    ("name", "option"),
    [("debian", "--labels"), ("synthetic", "--folder"), ("sample", "--documents"), ("sample", "--seed")],
)
def test_options_of_another_data_set(call: Call, tmp_path: Path, name: str, option: str) -> None:
    answer = call("data", name, "-o", tmp_path / "x", option, 5)
    assert answer.code == 2
    assert f"{option} is not for the data set {name}" in answer.err
    assert not (tmp_path / "x").exists()


def test_unknown_name(call: Call, tmp_path: Path) -> None:
    answer = call("data", "wikipedia", "-o", tmp_path / "x")
    assert answer.code == 2
    assert "synthetic" in answer.err
