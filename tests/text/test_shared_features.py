"""Vocabularies of a model folder: equal ones have one copy, and loading gives one object per name."""

from __future__ import annotations

from pathlib import Path

import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import open_folder
from longtail.storage.manifest import write_manifest
from longtail.text.config import TextConfig
from longtail.text.shared_features import FOLDER, FeatureReader, FeatureWriter
from longtail.text.tfidf import TfidfFeatures

TEXTS = ["red apple", "green pear", "red pear"]
CONFIGS = [
    TextConfig(kind="word"),
    TextConfig(kind="word", sublinear_tf=True),
    TextConfig(kind="word", char_ngrams=(3, 4)),
    TextConfig(kind="wordpiece", wordpiece_vocab_size=30),
]


def fitted(config: TextConfig, texts: list[str] = TEXTS) -> TfidfFeatures:
    features = TfidfFeatures(config)
    features.fit_transform(texts, [])
    return features


def reader_of(folder: Path) -> FeatureReader:
    write_manifest(folder)
    return FeatureReader(open_folder(folder))


@pytest.mark.parametrize("config", CONFIGS, ids=repr)
def test_equal_vocabularies_have_one_copy(config: TextConfig, tmp_path: Path) -> None:
    writer = FeatureWriter(tmp_path)
    name = writer.save(fitted(config))
    assert writer.save(fitted(config)) == name
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [name]


def test_vocabularies_that_differ_have_names_of_their_own(tmp_path: Path) -> None:
    writer = FeatureWriter(tmp_path)
    made = [fitted(config) for config in CONFIGS]
    made.append(fitted(CONFIGS[0], [*TEXTS, "plum"]))
    # The same terms with other weights are another vocabulary too.
    made.append(fitted(CONFIGS[0], [*TEXTS, "red"]))
    names = [writer.save(features) for features in made]
    assert len(set(names)) == len(names)
    reader = reader_of(tmp_path)
    for name, features in zip(names, made, strict=True):
        assert (reader.load(name).transform(TEXTS) != features.transform(TEXTS)).nnz == 0


def test_one_object_per_name(tmp_path: Path) -> None:
    name = FeatureWriter(tmp_path).save(fitted(CONFIGS[0]))
    reader = reader_of(tmp_path)
    assert reader.load(name) is reader.load(name)
    assert reader_of(tmp_path).load(name) is not reader.load(name)


@pytest.mark.parametrize("config", CONFIGS, ids=repr)
def test_a_loaded_vocabulary_is_saved_under_the_same_name(config: TextConfig, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    name = FeatureWriter(tmp_path / "one").save(fitted(config))
    again = reader_of(tmp_path / "one").load(name)
    assert FeatureWriter(tmp_path / "two").save(again) == name
    files = [
        {file.name: file.read_bytes() for file in (tmp_path / part / FOLDER / name).iterdir()}
        for part in ("one", "two")
    ]
    assert files[0] == files[1]


def test_a_vocabulary_that_is_not_there_is_named(tmp_path: Path) -> None:
    FeatureWriter(tmp_path).save(fitted(CONFIGS[0]))
    reader = reader_of(tmp_path)
    with pytest.raises(ModelIntegrityError, match="the text features 'other' are missing"):
        reader.load("other")
    for name in (None, 3, ["x"]):
        with pytest.raises(ModelIntegrityError, match="is not the name of text features"):
            reader.load(name)


@pytest.mark.parametrize("name", ["", ".", "..", "../features", "/etc"])
def test_a_name_never_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    FeatureWriter(tmp_path).save(fitted(CONFIGS[0]))
    with pytest.raises(ModelIntegrityError):
        reader_of(tmp_path).load(name)
