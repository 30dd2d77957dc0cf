import os

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import (
    open_folder,
    read_arrays,
    read_bytes,
    read_json,
    read_jsonl,
    write_arrays,
    write_json,
    writing_folder,
)
from longtail.storage.listed_file import open_regular, reading


@pytest.fixture
def model(tmp_path):
    with writing_folder(tmp_path / "model") as folder:
        write_json(folder / "a.json", {"a": 1})
        (folder / "b.jsonl").write_bytes(b'{"b": 1}\n{"b": 2}\n')
        write_arrays(folder / "c.safetensors", {"x": np.arange(40), "y": np.ones((3, 5), np.float16)})
    return tmp_path / "model"


READERS = {
    "a.json": read_json,
    "b.jsonl": lambda path: list(read_jsonl(path)),
    "c.safetensors": read_arrays,
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_changed_after_the_folder_was_opened_is_not_used(model, name):
    folder = open_folder(model)
    path = model / name
    whole = path.read_bytes()
    assert READERS[name](folder.path(name)) is not None
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ModelIntegrityError, match="has been altered: its sha256"):
            READERS[name](folder.path(name))


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_swapped_after_the_folder_was_opened_is_not_used(model, tmp_path, name):
    folder = open_folder(model)
    other = tmp_path / "other"
    other.write_bytes((model / name).read_bytes().replace(b"1", b"7"))
    (model / name).unlink()
    (model / name).symlink_to(other)
    with pytest.raises(ModelIntegrityError, match="altered"):
        READERS[name](folder.path(name))


@pytest.mark.parametrize("name", READERS)
def test_each_file_is_opened_once(model, monkeypatch, name):
    opened = []
    real = os.open

    def watched(path, *flags):
        opened.append(str(path))
        return real(path, *flags)

    folder = open_folder(model)
    monkeypatch.setattr(os, "open", watched)
    READERS[name](folder.path(name))
    assert opened == [str(model / name)]


def test_mapped_arrays_are_of_the_descriptor_that_was_checked(model):
    folder = open_folder(model)
    arrays = read_arrays(folder.path("c.safetensors"), mmap=True)
    write_arrays(model / "new", {"x": np.zeros(40, np.int64), "y": np.zeros((3, 5), np.float16)})
    os.replace(model / "new", model / "c.safetensors")
    assert (arrays["x"] == np.arange(40)).all()
    with pytest.raises(ModelIntegrityError, match="altered"):
        read_arrays(folder.path("c.safetensors"), mmap=True)


def test_files_that_nobody_read_are_checked_in_the_end(model):
    folder = open_folder(model)
    read_json(folder.path("a.json"))
    (model / "a.json").write_bytes(b"{}")  # was read already
    folder.check_rest()
    folder = open_folder_again(model)
    (model / "b.jsonl").write_bytes(b'{"b": 7}\n{"b": 2}\n')
    with pytest.raises(ModelIntegrityError, match=r"b\.jsonl has been altered"):
        folder.check_rest()


def open_folder_again(model):
    write_json(model / "a.json", {"a": 1})
    return open_folder(model)


def test_damage_is_named_before_what_it_led_to(model):
    path = model / "c.safetensors"
    folder = open_folder(model)
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(ModelIntegrityError, match="altered"):
        read_arrays(folder.path("c.safetensors"))
    with pytest.raises(ModelIntegrityError, match="header"):
        read_arrays(path)


def test_a_path_made_of_a_listed_one_is_a_plain_one(model):
    path = open_folder(model).path("a.json")
    assert path.entry is not None
    assert (path.parent / "b.jsonl").entry is None
    assert read_bytes(path.parent / "b.jsonl").startswith(b'{"b": 1}')


def test_a_file_of_too_many_bytes_is_refused(model):
    with pytest.raises(ModelIntegrityError, match="more than 3 bytes"):
        read_bytes(model / "a.json", max_bytes=3)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, says in (("pipe", "not a regular"), ("", "not a regular"), ("none", "missing"), ("\0", "null")):
        with pytest.raises(ModelIntegrityError, match=says):
            open_regular(tmp_path / name)
    with pytest.raises(ModelIntegrityError), reading(tmp_path / "pipe"):
        raise AssertionError
