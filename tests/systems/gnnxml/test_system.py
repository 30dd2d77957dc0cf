"""GNN-XML from outside: short and strange texts, tiny data, labels without text, prediction without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UnsupportedError
from longtail.systems.gnnxml.system import Gnnxml
from longtail.types import Dataset
from tests.planted import Parts


def test_planted_labels_are_found(learnt: Gnnxml, plain: Gnnxml, tiny: Parts) -> None:
    assert learnt.evaluate(tiny.test).figures["P@1"]["value"] > 80
    assert plain.evaluate(tiny.test).figures["P@1"]["value"] > 60


def test_scores_are_between_0_and_1(learnt: Gnnxml, plain: Gnnxml, tiny: Parts) -> None:
    for model in (learnt, plain):
        scores = model.predict(tiny.test).scores
        assert scores.min() >= 0
        assert scores.max() <= 1


@pytest.mark.parametrize("n_documents", [1, 2, 10])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_tiny_data(n_documents: int, n_labels: int) -> None:
    texts = [f"red apple number {i}" if i % 2 else f"green pear number {i}" for i in range(n_documents)]
    tags = [[str(i % n_labels)] for i in range(n_documents)]
    model = Gnnxml().fit(Dataset.from_texts(texts, tags))
    found = model.predict(texts, k=1).labels[:, 0]
    assert (found >= 0).all()
    if n_documents == 10:
        assert found.tolist() == [i % n_labels for i in range(10)]


def test_no_configuration_short_texts_any_language_no_label_text() -> None:
    words = {"猫": "猫 が 好き", "犬": "犬 が 走る", "chat": "un chat noir", "Hund": "der Hund schläft"}
    texts = [f"{text} {i}" for i in range(12) for text in words.values()]
    data = Dataset.from_texts(texts, [[label] for _ in range(12) for label in words])
    assert not data.labels.has_text
    model = Gnnxml().fit(data)
    found = model.predict(list(words.values()), k=1).labels[:, 0]
    assert [model.labels_.ids[label] for label in found] == list(words)


def test_a_text_of_which_nothing_is_known_gets_the_most_frequent_labels(learnt: Gnnxml) -> None:
    found = learnt.predict(["", "qqq"], k=3).labels
    frequent = np.argsort(-learnt.label_counts_, kind="stable")[:3]
    assert (found == frequent).all()


def test_a_feature_matrix_is_refused(tiny: Parts) -> None:
    with pytest.raises(UnsupportedError, match="learns from text"):
        Gnnxml().fit(Dataset.from_matrix(np.eye(3, dtype=np.float32), tiny.train.Y[:3]))


def test_prediction_needs_no_torch(saved: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['transformers'] = None; import longtail; "
        "print(longtail.load(sys.argv[1]).predict(['bababade'], k=2).labels.shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "(1, 2)", done.stderr
