import os

import numpy as np
import orjson
import pytest

from longtail.errors import ModelError, ModelIntegrityError
from longtail.storage import open_folder, read_arrays, write_arrays, write_json, writing_folder


@pytest.fixture
def model(tmp_path):
    with writing_folder(tmp_path / "model") as folder:
        write_json(folder / "config.json", {"system": "linear"})
        write_arrays(folder / "tree" / "weights.safetensors", {"w": np.arange(50.0)})
        write_arrays(folder / "tree" / "other.safetensors", {"w": np.arange(50.0)[::-1]})
    return tmp_path / "model"


def test_listed_files_are_handed_out(model):
    folder = open_folder(str(model))
    assert "config.json" in folder
    assert read_arrays(folder.path("tree/weights.safetensors"))["w"][3] == 3


@pytest.mark.parametrize("name", ["extra.json", "manifest.json", "../model/config.json", "tree", "tree/none"])
def test_other_files_are_not_handed_out(model, name):
    (model / "extra.json").write_text("{}")
    with pytest.raises(ModelIntegrityError, match="does not list"):
        open_folder(model).path(name)


@pytest.mark.parametrize("name", ["config.json", "tree/weights.safetensors"])
def test_every_flipped_byte_and_every_truncation_is_found(model, name):
    path = model / name
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(ModelIntegrityError, match="altered"):
            open_folder(model).check_rest()
        path.write_bytes(whole[:at])
        with pytest.raises(ModelIntegrityError, match="bytes"):
            open_folder(model)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ModelIntegrityError, match="bytes"):
        open_folder(model)
    path.unlink()
    with pytest.raises(ModelIntegrityError, match="missing"):
        open_folder(model)
    path.mkdir()
    with pytest.raises(ModelIntegrityError, match="regular"):
        open_folder(model)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(ModelIntegrityError, match="regular"):
        open_folder(model)


def test_no_flipped_byte_of_the_manifest_gives_a_wrong_file(model):
    path = model / "manifest.json"
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        try:
            folder = open_folder(model)
        except ModelError:
            continue
        # Only white space may change without anyone noticing.
        assert set(folder.files) == {"config.json", "tree/weights.safetensors", "tree/other.safetensors"}


def test_swapped_files_are_found(model):
    a, b = model / "tree" / "weights.safetensors", model / "tree" / "other.safetensors"
    assert a.stat().st_size == b.stat().st_size
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)
    with pytest.raises(ModelIntegrityError, match="altered"):
        open_folder(model).check_rest()


def test_links_that_lead_out_are_refused(model, tmp_path):
    outside = tmp_path / "outside.json"
    os.rename(model / "config.json", outside)
    (model / "config.json").symlink_to(outside)
    with pytest.raises(ModelIntegrityError, match="leads out"):
        open_folder(model)
    (model / "config.json").unlink()
    os.rename(outside, model / "config.json")
    os.rename(model / "tree", tmp_path / "tree")
    (model / "tree").symlink_to(tmp_path / "tree")
    with pytest.raises(ModelIntegrityError, match="leads out"):
        open_folder(model)


def test_a_manifest_that_is_a_link_out_is_refused(model, tmp_path):
    outside = tmp_path / "manifest.json"
    os.rename(model / "manifest.json", outside)
    (model / "manifest.json").symlink_to(outside)
    with pytest.raises(ModelIntegrityError, match=r"manifest\.json is a link that leads out"):
        open_folder(model)
    (model / "manifest.json").unlink()
    (model / "manifest.json").symlink_to(model / "nowhere")
    with pytest.raises(ModelIntegrityError, match=r"manifest\.json is missing"):
        open_folder(model)
    (model / "manifest.json").unlink()
    os.rename(outside, model / "listed.json")
    (model / "manifest.json").symlink_to("listed.json")
    assert "config.json" in open_folder(model)


def test_a_link_to_the_folder_itself_is_fine(model, tmp_path):
    (tmp_path / "current").symlink_to(model)
    assert "config.json" in open_folder(tmp_path / "current")


def test_what_is_no_model_folder_says_so(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    for name, message in (
        ("none", "no model folder"),
        ("file", "is a file"),
        ("empty", "has no manifest"),
        ("a\0", "read"),
    ):
        with pytest.raises(ModelError, match=message):
            open_folder(f"{tmp_path}/{name}")


def test_a_name_too_long_for_the_system_is_an_error(model):
    entry = {"size": 0, "sha256": "0" * 64}
    value = {"format": "longtail-folder", "version": 1, "files": {"x" * 5000: entry}}
    (model / "manifest.json").write_bytes(orjson.dumps(value))
    with pytest.raises(ModelIntegrityError):
        open_folder(model)
    value["files"] = {"config.json/x": entry}
    (model / "manifest.json").write_bytes(orjson.dumps(value))
    with pytest.raises(ModelIntegrityError, match="missing"):
        open_folder(model)
