"""Initial embeddings from tokens, rows or a transformer: of length one, and the same after a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import longtail
from longtail.blocks.text_encoder import TextEncoder
from longtail.errors import ConfigError, ModelIntegrityError, UsageError
from longtail.run import Run
from longtail.storage import VerifiedFolder, open_folder, read_arrays, write_arrays, writing_folder
from longtail.systems import create
from longtail.systems.galaxc.config import GalaxcConfig, InitialConfig
from longtail.systems.galaxc.initial import WIDEST, Initial, TokenEmbeddings, encoded, given
from longtail.systems.galaxc.node_index import unit
from longtail.systems.galaxc.system import Galaxc
from longtail.text.config import TextConfig
from longtail.training.matrices import TrainingMatrices
from longtail.types import FIELDS, Dataset
from tests.planted import Parts
from tests.systems.galaxc.worlds import settings
from tests.tiny_encoders import write_syllables, write_transformer

RNG = np.random.default_rng(0)
# What half precision can represent: saving changes nothing.
TOKENS = RNG.standard_normal((6, 4)).astype(np.float16).astype(np.float32)
BY_TOKENS = Initial(TokenEmbeddings(TOKENS))
X = csr_array(np.array([[1, 0, 2, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 3]], np.float32))
TEXTS = ["one", "", "three"]


def config_of(**initial: Any) -> GalaxcConfig:
    return GalaxcConfig(initial=InitialConfig(**initial))


def matrices_of(data: Dataset) -> TrainingMatrices:
    return TrainingMatrices.of(data, TextConfig(kind="word"), FIELDS, Run())


def folder_with(tmp_path: Path, initial: Initial) -> VerifiedFolder:
    with writing_folder(tmp_path / "model") as folder:
        (folder / "other.json").write_text("{}")
        initial.save(folder / "initial")
    return open_folder(tmp_path / "model")


def test_tokens_are_added_up() -> None:
    found = BY_TOKENS(X, TEXTS)
    assert found.dtype == np.float32
    first = TOKENS[0] + 2 * TOKENS[2]
    np.testing.assert_allclose(found[0], first / np.linalg.norm(first), atol=1e-6)
    np.testing.assert_allclose(found[2], TOKENS[5] / np.linalg.norm(TOKENS[5]), atol=1e-6)
    # Without a token there is no direction.
    assert found[1].tolist() == [0, 0, 0, 0]


def test_rows_may_be_embeddings_themselves() -> None:
    root = np.sqrt(0.2)
    np.testing.assert_allclose(
        Initial()(X, TEXTS), [[root, 0, 2 * root, 0, 0, 0], [0] * 6, [0, 0, 0, 0, 0, 1]], rtol=1e-6
    )


def test_an_encoder_reads_texts_and_not_rows(tmp_path: Path) -> None:
    encoder = TextEncoder.of(write_transformer(tmp_path))
    texts = ["red apple", "", "pear"]
    found = Initial(encoder=encoder)(X, texts)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found, unit(encoder(texts)), atol=1e-6)


def test_a_document_is_the_same_alone() -> None:
    together = BY_TOKENS(X, TEXTS)
    for row in range(3):
        assert (BY_TOKENS(X[[row]], [TEXTS[row]])[0] == together[row]).all()


# --- where they come from -------------------------------------------------------------------------------------


def test_feature_rows_are_given_and_texts_are_not() -> None:
    matrix = Dataset.from_matrix(X, csr_array(np.eye(3, dtype=np.float32)))
    assert given(matrices_of(matrix)).tokens is None
    texts = Dataset.from_texts(["red", "blue"], [["a"], ["b"]])
    with pytest.raises(UsageError, match="needs a feature row for each document"):
        given(matrices_of(texts))
    wide = csr_array((np.ones(3, np.float32), ([0, 1, 2], [0, 1, WIDEST])), shape=(3, WIDEST + 1))
    with pytest.raises(UsageError, match=f"feature rows of {WIDEST + 1} columns are too wide"):
        given(matrices_of(Dataset.from_matrix(wide, csr_array(np.eye(3, dtype=np.float32)))))


def test_an_encoder_needs_texts_and_a_folder(tmp_path: Path) -> None:
    config = config_of(source="encoder", encoder=str(tmp_path))
    matrix = Dataset.from_matrix(X, csr_array(np.eye(3, dtype=np.float32)))
    with pytest.raises(ConfigError, match="reads text, but the documents are feature rows"):
        encoded(matrices_of(matrix), config)
    with pytest.raises(UsageError, match="is no folder of a transformer"):
        encoded(matrices_of(Dataset.from_texts(["red", "blue"], [["a"], ["b"]])), config)


# --- model folders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["surrogate", "labels"])
def test_tokens_survive_a_model_folder(tmp_path: Path, source: str) -> None:
    folder = folder_with(tmp_path, BY_TOKENS)
    loaded = Initial.load(folder.sub("initial"), config_of(source=source), columns=6, width=4)
    assert loaded.tokens is not None
    assert (loaded(X, TEXTS) == BY_TOKENS(X, TEXTS)).all()


def test_tokens_have_half_precision_before_they_are_saved_too(tmp_path: Path) -> None:
    tokens = RNG.standard_normal((6, 4)).astype(np.float32)
    made = Initial(TokenEmbeddings(tokens))
    folder = folder_with(tmp_path, made)
    loaded = Initial.load(folder.sub("initial"), config_of(source="labels"), columns=6, width=4)
    assert (loaded(X, TEXTS) == made(X, TEXTS)).all()
    np.testing.assert_allclose(made(X, TEXTS), Initial()(csr_array(X @ tokens), TEXTS), atol=1e-3)
    assert read_arrays(folder.path("initial/tokens.safetensors"))["tokens"].dtype == np.float16


def test_an_encoder_survives_a_model_folder(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    place = str(write_transformer(tmp_path / "made"))
    config = config_of(source="encoder", encoder=place)
    initial = encoded(matrices_of(Dataset.from_texts(["red", "pear"], [["a"], ["b"]])), config)
    folder = folder_with(tmp_path, initial)
    loaded = Initial.load(folder.sub("initial"), config, columns=6, width=4)
    assert loaded.tokens is None
    texts = ["red apple", "", "pear"]
    assert (loaded(X, texts) == initial(X, texts)).all()


def test_an_encoder_is_trained_on_label_texts_first(tmp_path: Path, tiny: Parts) -> None:
    (tmp_path / "made").mkdir()
    place = str(write_syllables(tmp_path / "made"))
    initial = {"source": "encoder", "encoder": place, "pretrain": 1}
    model = create("galaxc", settings(initial=initial, calibrate="none")).fit(tiny.train)
    assert isinstance(model, Galaxc)
    texts = tiny.test.documents.joined()[:5]
    vectors = model.initial_(X, texts)
    plain = TextEncoder.of(place)(texts)
    assert np.abs(vectors - plain / np.linalg.norm(plain, axis=1, keepdims=True)).max() > 1e-3
    model.save(tmp_path / "model")
    loaded = longtail.load(tmp_path / "model")
    assert isinstance(loaded, Galaxc)
    np.testing.assert_allclose(loaded.initial_(X, texts), vectors, atol=1e-6)
    assert (
        loaded.predict(tiny.test.documents).indices.tolist()
        == model.predict(tiny.test.documents).indices.tolist()
    )


def test_given_rows_need_nothing_in_the_folder(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, Initial())
    loaded = Initial.load(folder.sub("initial"), config_of(source="given"), columns=6, width=6)
    assert (loaded.tokens, loaded.encoder) == (None, None)


def test_tokens_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, BY_TOKENS).sub("initial")
    for columns, width in ((7, 4), (6, 5)):
        with pytest.raises(ModelIntegrityError, match=r"tokens is \(6, 4\), but must be"):
            Initial.load(folder, config_of(source="labels"), columns=columns, width=width)
    with pytest.raises(ModelIntegrityError, match="the initial embeddings are missing"):
        Initial.load(None, config_of(source="labels"), columns=6, width=4)
    with pytest.raises(ModelIntegrityError, match="feature rows have 6 columns, but the classifiers 4"):
        Initial.load(folder, config_of(source="given"), columns=6, width=4)


@pytest.mark.parametrize(
    "arrays",
    [
        {"other": TOKENS},
        {"tokens": TOKENS.astype(np.float64)},
        {"tokens": TOKENS.ravel()},
        {"tokens": np.full((6, 4), np.nan, np.float32)},
    ],
)
def test_damaged_tokens_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    with writing_folder(tmp_path / "model") as folder:
        (folder / "initial").mkdir()
        write_arrays(folder / "initial" / "tokens.safetensors", arrays)
    part = open_folder(tmp_path / "model").sub("initial")
    with pytest.raises(ModelIntegrityError, match=r"tokens\.safetensors"):
        Initial.load(part, config_of(source="surrogate"), columns=6, width=4)
