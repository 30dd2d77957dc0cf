"""Which label names are meaningful: those with a word of the documents, not codes."""

from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.storage import write_arrays
from longtail.systems.gudn.label_names import LabelNames
from longtail.types import LabelSet

DOCUMENTS = ["The Common market organisation for wine", "Fishing rights in the North Sea"]


def names_of(*meaningful: bool) -> LabelNames:
    return LabelNames(np.array(meaningful, np.uint8))


def test_a_name_with_a_word_of_the_documents_is_meaningful() -> None:
    names = ["wine", "FISHING zone", "++++-", "08P01B", "in", "unheard of", "", "north-west"]
    labels = LabelSet([str(i) for i in range(len(names))], names)
    found = LabelNames.of(labels, DOCUMENTS)
    assert found.meaningful.tolist() == [1, 1, 0, 0, 0, 0, 0, 1]
    assert found.share == 3 / 8


def test_the_share_is_of_all_labels_and_by_frequency() -> None:
    insight = names_of(True, False, True, True, False, False).insight(np.array([0, 1, 4, 5, 30, 900]))
    assert insight.x == [
        "all labels",
        "no documents",
        "1-4 documents",
        "5-29 documents",
        "30 or more documents",
    ]
    assert insight.series == {"share": [0.5, 1.0, 0.5, 1.0, 0.0]}


def test_groups_without_labels_are_left_out() -> None:
    assert names_of(True).insight(np.array([2])).x == ["all labels", "1-4 documents"]


@pytest.mark.parametrize("wrong", [np.ones(3, np.uint8), np.array([0, 2], np.uint8), np.ones(2, np.int64)])
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, wrong: np.ndarray) -> None:
    names_of(True, False).save(tmp_path / "names")
    assert LabelNames.load(tmp_path / "names", labels=2).meaningful.tolist() == [1, 0]
    write_arrays(tmp_path / "wrong", {"meaningful": wrong})
    with pytest.raises(ModelIntegrityError):
        LabelNames.load(tmp_path / "wrong", labels=2)
