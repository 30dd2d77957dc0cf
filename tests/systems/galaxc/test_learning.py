"""The course of training: what it depends on, what it leaves, and how a stopped one goes on."""

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
from longtail.systems.common.fingerprint import fingerprint
from longtail.systems.galaxc import learning
from longtail.systems.galaxc.learning import half_of, incomplete, learn
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.galaxc.worlds import config_of, folder_bytes, settings

ROOT = Path(__file__).parents[3]


def shuffled(data: Dataset) -> Dataset:
    """The same documents with the labels of others."""
    return replace(data, Y=csr_array(data.Y[np.roll(np.arange(len(data)), 7)]))


def saved_bytes(place: Path, train: Dataset, **other: Any) -> dict[str, bytes]:
    Galaxc(**settings(**{"epochs": 1, **other})).fit(train).save(place)
    return folder_bytes(place)


# --- what there is to learn from ------------------------------------------------------------------------------


def test_validation_labels_teach_the_score_and_choose_the_epoch_and_nothing_else(tiny: Parts) -> None:
    one, other = (
        Galaxc(**settings(epochs=1)).fit(tiny.train, valid=valid).folded_.weights.arrays()
        for valid in (tiny.valid, shuffled(tiny.valid))
    )
    differ = {name for name in one if not np.array_equal(one[name], other[name])}
    assert differ == {"fusion_weights", "fusion_start", "warm_weights", "warm_start"}


