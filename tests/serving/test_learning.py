from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.serving.learning import LearnedModel
from longtail.systems import create
from longtail.systems.base import System
from longtail.types import Document
from tests.serving.learning_service import WORDS, training_data
from tests.serving.test_feedback import feedback


def trained(name: str, named: bool = True) -> System:
    settings: dict[str, Any] = {"members": ["linear", "knn"]} if name == "ensemble" else {}
    return create(name, settings).fit(training_data(named))


@pytest.fixture(scope="module", params=["knn", "ensemble"])
def model(request: pytest.FixtureRequest) -> System:
    return trained(request.param)


def correction(text: str = "an unusual zebra text", **changes: object) -> Any:
    changes = {"accepted": (), "added": ("owl",), **changes}
    return feedback("new", document=Document("new", text=text), **changes)


def top(model: System, text: str, id_: str = "q", k: int = 3) -> list[str]:
    return [label for label, _ in model.predict([Document(id_, text=text)], k=k)[0]]


def test_a_correction_counts_at_once_and_the_model_before_stays(model: System) -> None:
    text = "the number3 of a text and number7"
    before = LearnedModel(model)
    asked = model.predict([Document("q", text=text)], k=3)
    after = before.after([correction(text, added=("hen",))])
    assert top(model, text) == [label for label, _ in asked[0]]
    assert "hen" in top(after.system, text)
    # Also when it is asked for under the id that the feedback came with.
    assert "hen" in top(after.system, text, "new")
    assert after.has(correction(text))
    assert not before.has(correction(text))


def test_a_later_correction_takes_the_place_of_the_earlier(model: System) -> None:
    learned = LearnedModel(model).after([correction(added=("hen",))])
    learned = learned.after([correction(added=("bee",))])
    assert len(learned.corrections) == 1
    assert learned.system.facts_.documents == model.facts_.documents + 1
    one = LearnedModel(model).after([correction(added=("hen",)), correction(added=("bee",))])
    assert top(one.system, "unusual zebra") == top(learned.system, "unusual zebra")
    assert one.corrections == learned.corrections


def test_rejected_labels_take_a_correction_back(model: System) -> None:
    learned = LearnedModel(model).after([correction(added=("hen",))])
    back = learned.after([correction(added=(), rejected=("hen",))])
    assert back.corrections == frozenset()
    assert not back.has(correction())
    texts = ["an unusual zebra text", "a text about the owl"]
    assert np.array_equal(back.system.predict(texts).indices, model.predict(texts).indices)
    assert LearnedModel(model).after([correction(added=(), rejected=("hen",))]).system is model


def test_labels_that_the_model_does_not_have_are_left_out(model: System) -> None:
    learned = LearnedModel(model).after([correction(added=("hen", "no such label"))])
    assert learned.system.labels_.ids == model.labels_.ids
    assert LearnedModel(model).after([correction(added=("no such label",))]).system is model


def test_a_replay_gives_the_same_model(model: System) -> None:
    entries = [
        feedback(f"d{n}", document=Document(f"d{n}", text=f"zebra{n % 5} text"), accepted=(WORDS[n % 8],))
        for n in range(12)
    ]
    one_by_one = LearnedModel(model)
    for entry in entries:
        one_by_one = one_by_one.after([entry])
    at_once = LearnedModel(model).after(entries)
    texts = [f"a zebra{n} text about the {WORDS[n]}" for n in range(5)]
    found, expected = at_once.system.predict(texts), one_by_one.system.predict(texts)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("named", [True, False])
def test_answers_about_other_texts_do_not_change(named: bool) -> None:
    model = trained("knn", named)
    learned = LearnedModel(model).after([correction("zebra giraffe okapi")]).system
    # The training documents themselves, under their own ids or under those of others.
    documents = training_data(named).documents
    shifted = [Document(str((n + 1) % 160), text=d.text) for n, d in enumerate(documents)]
    for some in (documents, shifted):
        before, after = model.predict(some), learned.predict(some)
        assert np.array_equal(before.indices, after.indices)
        assert np.array_equal(before.scores, after.scores)


def test_a_system_that_cannot_learn_stays_as_it_is() -> None:
    linear = LearnedModel(trained("linear"))
    assert not linear.can_learn
    assert linear.after([correction()]) is linear


def test_a_learned_model_can_be_saved_and_loaded(model: System, tmp_path: Path) -> None:
    learned = LearnedModel(model).after([correction()]).system
    learned.save(tmp_path / "m")
    again = type(learned).load(tmp_path / "m")
    assert top(again, "unusual zebra") == top(learned, "unusual zebra")
