"""Whole trainings: what they depend on, what they leave, and how a stopped one is resumed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.cli.main import main
from longtail.data import warm_start
from longtail.data.writing import write
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.galaxc.system import Galaxc
from longtail.systems.galaxc.train import Trained, train
from longtail.text.feature_store import FeatureStore
from longtail.training.fingerprint import fingerprint
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.galaxc.worlds import config_of, encoded_of, folder_bytes, queries_of, settings

ROOT = Path(__file__).parents[3]


def shuffled(data: Dataset) -> Dataset:
    """The same documents with the labels of others."""
    return replace(data, Y=csr_array(data.Y[np.roll(np.arange(len(data)), 7)]))


def trained_on(data: Dataset, valid: Dataset | None, run: Run | None = None, **other: Any) -> Trained:
    return train(data, valid, config_of(**other), run or Run(), FeatureStore(data.documents))


def saved_bytes(place: Path, train: Dataset, **other: Any) -> dict[str, bytes]:
    Galaxc(**settings(**{"epochs": 1, **other})).fit(train).save(place)
    return folder_bytes(place)


# --- what a training depends on -------------------------------------------------------------------------------


def test_validation_labels_choose_the_epoch_and_nothing_else(tiny: Parts) -> None:
    one, other = (
        trained_on(tiny.train, valid, epochs=1).predictor.weights.arrays()
        for valid in (tiny.valid, shuffled(tiny.valid))
    )
    assert {name for name in one if not np.array_equal(one[name], other[name])} == set()


def test_without_validation_data_all_documents_are_trained_on(tiny: Parts) -> None:
    trained = trained_on(tiny.train, None, epochs=1)
    assert trained.matrices.X.shape[0] == len(trained.predictor.nodes.ids) == len(tiny.train)


def test_the_phases_are_named(tiny: Parts) -> None:
    run = Run()
    trained_on(tiny.train, tiny.valid, run, epochs=1)
    assert list(run.seconds) == [
        "features",
        "clusters",
        "surrogate",
        "initial embeddings",
        "graph",
        "neighbours",
        "joint",
        "export",
        "negatives",
        "refine",
    ]
    assert run.in_stages
    run = Run()
    trained_on(tiny.train, None, run, epochs=1, negatives={"hard": 0}, initial={"source": "labels"})
    assert list(run.seconds)[:4] == ["features", "label graph", "embed", "rank"]
    assert not {"negatives", "refine"} & set(run.seconds)


def test_without_hard_negatives_module_one_is_all(tiny: Parts) -> None:
    short, long = (
        trained_on(tiny.train, None, epochs=1, negatives={"hard": hard}).predictor.weights.arrays()
        for hard in (0, 3)
    )
    differ = {name for name in short if not np.array_equal(short[name], long[name])}
    assert differ == {"classifiers", "attention"}


def test_all_that_the_result_depends_on_is_in_the_fingerprint(tiny: Parts) -> None:
    config = config_of()
    first = fingerprint(tiny.train, tiny.valid, config)
    assert fingerprint(tiny.train, tiny.valid, config_of()) == first
    others = [
        fingerprint(tiny.train, None, config),
        fingerprint(tiny.train, shuffled(tiny.valid), config),
        fingerprint(shuffled(tiny.train), tiny.valid, config),
        fingerprint(tiny.train, tiny.valid, config_of(seed=1)),
        fingerprint(tiny.train, tiny.valid, config_of(graph={"neighbours": 5})),
    ]
    assert all(other != first for other in others)


# --- warm start: hidden labels are not trained on --------------------------------------------------------


def with_other_hidden(warm: warm_start.WarmStart) -> Dataset:
    """Test documents with the same revealed labels, and others as the hidden ones."""
    revealed = warm.test.revealed
    assert revealed is not None
    moved = np.roll(warm.test.Y.toarray(), 1, axis=1)
    return replace(warm.test, Y=csr_array(np.where(revealed.toarray() > 0, 0, moved).astype(np.float32)))


@pytest.mark.parametrize("inductive", [False, True])
def test_hidden_labels_leave_no_trace_in_the_model(tiny: Parts, tmp_path: Path, inductive: bool) -> None:
    warm = warm_start.protocol(tiny.train, tiny.test, seed=0, inductive=inductive)
    other = with_other_hidden(warm)
    assert (other.Y != warm.test.Y).nnz > 0
    # On disk, as a user has them: the hidden labels of the test file are changed, or are not there at all.
    nothing = replace(warm.test, Y=csr_array(warm.test.Y.shape, dtype=np.float32))
    found = []
    for name, test in (("first", warm.test), ("other", other), ("none", nothing)):
        write({"train": warm.train, "test": test}, tmp_path / name, format="jsonl")
        options = [
            "train",
            str(tmp_path / name),
            "--config",
            str(written_settings(tmp_path)),
            "--jobs",
            "1",
            "-q",
        ]
        assert main([*options, "-o", str(tmp_path / f"{name}-model")]) == 0
        found.append(folder_bytes(tmp_path / f"{name}-model"))
    assert found[0] == found[1] == found[2]


def written_settings(folder: Path) -> Path:
    """The settings as a file."""
    path = folder / "settings.toml"
    stage = "{epochs = 1, lr = 0.02, batch_size = 64}"
    path.write_text(
        f"""system = "galaxc"
