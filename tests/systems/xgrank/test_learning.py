"""The course as a whole: what validation data choose, what is held out, and a training that was stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.run import Phase, Run
from longtail.shortlist.candidates import Candidates
from longtail.systems.xgrank.learning import is_right, learn
from longtail.systems.xgrank.system import Xgrank
from tests.planted import Parts, planted
from tests.systems.xgrank.worlds import config


def test_two_clusterings_are_combined_by_validation(encoder: Path, tiny: Parts) -> None:
    run = Run()
    clusters = {"size": 4, "beam": 4, "clusterings": 2}
    trained = learn(tiny.train, tiny.valid, config(encoder, clusters=clusters, score="ranker"), run)
    first, second = trained.folded.members
    assert (first.vectors.codes != second.vectors.codes).any()
    assert any("combined by" in message for message in run.messages)
    assert trained.folded.fusion is None
    assert not np.array_equal(trained.folded.calibrator.line, [1, 0])
    assert {"train", "train 2"} <= run.seconds.keys()


def test_a_fixed_combination_is_taken_as_it_is(encoder: Path, tiny: Parts) -> None:
    names = [str(encoder)] * 2
    settings = config(
        encoder,
        encoder={"names": names, "tokens": 24, "frozen": None},
        combine="zscore",
        calibrate="none",
        score="ranker",
    )
    trained = learn(tiny.train, None, settings, Run())
    assert trained.folded.combine == "zscore"
    assert trained.folded.calibrator.line.tolist() == [1, 0]
    assert trained.recall == {}


def test_without_validation_data_some_documents_are_held_out(encoder: Path) -> None:
    data = planted(1100, 40)
    run = Run()
    stage = {"epochs": 1, "lr": 0.001, "row_lr": 0.02, "batch_size": 128, "watch": "overall"}
    trained = learn(data, None, config(encoder, train=stage), run)
    assert any("held out" in message for message in run.messages)
    assert trained.folded.fusion is not None


def test_which_candidates_are_right() -> None:
    candidates = Candidates.from_counts(
        np.array([2, 1]), np.array([0, 2, 1], np.int32), np.zeros(3, np.float32)
    )
    Y = csr_array(np.array([[0, 1, 1], [0, 0, 0]], np.float32))
    assert is_right(candidates, Y).tolist() == [False, True, False]


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
    one, other = trained.folded_.members[0], again.folded_.members[0]
    assert (one.vectors.labels == other.vectors.labels).all()
    assert all(
        (a == other.reader.network.encoder.arrays()[name]).all()
        for name, a in one.reader.network.encoder.arrays().items()
    )
