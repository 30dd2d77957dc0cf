"""Whole training runs: what they depend on, what they yield, and how a stopped one is resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.cli.main import main
from longtail.data.writing import write
from longtail.errors import UsageError
from longtail.run import Run
from longtail.shortlist.embedding import Embedding
from longtail.systems.eclare import train
from longtail.systems.eclare.inputs import Inputs
from longtail.systems.eclare.predict import Weights
from longtail.systems.eclare.system import Eclare
from longtail.text.feature_store import FeatureStore
from longtail.training.fingerprint import fingerprint
from longtail.training.validation import metrics_of_products
from tests.planted import Parts
from tests.systems.eclare.worlds import (
    config_of,
    context_of,
    folder_bytes,
    predictor_of,
    settings,
    with_labels_of_others,
)

ROOT = Path(__file__).parents[3]


def trained(data: Parts, run: Run, *, valid: bool = True, **other: Any) -> tuple[Inputs, list[Weights]]:
    store = FeatureStore(data.train.documents)
    return train.train_models(data.train, data.valid if valid else None, config_of(**other), run, store)


def test_validation_labels_choose_the_epoch_and_nothing_else(tiny: Parts) -> None:
    one, other = (
        predictor_of(Eclare(**settings(epochs=1)).fit(tiny.train, valid=valid)).weights.arrays()
        for valid in (tiny.valid, with_labels_of_others(tiny.valid))
    )
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_with_validation_data_the_best_epoch_is_kept(tiny: Parts) -> None:
    seen: list[float] = []

    class Listener(Run):
        def on_advance(self, phase: Any, note: str) -> None:
            if phase.name == "rank" and "P@1" in note:
                seen.append(float(note.rsplit(" ", 1)[1]))

    # A rate at which epochs go up and down.
    wild: dict[str, Any] = {
        "label_documents": "none",
        "stages": {"rank": {"epochs": 8, "lr": 2.0, "schedule": "constant", "watch": "P@1"}},
    }
    context = replace(context_of(tiny, **wild), run=Listener())
    validation = context.validation
    assert validation is not None
    ranker = train.train_ranker(context, train.embed(context), None)
    network = ranker.network
    documents = Embedding(ranker.tokens.weight.numpy(), network.document.exported().numpy())(validation.X)
    classifiers, _ = network.export_classifiers(
        ranker.targets.texts, ranker.tokens, ranker.refinement, ranker.targets.counts
    )
    assert len(set(seen)) > 1
    assert metrics_of_products(documents, classifiers, validation)["P@1"] >= max(seen) - 0.01
    assert seen[-1] < max(seen)


def test_without_validation_data_all_documents_are_trained_on_and_the_last_epoch_is_kept(tiny: Parts) -> None:
    run = Run()
    inputs, (weights,) = trained(tiny, run, valid=False)
    assert inputs.X.shape[0] == len(tiny.train)
    assert len(run.messages) == 1
    assert run.messages[0].startswith("clusters: 8 (mutual information lost: ")
    # Validation data that prefer the last epoch give the same weights.
    last = {"stages": {"rank": {"validate_every": 2}}}
    _, (other,) = trained(tiny, Run(), **last)
    assert all(np.array_equal(array, getattr(other, name)) for name, array in weights.arrays().items())


def test_the_phases_are_named(tiny: Parts) -> None:
    run = Run()
    trained(tiny, run, epochs=1, embed_on="clusters")
    assert list(run.seconds) == [
        "features",
        "graph",
        "clusters",
        "embed",
        "shortlist",
        "negatives",
        "rank",
        "export",
    ]
    assert run.in_stages


def test_all_that_the_result_depends_on_is_in_the_fingerprint(tiny: Parts) -> None:
    config = config_of()
    first = fingerprint(tiny.train, tiny.valid, config)
    assert fingerprint(tiny.train, tiny.valid, config_of()) == first
    others = [
        fingerprint(tiny.train, None, config),
        fingerprint(tiny.train, with_labels_of_others(tiny.valid), config),
        fingerprint(with_labels_of_others(tiny.train), tiny.valid, config),
        fingerprint(tiny.train, tiny.valid, config_of(seed=1)),
        fingerprint(tiny.train, tiny.valid, config_of(game={"mix": 0.1})),
    ]
    assert all(other != first for other in others)


# --- resuming -------------------------------------------------------------------------------------------------


def test_a_run_that_stops_in_any_stage_ends_the_same(tiny: Parts, tmp_path: Path) -> None:
    class Stopped(Run):
        def __init__(self, stage: str, **more: Any) -> None:
            super().__init__(**more)
            self.stage = stage

        def on_advance(self, phase: Any, note: str) -> None:
            if phase.name == self.stage and phase.done == 4:
                raise KeyboardInterrupt

    def model() -> Eclare:
        return Eclare(**settings(models=2))

    model().fit(tiny.train, valid=tiny.valid).save(tmp_path / "whole")
    kept = tmp_path / "kept"
    for number, stage in enumerate(("embed", "shortlist", "rank", "embed-2", "shortlist-2", "rank-2")):
        with pytest.raises(KeyboardInterrupt):
            model().fit(tiny.train, valid=tiny.valid, run=Stopped(stage, checkpoints=kept, resume=number > 0))
    with pytest.raises(UsageError, match=r"settings\.dropout was 0\.2 and is 0\.1 now"):
        Eclare(**settings(models=2, dropout=0.1)).fit(
            tiny.train, valid=tiny.valid, run=Run(checkpoints=kept, resume=True)
        )
    run = Run(checkpoints=kept, resume=True)
    model().fit(tiny.train, valid=tiny.valid, run=run).save(tmp_path / "resumed")
    assert sum("is finished" in message for message in run.messages) == 5
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "resumed")


@pytest.fixture
def folder(tiny: Parts, tmp_path: Path) -> Path:
    place = tmp_path / "data"
    write({"train": tiny.train, "valid": tiny.valid}, place, format="jsonl")
    return place


def test_a_training_that_is_killed_is_resumed_to_the_same_model(folder: Path, tmp_path: Path) -> None:
    """As a user does it: SIGKILL in the middle of the last stage, then --resume."""
    config = tmp_path / "settings.toml"
    config.write_text(
        'system = "eclare"\nwidth = 16\ntext.kind = "word"\nscore = "product"\n'
        "shortlist.exact_below = 0\nshortlist.clusters = 8\n"
        + "".join(
            f"[stages.{stage}]\nepochs = {epochs}\nlr = 0.02\nbatch_size = 8\n"
            for stage, epochs in (("embed", 1), ("shortlist", 1), ("rank", 10))
        )
    )
    options = ["train", str(folder), "--config", str(config), "--jobs", "1", "-q"]
    assert main([*options, "-o", str(tmp_path / "whole")]) == 0
    options += ["-o", str(tmp_path / "model")]
    stage = tmp_path / "model.checkpoints" / "rank"
    with subprocess.Popen([sys.executable, "-m", "longtail", *options], cwd=ROOT, env=os.environ) as process:
        while process.poll() is None and not list(stage.glob("epoch-*")):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (stage / "final").exists()
    assert not (tmp_path / "model").exists()
    assert main([*options, "--resume"]) == 0
    assert folder_bytes(tmp_path / "model") == folder_bytes(tmp_path / "whole")
    assert not stage.exists()