width = 16
text.kind = "word"
initial.source = "surrogate"
initial.clusters = 8
initial.surrogate = {stage}
negatives = {{hard = 3, random = 20}}
stages.joint = {stage}
stages.refine = {stage}
"""
    )
    return path


def test_in_the_paper_s_protocol_test_documents_are_nodes_with_revealed_labels_alone(tiny: Parts) -> None:
    warm = warm_start.protocol(tiny.train, tiny.test, seed=0)
    model = Galaxc(**settings(epochs=1)).fit(warm.train)
    index = model.predictor_.nodes
    queries = queries_of(model, warm.test.documents)
    nodes = index.nodes_of(warm.test.documents.ids, queries.vectors)
    assert (nodes >= 0).mean() > 0.95
    known = index.labels_of[nodes[nodes >= 0]].toarray()
    assert warm.test.revealed is not None
    assert np.array_equal(known, warm.test.revealed.toarray()[nodes >= 0])
    # Its own node is none of its neighbours, so that its revealed labels reach it as those alone.
    near, _ = index.near(queries.vectors, 4, queries.nodes)
    assert (near != nodes[:, None])[nodes >= 0].all()


# --- stops ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["surrogate", "labels"])
def test_a_run_that_stops_in_any_stage_ends_the_same(tiny: Parts, tmp_path: Path, source: str) -> None:
    class Stopped(Run):
        def __init__(self, stage: str, **more: Any) -> None:
            super().__init__(**more)
            self.stage = stage

        def on_advance(self, phase: Any, note: str) -> None:
            if phase.name == self.stage and phase.done == 4 and note:
                raise KeyboardInterrupt

    def model(**other: Any) -> Galaxc:
        return Galaxc(**settings(initial={"source": source}, **other))

    model().fit(tiny.train, valid=tiny.valid).save(tmp_path / "whole")
    kept = tmp_path / "kept"
    first = ("surrogate",) if source == "surrogate" else ("embed", "rank")
    stages = (*first, "joint", "refine")
    for number, stage in enumerate(stages):
        with pytest.raises(KeyboardInterrupt):
            model().fit(tiny.train, valid=tiny.valid, run=Stopped(stage, checkpoints=kept, resume=number > 0))
    with pytest.raises(UsageError, match=r"settings\.graph\.neighbours was 4 and is 3 now"):
        model(graph={"neighbours": 3}).fit(
            tiny.train, valid=tiny.valid, run=Run(checkpoints=kept, resume=True)
        )
    run = Run(checkpoints=kept, resume=True)
    model().fit(tiny.train, valid=tiny.valid, run=run).save(tmp_path / "resumed")
    assert sum("is finished" in message for message in run.messages) == len(stages) - 1
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "resumed")


def test_a_training_that_is_killed_is_resumed_to_the_same_model(tiny: Parts, tmp_path: Path) -> None:
    """As a user does it: SIGKILL in the middle of Module I, then --resume."""
    write({"train": tiny.train, "valid": tiny.valid}, tmp_path / "data", format="jsonl")
    config = written_settings(tmp_path)
    few = "stages.joint = {epochs = 10, lr = 0.02, batch_size = 8}"
    config.write_text(re.sub("stages.joint = .*", few, config.read_text()))
    options = ["train", str(tmp_path / "data"), "--config", str(config), "--jobs", "1", "-q"]
    assert main([*options, "-o", str(tmp_path / "whole")]) == 0
    options += ["-o", str(tmp_path / "model")]
    stage = tmp_path / "model.checkpoints" / "joint"
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


def test_the_seed_alone_changes_the_bytes(tiny: Parts, tmp_path: Path) -> None:
    first = saved_bytes(tmp_path / "first", tiny.train)
    assert saved_bytes(tmp_path / "again", tiny.train) == first
    other = saved_bytes(tmp_path / "other", tiny.train, seed=1)
    assert other["weights.safetensors"] != first["weights.safetensors"]


def test_the_best_epoch_is_kept(tiny: Parts) -> None:
    seen: list[float] = []

    class Listener(Run):
        def on_advance(self, phase: Any, note: str) -> None:
            if phase.name == "joint" and "P@1" in note:
                seen.append(float(note.rsplit(" ", 1)[1]))

    wild: dict[str, Any] = {
        "stages": {"joint": {"epochs": 6, "lr": 3.0, "schedule": "constant", "watch": "P@1"}},
        "negatives": {"hard": 0},
        "graph": {"samples": 1},
    }
    model = Galaxc(**settings(**wild)).fit(tiny.train, valid=tiny.valid, run=Listener())
    assert seen[-1] < max(seen)
    best = encoded_of(model, tiny.valid.documents).top_k(1).indices[:, 0]
    found = 100 * np.mean([tiny.valid.Y[i, best[i]] > 0 for i in range(len(best))])
    assert found >= max(seen) - 2.5
