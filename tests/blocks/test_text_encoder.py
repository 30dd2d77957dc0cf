"""A tiny random transformer in a folder: its mean states, its copy in a model, and folders that lack something."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks import text_encoder
from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import ModelIntegrityError, UsageError
from longtail.storage import open_folder, writing_folder
from tests.tiny_encoders import PLACES, WIDTH, WORDS, write_transformer

transformers = pytest.importorskip("transformers")

TEXTS = ["red apples", "pear", "", "green apple tree with red pears", "Pear"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is never to be changed."""
    return write_transformer(tmp_path_factory.mktemp("encoder"))


def copied(made: Path, tmp_path: Path, without: tuple[str, ...] = ()) -> Path:
    place = tmp_path / "copy"
    shutil.copytree(made, place, ignore=lambda _folder, _names: set(without))
    return place


def by_hand(made: Path, text: str) -> np.ndarray:
    """The mean of the last states of a text's tokens, alone and without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(made, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(made, local_files_only=True).eval()
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        states = model(torch.tensor([ids])).last_hidden_state[0]
    return np.asarray(states.mean(dim=0).numpy())


def test_a_text_is_the_mean_of_its_tokens(made: Path) -> None:
    vectors = TextEncoder.of(made)(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH)
    assert vectors.dtype == np.float32
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, by_hand(made, text), atol=1e-5)
    # Capitals do not matter to this tokenizer, and words do.
    np.testing.assert_allclose(vectors[1], vectors[4], atol=1e-6)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.01


def test_nothing_is_written_beside_the_progress_of_the_run(
    made: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    TextEncoder.of(made)(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert transformers.utils.logging.is_progress_bar_enabled()


def test_company_and_order_do_not_matter(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = TextEncoder.of(made)
    together = encoder(TEXTS)
    for i, text in enumerate(TEXTS):
        np.testing.assert_allclose(encoder([text])[0], together[i], atol=1e-5)
    monkeypatch.setattr(text_encoder, "AT_ONCE", 2)
    np.testing.assert_allclose(encoder(TEXTS[::-1]), together[::-1], atol=1e-5)
    assert encoder([]).shape == (0, WIDTH)


def test_a_long_text_is_cut_to_what_the_transformer_can_read(made: Path) -> None:
    encoder = TextEncoder.of(made)
    long, cut = encoder(["red " * 400, "red " * (PLACES - 2)])
    np.testing.assert_allclose(long, cut, atol=1e-6)


def test_weights_in_half_precision_are_read(made: Path, tmp_path: Path) -> None:
    place = copied(made, tmp_path)
    transformers.AutoModel.from_pretrained(made, local_files_only=True).to(torch.bfloat16).save_pretrained(
        place
    )
    vectors = TextEncoder.of(place)(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, TextEncoder.of(made)(TEXTS), atol=0.05)


def test_the_copy_in_a_model_gives_the_same_vectors(made: Path, tmp_path: Path) -> None:
    place = copied(made, tmp_path)
    for name in ("pytorch_model.bin", "training_args.bin", "modeling_own.py", "weights.pkl", "README.md"):
        (place / name).write_bytes(b"not to be kept")
    (place / "onnx").mkdir()
    (place / "onnx" / "model.json").write_text("{}")
    encoder = TextEncoder.of(place)
    with writing_folder(tmp_path / "model") as folder:
        encoder.save(folder / "encoder")
    kept = {file.name for file in (tmp_path / "model" / "encoder").iterdir()}
    assert kept == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    expected = encoder(TEXTS)
    # The model does not need the folder it was made of.
    shutil.rmtree(place)
    loaded = TextEncoder.load(open_folder(tmp_path / "model").sub("encoder"))
    assert (loaded(TEXTS) == expected).all()
    # And can be saved again.
    loaded.save(tmp_path / "again")
    assert (TextEncoder.of(tmp_path / "again")(TEXTS) == expected).all()


def test_a_reference_gives_the_same_vectors(made: Path, tmp_path: Path) -> None:
    encoder = TextEncoder.of(made, keep="reference")
    with writing_folder(tmp_path / "model") as folder:
        encoder.save(folder / "encoder")
    loaded = TextEncoder.load(open_folder(tmp_path / "model").sub("encoder"))
    assert (loaded(TEXTS) == encoder(TEXTS)).all()
    loaded.save(tmp_path / "again")
    assert [file.name for file in (tmp_path / "again").iterdir()] == ["reference.json"]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(made: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"needs config\.json, model\.safetensors and a tokenizer") as error:
        TextEncoder.of(copied(made, tmp_path, without=(name,)))
    assert str(tmp_path / "copy") in str(error.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder of a transformer"):
        TextEncoder.of(tmp_path / "nowhere")


def test_an_older_vocabulary_will_do(made: Path, tmp_path: Path) -> None:
    place = copied(made, tmp_path, without=("tokenizer.json",))
    (place / "vocab.txt").write_text("\n".join(WORDS))
    np.testing.assert_allclose(TextEncoder.of(place)(TEXTS), TextEncoder.of(made)(TEXTS), atol=1e-6)


def test_damaged_weights_are_one_sentence(made: Path, tmp_path: Path) -> None:
    place = copied(made, tmp_path)
    (place / "model.safetensors").write_bytes(b"abc")
    with pytest.raises(UsageError, match=r"the transformer in .*copy cannot be read: ") as error:
        TextEncoder.of(place)(["red"])
    assert "\n" not in str(error.value)


def test_code_that_comes_with_a_transformer_is_not_run(made: Path, tmp_path: Path) -> None:
    place = copied(made, tmp_path)
    (place / "config.json").write_text('{"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}')
    (place / "own.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\n")
    with pytest.raises(UsageError, match="cannot be read"):
        TextEncoder.of(place)(["red"])
    assert not (tmp_path / "was-run").exists()


def test_a_model_without_its_encoder_is_damaged(tmp_path: Path) -> None:
    with writing_folder(tmp_path / "model") as folder:
        (folder / "other.json").write_text("{}")
    with pytest.raises(ModelIntegrityError, match="the encoder is missing"):
        TextEncoder.load(open_folder(tmp_path / "model").sub("encoder"))
