"""Several processes (gloo) compute what one process does: exchanges, gradients, losses, models, checkpoints."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import TrainingError
from longtail.training import distributed
from longtail.training.distributed import World
from tests.training import distributed_work as work
from tests.training.processes import run_processes

SIZES = (2, 3)
CONFIG: Mapping[str, Any] = {"epochs": 4, "batch_size": 8, "lr": 0.05, "clip_norm": 0.5, "weight_decay": 0.01}


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 9])
def test_parts_cover_everything_once(size: int, n: int) -> None:
    worlds = [World(rank, size) for rank in range(size)]
    rows = [np.arange(n)[one.rows(n)] for one in worlds]
    assert np.concatenate(rows).tolist() == list(range(n))
    assert max(map(len, rows)) - min(map(len, rows)) <= 1
    labels = np.arange(n) * 3
    places = np.concatenate([np.arange(n)[one.columns(labels)] for one in worlds])
    assert sorted(places.tolist()) == list(range(n))


@pytest.mark.parametrize("size", SIZES)
def test_exchanges(size: int) -> None:
    results = run_processes(size, work.exchanged)
    ranks = range(size)
    for found in results:
        assert found["gradients"] == [[sum(r + 1.0 for r in ranks)] * 2, [1.0, 1.0], None]
        assert found["rows"] == (
            [*range(1, size), 8],
            [*([float(r)] * 2 for r in range(1, size)), [float(sum(ranks))] * 2],
        )
        assert found["no rows"] is None
        assert found["length"] == pytest.approx(sum((r + 1) ** 2 for r in ranks) ** 0.5)
        assert found["every"] == [True, False]
        assert found["arrays"] == [list(range(r)) for r in ranks]
        assert found["shared"] == {"rank": 0}
        assert found["shared arrays"] == {"a": [0.0, 1.0, 2.0], "b": [[True, True]], "c": []}


@pytest.mark.parametrize("size", SIZES)
def test_gathered_parts_and_their_gradients(size: int) -> None:
    results = run_processes(size, work.all_gathered)
    assert any(found["rows"] == 0 for found in results[-1])  # batches with fewer documents than processes


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("more", [{}, {"accumulate": 3, "clip_norm": None}])
def test_a_training_has_the_numbers_of_one_process(size: int, more: Mapping[str, Any]) -> None:
    config = {**CONFIG, **more}
    alone = work.train_matching(config)
    results = run_processes(size, work.train_matching, config)
    for rank, found in enumerate(results):
        assert_same(found, alone)
        assert found["validated"] == (config["epochs"] if rank == 0 else 0)
    first, *others = (found["weights"] for found in results)
    assert all((one[name] == first[name]).all() for one in others for name in first)


@pytest.mark.parametrize(("stopped", "resumed"), [(2, 3), (2, 1), (1, 2)])
def test_a_stopped_training_resumes_with_another_number_of_processes(
    tmp_path: Path, stopped: int, resumed: int
) -> None:
    kept = tmp_path / "kept"
    alone = work.train_matching(CONFIG)
    call(stopped, work.stopped_matching, CONFIG, kept)
    assert [path.name for path in (kept / "match").glob("epoch-*")] == ["epoch-0002"]
    for found in call(resumed, work.train_matching, CONFIG, kept):
        assert_same(found, alone)
    # A finished stage is read by one process, and known to all.
    for found in call(resumed, work.train_matching, CONFIG, kept):
        assert_same(found, alone)


def test_different_data_is_one_sentence_everywhere() -> None:
    first, second = run_processes(2, work.different_data)
    start = "the processes of this training do not have the same data, settings and versions"
    assert first == f"{start} (one of them differs from the first one)"
    assert second == f"{start} (process 2: 'data' differs from the first one)"


ENCODER = "the tiny encoder"
SYSTEMS: Mapping[str, Mapping[str, Any]] = {
    "eclare": {
        "width": 16,
        "shortlist": {"exact_below": 1, "clusters": 4},
        "stages": {stage: {"epochs": 2, "batch_size": 25} for stage in ("embed", "shortlist", "rank")},
    },
    "galaxc": {
        "width": 16,
        "negatives": {"hard": 3},
        "initial": {"embed": {"epochs": 1}, "rank": {"epochs": 1}},
        "stages": {stage: {"epochs": 2, "batch_size": 25} for stage in ("joint", "refine")},
    },
    "xgrank": {
        "encoder": {"names": [ENCODER], "tokens": 24, "frozen": None},
        "text": {"kind": "word"},
        "clusters": {"size": 4, "beam": 6},
        "labels": {"width": 16},
        "train": {"epochs": 2, "lr": 0.001, "row_lr": 0.01, "batch_size": 53},
    },
    "gudn": {
        "encoder": {"name": ENCODER, "tokens": 24, "frozen": None},
        "text": {"kind": "word"},
        "width": 16,
        "clusters": {"above": 20, "size": 4, "beam": 4, "training_beam": 2, "negatives": 20},
        "guide": {"feature": True, "link": True},
        "train": {"epochs": 2, "lr": 0.001, "row_lr": 0.01, "batch_size": 53},
    },
}
"""Settings that use all parts; the last batch of each epoch has fewer documents than the others."""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.tiny_encoders import write_syllables

    return str(write_syllables(tmp_path_factory.mktemp("encoder")))


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_has_the_losses_and_the_model_of_one_process(
    system: str, size: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings: Any = {"calibrate": "none", **SYSTEMS[system]}
    if "encoder" in settings:
        key = "names" if system == "xgrank" else "name"
        folder = request.getfixturevalue("encoder")
        settings["encoder"] = {**settings["encoder"], key: [folder] if key == "names" else folder}
    alone = work.fitted(system, settings, tmp_path / "alone")
    assert alone["losses"]
    for found in run_processes(size, work.fitted, system, settings, tmp_path / "together"):
        assert found["losses"].keys() == alone["losses"].keys()
        for stage, losses in alone["losses"].items():
            assert found["losses"][stage] == pytest.approx(losses, rel=1e-5)
        np.testing.assert_allclose(found["scores"], alone["scores"], rtol=1e-3, atol=1e-4)
    assert (tmp_path / "together" / "config.json").exists()


def test_a_first_process_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    around = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    for name, value in around.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(distributed, "CONNECT", timedelta(0))
    with pytest.raises(
        TrainingError,
        match=rf"process 2 of 2 cannot reach the others \(nothing answers at 127.0.0.1:{port}: ",
    ):
        # Not what an earlier test of this process has found, which is kept.
        distributed.world.__wrapped__()


def call(size: int, function: Any, *arguments: Any) -> list[Any]:
    return [function(*arguments)] if size == 1 else run_processes(size, function, *arguments)


def assert_same(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    pairs = zip(found["result"]["history"], expected["result"]["history"], strict=True)
    for record, wanted in pairs:
        assert record["loss"] == pytest.approx(wanted["loss"], rel=1e-5)
        assert record["metrics"] == pytest.approx(wanted["metrics"], rel=1e-4, abs=1e-4)
    for name, array in expected["weights"].items():
        np.testing.assert_allclose(found["weights"][name], array, rtol=1e-3, atol=1e-4)
