from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.prepared.features import FOLDER, PreparedFeatures, described, key_of, write_features
from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore, TfidfSettings
from tests.planted import Parts

SETTINGS = TfidfSettings(TextConfig(ngrams=(1, 2), title_share="auto"), ("title", "text"), ("a label",))


@pytest.fixture
def prepared(tiny: Parts, tmp_path: Path) -> PreparedFeatures:
    key = key_of(SETTINGS)
    write_features(tiny.train, SETTINGS, tmp_path / FOLDER / key)
    return PreparedFeatures(tmp_path, {key: described(SETTINGS)}, "known")


def test_features_are_those_of_the_texts(prepared: PreparedFeatures, tiny: Parts) -> None:
    features, rows = FeatureStore(tiny.train.documents, tiny.train.Y).fit_tfidf(*SETTINGS)
    store = FeatureStore(replace(tiny.train.documents, prepared=prepared), tiny.train.Y)
    found, mapped = store.fit_tfidf(*SETTINGS)
    assert found.digest == features.digest
    assert (mapped != rows).nnz == 0
    assert np.array_equal(mapped.indptr, rows.indptr)
    # Who asks for rows of this vocabulary gets the same ones.
    assert store.tfidf(found, SETTINGS.fields) is mapped


def test_other_settings_are_named(prepared: PreparedFeatures) -> None:
    with pytest.raises(UsageError, match=r"other text settings \(other min_df\): run longtail prepare again"):
        prepared.tfidf(replace(SETTINGS.config, min_df=3), SETTINGS.fields, SETTINGS.label_texts)
    with pytest.raises(UsageError, match=r"other fields, label texts"):
        prepared.tfidf(SETTINGS.config, ("title",), ())


def test_the_fingerprint_is_known_for_the_part_itself(prepared: PreparedFeatures, tiny: Parts) -> None:
    train = replace(tiny.train, documents=replace(tiny.train.documents, prepared=prepared))
    assert train.fingerprint() == tiny.train.fingerprint()
    prepared.data.append(train)
    assert train.fingerprint() == "known"
    assert train.take(range(5)).fingerprint() == tiny.train.take(range(5)).fingerprint()
