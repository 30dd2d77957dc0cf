"""Training from start to end: steps, what validation data choose, and a training that was stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from longtail.blocks.pooled_states import PooledStates
from longtail.blocks.transformer import Transformer
from longtail.errors import UsageError
from longtail.run import Phase, Run
from longtail.systems import create
from longtail.systems.dual.system import Dual
from longtail.systems.xgrank.model import Network
from longtail.systems.xgrank.system import Xgrank
from longtail.systems.xgrank.train import (
    Trained,
    label_bags,
    retriever_of,
    train,
    train_model,
)
from longtail.text.feature_store import FeatureStore
from longtail.text.pretrained import EncoderFolder
from longtail.text.subwords import Subwords
from longtail.types import Dataset, LabelSet
from tests.planted import Parts
from tests.systems.xgrank.worlds import config, context, store
from tests.tiny_encoders import WIDTH


def trained_on(
    place: Path, data: Dataset, valid: Dataset | None, run: Run | None = None, **more: object
) -> Trained:
    return train(data, valid, config(place, **more), run or Run(), FeatureStore(data.documents))


def test_label_texts_as_tokens(encoder: Path, tiny: Parts) -> None:
    subwords = Subwords(EncoderFolder.of(encoder), 24)
    plain = subwords(tiny.train.documents.joined(), special=False)
    Z, idf = label_bags(context(encoder, tiny.train), subwords, plain)
    assert Z is not None
    assert idf is not None
    assert Z.shape == (len(tiny.train.labels), subwords.size)
    mean, none = label_bags(context(encoder, tiny.train, labels={"weights": "mean"}), subwords, plain)
    assert none is None
    assert mean is not None
    assert np.asarray(mean.sum(axis=1)) == pytest.approx(np.ones(mean.shape[0]))
    assert label_bags(context(encoder, tiny.train, labels={"text": False}), subwords, plain) == (None, None)
    silent = replace(tiny.train, labels=LabelSet(tiny.train.labels.ids, [""] * 40))
    assert label_bags(context(encoder, silent), subwords, plain) == (None, None)


def test_one_model(encoder: Path, tiny: Parts) -> None:
    shared = context(encoder, tiny.train)
    model = train_model(shared, 0, str(encoder), tiny.valid)
    assert model.ranker.labels.shape == (40, 32 + WIDTH)
    assert model.retriever is not None
    assert len(model.retriever.classifiers) == 8
    assert any("documents without labels: 1" in message for message in shared.run.messages)
    assert {"tokens", "clusters", "train"} <= shared.run.seconds.keys()
    assert not model.pooled.encoder.training
    again = train_model(context(encoder, tiny.train), 0, str(encoder), tiny.valid)
    assert (again.ranker.labels == model.ranker.labels).all()
    other = train_model(context(encoder, tiny.train), 1, str(encoder), tiny.valid)
    assert other.retriever is not None
    assert (other.retriever.cluster_of != model.retriever.cluster_of).any()


def test_the_export_gives_what_the_network_gives(encoder: Path, tiny: Parts) -> None:
    """But for the rounding of large matrices to float16."""
    model = train_model(
        context(encoder, tiny.train, labels={"width": 16, "bag": False}), 0, str(encoder), None
    )
    tokens = model.subwords(["bade fi"]).take(np.arange(1))
    with torch.no_grad():
        pooled = model.pooled(tokens)
        ranked = pooled.numpy() @ model.ranker.project.T + model.ranker.bias
    vectors = model.encode(store(["bade fi"]))
    np.testing.assert_allclose(vectors.ranked, ranked, atol=1e-6)
    np.testing.assert_allclose(vectors.pooled[:, :-1], pooled.numpy(), atol=1e-6)
    assert all((array == array.astype(np.float16)).all() for array in model.pooled.encoder.arrays().values())


def test_the_bias_of_the_retriever_is_a_column(encoder: Path) -> None:
    network = Network(
        PooledStates(Transformer.of(EncoderFolder.of(encoder)), 2, "cls"), clusters=3, width=8, dropout=0.0
    )
    found = retriever_of(network, np.zeros(4, np.int64))
    assert network.retrieve is not None
    assert found is not None
    torch.testing.assert_close(torch.from_numpy(found.classifiers[:, -1]), network.retrieve.bias.detach())


def test_two_clusterings_are_combined_by_validation(encoder: Path, tiny: Parts) -> None:
    run = Run()
    clusters = {"size": 4, "beam": 4, "clusterings": 2}
    found = trained_on(encoder, tiny.train, tiny.valid, run, clusters=clusters)
    first, second = (model.retriever for model in found.predictor.models)
    assert first is not None
    assert second is not None
    assert (first.cluster_of != second.cluster_of).any()
    assert any("combination of the models: " in message for message in run.messages)
    assert found.predictor.curve.is_logistic
    assert {"train", "train 2"} <= run.seconds.keys()


def test_a_fixed_combination_is_taken_as_it_is(encoder: Path, tiny: Parts) -> None:
    names = [str(encoder)] * 2
    found = trained_on(
        encoder,
        tiny.train,
        None,
        encoder={"names": names, "tokens": 24, "frozen": None},
        combine="zscore",
    )
    assert found.predictor.combine == "zscore"
    assert found.recall == {}


@pytest.mark.parametrize("empty", [False, True])
def test_without_validation_data_all_documents_train(encoder: Path, tiny: Parts, empty: bool) -> None:
    run = Run()
    valid = tiny.valid.take([]) if empty else None
    found = trained_on(encoder, tiny.train, valid, run)
    assert not any("held out" in message for message in run.messages)
    assert "combination" not in run.seconds
    assert found.predictor.curve.is_logistic


class Stopped(Run):
    """Is killed after so many steps."""

    steps = 0

    def on_advance(self, phase: Phase, note: str) -> None:
        self.steps += phase.name == "train"
        if self.steps > 8:
            raise KeyboardInterrupt


def test_a_training_that_was_stopped_goes_on_to_the_same_model(
    encoder: Path, tiny: Parts, trained: Xgrank, tmp_path: Path
) -> None:
    place = tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        Xgrank(config(encoder)).fit(tiny.train, valid=tiny.valid, run=Stopped(checkpoints=place))
    again = Xgrank(config(encoder)).fit(tiny.train, valid=tiny.valid, run=Run(checkpoints=place, resume=True))
    (one,), (other,) = trained.predictor_.models, again.predictor_.models
    assert (one.ranker.labels == other.ranker.labels).all()
    weights = other.pooled.encoder.arrays()
    assert all((array == weights[name]).all() for name, array in one.pooled.encoder.arrays().items())


def test_a_training_that_was_stopped_is_not_gone_on_with_other_settings(
    encoder: Path, tiny: Parts, tmp_path: Path
) -> None:
    place = tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        Xgrank(config(encoder)).fit(tiny.train, valid=tiny.valid, run=Stopped(checkpoints=place))
    with pytest.raises(UsageError, match="calibrate was 'isotonic' and is 'none' now"):
        Xgrank(config(encoder, calibrate="none")).fit(
            tiny.train, valid=tiny.valid, run=Run(checkpoints=place, resume=True)
        )


def test_an_encoder_is_trained_on_label_texts_first(encoder: Path, tiny: Parts) -> None:
    frozen = {"names": [str(encoder)], "tokens": 24, "frozen": 2}
    plain = train_model(context(encoder, tiny.train, encoder={**frozen, "pretrain": 0}), 0, str(encoder), None)
    shared = context(encoder, tiny.train, encoder={**frozen, "pretrain": 1})
    trained = train_model(shared, 0, str(encoder), None)
    before, after = plain.pooled.encoder.arrays(), trained.pooled.encoder.arrays()
    assert any((before[name] != after[name]).any() for name in before)
    assert "dual encoder" in shared.run.seconds
    assert (plain.ranker.labels[:, 32:] != trained.ranker.labels[:, 32:]).any()


def test_an_encoder_that_dual_has_trained_gives_the_same_model(
    encoder: Path, tiny: Parts, tmp_path: Path
) -> None:
    settings = {"name": str(encoder), "tokens": 24, "train": {"epochs": 1}}
    dual = create("dual", {"encoder": settings, "calibrate": "none"}).fit(tiny.train)
    assert isinstance(dual, Dual)
    dual.predictor_.encoder.write_encoder(tmp_path / "trained")
    frozen = {"tokens": 24, "frozen": 2}
    first = {**frozen, "names": [str(encoder)], "pretrain": 1}
    then = {**frozen, "names": [str(tmp_path / "trained")], "pretrain": 0}
    one = train_model(context(encoder, tiny.train, encoder=first), 0, first["names"][0], None)
    other = train_model(context(encoder, tiny.train, encoder=then), 0, then["names"][0], None)
    weights = other.pooled.encoder.arrays()
    assert all((array == weights[name]).all() for name, array in one.pooled.encoder.arrays().items())
    assert (one.ranker.labels == other.ranker.labels).all()
