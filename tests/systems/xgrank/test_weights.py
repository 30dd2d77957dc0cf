"""A member on the disk: the same answers after reading, and arrays that do not fit are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import open_folder, read_arrays, write_arrays, writing_folder
from longtail.systems.xgrank.member import Member
from longtail.systems.xgrank.system import Xgrank
from longtail.systems.xgrank.weights import load_member, save_member

Arrays = dict[str, np.ndarray]


def saved(trained: Xgrank, place: Path, change: Callable[[Arrays], None] = lambda _arrays: None) -> Member:
    with writing_folder(place) as folder:
        save_member(trained.folded_.members[0], folder / "member", trained.config)
        path = folder / "member" / "weights.safetensors"
        arrays = {name: array.copy() for name, array in read_arrays(path).items()}
        change(arrays)
        write_arrays(path, arrays)
    return load_member(open_folder(place).sub("member"), trained.config, len(trained.labels_))


def test_there_and_back(trained: Xgrank, tmp_path: Path) -> None:
    member, again = trained.folded_.members[0], saved(trained, tmp_path / "model")
    texts = ["bade fi", "", "gogo"]
    one, other = member.reader(texts), again.reader(texts)
    assert (one.document == other.document).all()
    assert (one.pooled == other.pooled).all()
    assert (member.vectors.labels == again.vectors.labels).all()
    names = {file.name for file in (tmp_path / "model" / "member" / "encoder").iterdir()}
    assert "model.safetensors" not in names


DAMAGE: dict[str, Callable[[Arrays], None]] = {
    "labels": lambda a: a.update(labels=a["labels"][:-1]),
    "clusters": lambda a: a.update(clusters=a["clusters"][:, :-1]),
    "codes": lambda a: a.update(codes=a["codes"] + 100),
    "project": lambda a: a.update(project=a["project"][:, :-1]),
    "bias": lambda a: a.update(project_bias=a["project_bias"][:-1]),
    "tokens": lambda a: a.update(tokens=a["tokens"][:-1]),
    "idf": lambda a: a.update(idf=a["idf"][:-1]),
    "finite": lambda a: a["labels"].fill(np.nan),
    "word embeddings": lambda a: a.update({"encoder/words": a["encoder/words"][:-1]}),
    "encoder": lambda a: a.update({"encoder/more": np.zeros(2, np.float32)}),
}


@pytest.mark.parametrize("part", sorted(DAMAGE))
def test_arrays_that_do_not_fit_are_refused(trained: Xgrank, tmp_path: Path, part: str) -> None:
    with pytest.raises(ModelIntegrityError, match=r"weights\.safetensors: "):
        saved(trained, tmp_path / "model", DAMAGE[part])


def test_a_missing_member_is_said(trained: Xgrank) -> None:
    with pytest.raises(ModelIntegrityError, match="is missing"):
        load_member(None, trained.config, 3)