def test_without_validation_data_some_documents_are_held_out(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learn(tiny.train, None, config_of(epochs=1), Run()).folded.fusion is None
    monkeypatch.setattr(learning, "ENOUGH_TO_HOLD_OUT", len(tiny.train))
    run = Run()
    trained = learn(tiny.train, None, config_of(epochs=1, linear=True), run)
    assert trained.folded.fusion is not None
    assert trained.witness is not None
    assert trained.rows.X.shape[0] == len(trained.folded.space.ids) == len(tiny.train) - 100
    assert run.messages[0] == (
        "no validation data: 100 training documents were held out to learn the score from"
    )
    paper = learn(tiny.train, None, config_of(epochs=1, score="classifier"), Run())
    assert paper.rows.X.shape[0] == len(tiny.train)


def test_the_phases_are_named(tiny: Parts) -> None:
    run = Run()
    learn(tiny.train, tiny.valid, config_of(epochs=1), run)
    stages = "features clusters surrogate embed graph neighbours joint fold negatives refine fusion"
    assert list(run.seconds) == stages.split()
    assert run.in_stages
    run = Run()
    learn(tiny.train, None, config_of(epochs=1, negatives={"hard": 0}, score="classifier"), run)
    assert not {"negatives", "refine", "fusion"} & set(run.seconds)


def test_without_hard_negatives_module_one_is_all(tiny: Parts) -> None:
    short, long = (
        learn(tiny.train, None, config_of(epochs=1, negatives={"hard": hard}), Run()).folded.weights.arrays()
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
        fingerprint(tiny.train, tiny.valid, config_of(graph={"links": 5})),
    ]
    assert all(other != first for other in others)


def test_about_half_of_each_document_s_labels_are_shown(tiny: Parts) -> None:
    Y = tiny.train.Y
    shown = half_of(Y, seed=3)
    assert np.diff(shown.indptr).tolist() == (np.diff(Y.indptr) // 2).tolist()
    assert csr_array(shown.multiply(Y)).nnz == shown.nnz
    assert (half_of(Y, seed=3) != shown).nnz == 0
    assert (half_of(Y, seed=4) != shown).nnz > 0


def test_labels_that_are_shown_do_not_teach_as_wrong_or_right(
    tiny: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[Any] = []
    original = learning.teach

    def listen(candidates: Any, evidence: Any, held: Any, balance: float) -> Any:
        taught.append(held)
        return original(candidates, evidence, held, balance)

    monkeypatch.setattr(learning, "teach", listen)
    pairs = csr_array((np.ones(1, np.float32), ([0], [tiny.valid.Y.indices[0]])), shape=tiny.valid.Y.shape)
    learn(tiny.train, replace(tiny.valid, filtered=pairs), config_of(epochs=1), Run())
    cold, warm = taught
    assert cold.Y.nnz == tiny.valid.Y.nnz - 1
    assert (np.diff(warm.Y.indptr) > 0).all()
    assert csr_array(warm.Y.multiply(warm.left_out)).nnz == 0
    several = np.diff(cold.Y.indptr) >= 2
    assert warm.Y.shape[0] == several.sum()
    assert warm.Y.nnz + csr_array(half_of(cold.Y, 0)).nnz == np.diff(cold.Y.indptr)[several].sum()


# --- warm start: nothing that is hidden is learnt from --------------------------------------------------------


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
linear = false
stages.joint = {stage}
stages.refine = {stage}
"""
    )
    return path


def test_in_the_paper_s_protocol_test_documents_are_nodes_with_revealed_labels_alone(tiny: Parts) -> None:
    warm = warm_start.protocol(tiny.train, tiny.test, seed=0)
    model = Galaxc(**settings(epochs=1)).fit(warm.train)
    space = model.folded_.space
    nodes = space.nodes_of(warm.test.documents.ids, model._embedded(warm.test.documents)[1])
    assert (nodes >= 0).mean() > 0.95
    known = space.labels_of[nodes[nodes >= 0]].toarray()
    assert warm.test.revealed is not None
    assert np.array_equal(known, warm.test.revealed.toarray()[nodes >= 0])
    # Its own node is none of its neighbours, so that its revealed labels reach it as those alone.
    queries = model._queries(warm.test.documents, None, None)
    near, _ = space.near(queries.vectors, 4, queries.nodes)
    assert (near != nodes[:, None])[nodes >= 0].all()


# --- stops ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["surrogate", "eclare"])
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
    with pytest.raises(UsageError, match=r"settings\.graph\.links was 4 and is 3 now"):
        model(graph={"links": 3}).fit(tiny.train, valid=tiny.valid, run=Run(checkpoints=kept, resume=True))
    run = Run(checkpoints=kept, resume=True)
    model().fit(tiny.train, valid=tiny.valid, run=run).save(tmp_path / "resumed")
    assert sum("is finished" in message for message in run.messages) == len(stages) - 1
    assert folder_bytes(tmp_path / "whole") == folder_bytes(tmp_path / "resumed")


def test_a_training_that_is_killed_goes_on_to_the_same_model(tiny: Parts, tmp_path: Path) -> None:
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
        "stages": {"joint": {"epochs": 8, "lr": 3.0, "schedule": "constant", "watch": "P@1"}},
        "negatives": {"hard": 0},
        "score": "classifier",
        "graph": {"samples": 1},
    }
    trained = learn(tiny.train, tiny.valid, config_of(**wild), Listener())
    assert seen[-1] < max(seen)
    model = Galaxc(**settings(**wild))
    model.labels_ = tiny.train.labels
    model.features_, model.initial_ = trained.rows.features, trained.initial
    model.folded_, model.witness_ = trained.folded, None
    queries = model._queries(tiny.valid.documents, None, None)
    best = trained.folded(queries).top_k(1).labels[:, 0]
    found = 100 * np.mean([tiny.valid.Y[i, best[i]] > 0 for i in range(len(best))])
    assert found >= max(seen) - 2.5


def test_some_documents_keep_half_of_their_labels(tiny: Parts) -> None:
    train = tiny.train
    less, chosen = incomplete(train, 20, seed=3)
    before, after = np.diff(train.Y.indptr), np.diff(less.Y.indptr)
    assert len(chosen) == 20
    assert (before[chosen] >= 2).all()
    assert (after[chosen] == before[chosen] // 2).all()
    others = np.setdiff1d(np.arange(len(train)), chosen)
    assert (less.Y[others] != train.Y[others]).nnz == 0
    assert (less.Y.multiply(train.Y.astype(bool)) != less.Y).nnz == 0
    everything, every = incomplete(train, 10**6, seed=3)
    assert len(every) == np.count_nonzero(before >= 2)
    assert everything.Y.nnz < train.Y.nnz


def test_documents_of_the_graph_have_a_score_of_their_own(tiny: Parts) -> None:
    model = Galaxc(**settings(complete=30)).fit(tiny.train, valid=tiny.valid)
    folded = model.folded_
    assert folded.known_fusion is not None
    assert folded.warm_fusion is not None
    some = tiny.train.take(range(40))
    known = half_of(some.Y, 0)
    inside = model.predict(some, k=5, revealed=known)
    strangers = replace(some.documents, ids=[f"new {i}" for i in range(40)])
    outside = model.predict(strangers, k=5, revealed=known)
    several = np.diff(known.indptr) > 0
    assert (inside.scores[several] != outside.scores[several]).any()
    assert Galaxc(**settings()).fit(tiny.train, valid=tiny.valid).folded_.known_fusion is None
