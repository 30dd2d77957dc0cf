"""Every system explains the planted data: by the words that are the label's own."""

from pathlib import Path

import numpy as np
import pytest

import longtail
from longtail.errors import UsageError
from longtail.systems.base import System
from longtail.types import Dataset


def test_the_words_of_a_label_explain_it(system: System, data: dict[str, Dataset]) -> None:
    test, hits, asked = data["test"], 0, 0
    for row in range(12):
        document = test.documents[row]
        found = system.explain(document, k=2)
        assert found.text == test.documents.joined()[row]
        answer = system.predict(document, k=2)[0]
        assert [(label.id, label.score) for label in found.labels] == answer
        for label in found.labels:
            assert all(found.text[word.start : word.end] == word.word for word in label.words)
            assert all(np.isfinite(word.weight) for word in label.words)
            assert all(found.text[name.start : name.end] for name in label.names)
            if label.exact:
                assert np.isclose(
                    sum(word.weight for word in label.words), label.value - label.base, atol=1e-4
                )
            if system.labels_.index[label.id] in test.Y[[row]].indices:
                asked += 1
                hits += bool(set(label.top_words(5)) & set(label.text.split()))
    # Words of the label are in the text of every document that has it; the dummy never looks at a word.
    assert asked >= 3
    assert hits == 0 if system.name == "dummy" else hits >= 0.8 * asked


def test_the_first_feature_column_rises_with_the_score(system: System, data: dict[str, Dataset]) -> None:
    """What occlusion measures has to be of the same sign as the score."""
    found = system.candidates(data["test"], k=5)
    scores, column = found.candidates.scores, found.features[:, 0]
    rises = total = 0
    for start, stop in zip(found.candidates.indptr, found.candidates.indptr[1:], strict=False):
        order = np.argsort(-scores[start:stop], kind="stable")
        steps = np.diff(column[start:stop][order])
        rises, total = rises + int((steps <= 1e-6).sum()), total + len(steps)
    assert rises >= 0.9 * total


def test_any_label_of_any_text_is_explained(system: System, data: dict[str, Dataset]) -> None:
    last = system.labels_.ids[len(system.labels_) - 1]
    for text in ("", "  ", "\x00", "\ud800", "zzzz qqqq", "語", data["test"].documents.joined()[0]):
        found = system.explain(text, [last, system.labels_.ids[0]])
        assert [label.id for label in found.labels] == [last, system.labels_.ids[0]]
        for label in found.labels:
            assert np.isfinite([label.value, label.base]).all()
            assert text.strip() or not label.words
        found.to_html().encode("utf-8")
        found.to_terminal()
        assert len(system.explain(text, k=3).labels) <= 3
    with pytest.raises(UsageError, match="the model has no label 'unheard of'"):
        system.explain("a", "unheard of")


def test_a_saved_model_explains_the_same(system: System, data: dict[str, Dataset], tmp_path: Path) -> None:
    document = data["test"].documents[0]
    before = system.explain(document)
    system.save(tmp_path / "model")
    after = longtail.load(tmp_path / "model").explain(document)
    assert before.to_dict() == after.to_dict()
