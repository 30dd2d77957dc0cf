"""Which names count, what is said of the others, and where the vocabulary comes from."""

from dataclasses import replace

import numpy as np
import pytest

from longtail import pairs
from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.lexical.config import LexicalConfig
from longtail.systems.lexical.train import distinct_names, train
from longtail.text.config import TextConfig
from longtail.text.feature_store import FeatureStore
from longtail.training.matrices import TrainingMatrices
from longtail.types import Dataset, Documents, LabelSet
from tests.planted import Parts

WORDS = LexicalConfig(text=TextConfig(sublinear_tf=True))


def labels(texts: list[str], *alternatives: list[str]) -> LabelSet:
    extra = [{"alt": names} for names in alternatives] if alternatives else None
    return LabelSet([str(i) for i in range(len(texts))], texts, extra)


def test_names_are_counted_and_what_is_left_out_is_said() -> None:
    run = Run()
    found = distinct_names(
        labels(
            ["Bee", "", "wasp", ""],
            ["honey bee", "bee ", "", " "],
            ["Honey  Bee"],
            [],
            [" "],
        ),
        run,
    )
    assert found == [["Bee", "honey bee"], ["Honey  Bee"], ["wasp"], []]
    assert run.messages == [
        "labels without a name, which are never predicted: 1",
        "empty alternative names, which are left out: 3",
        "names that a label has twice, which count once: 1",
        "names that several labels have: 1",
    ]


def test_nothing_is_said_of_names_that_are_in_order() -> None:
    run = Run()
    assert distinct_names(labels(["bee", "wasp"]), run) == [["bee"], ["wasp"]]
    assert run.messages == []


@pytest.mark.parametrize("kind", ["word", "wordpiece"])
@pytest.mark.parametrize("texts", [[], ["", " "], ["!!!", "?"]])
def test_labels_without_any_text_are_one_clear_error(texts: list[str], kind: str) -> None:
    config = LexicalConfig(text=TextConfig(kind="word" if kind == "word" else "wordpiece"))
    data = Dataset.from_labels(labels(texts))
    with pytest.raises(UsageError, match="no label has a text") as caught:
        train(data, config, Run(), FeatureStore(data.documents))
    assert "\n" not in str(caught.value)


def test_the_vocabulary_is_that_of_the_neural_systems(tiny: Parts) -> None:
    store = FeatureStore(tiny.train.documents)
    config = LexicalConfig(text=TextConfig(kind="wordpiece", wordpiece_vocab_size=300, sublinear_tf=True))
    features, rows = train(tiny.train, config, Run(), store)
    shared = TrainingMatrices.of(tiny.train, config.text, config.fields, Run(), store)
    assert shared.features is features
    assert np.allclose(rows.data, shared.Z.data, rtol=1e-3)
    assert (rows.indices == shared.Z.indices).all()


def test_without_documents_the_names_are_the_vocabulary() -> None:
    alone = Dataset.from_labels(labels(["bee", "wasp"], ["honey bee"], []))

    def terms(documents: Documents) -> list[str]:
        data = replace(alone, documents=documents, Y=pairs.empty(len(documents), 2))
        return sorted(train(data, WORDS, Run(), FeatureStore(documents))[0].terms)

    assert terms(alone.documents) == ["bee", "honey", "wasp"]
    assert terms(Documents.of(["", " "])) == ["bee", "honey", "wasp"]
    # With documents, alternative names are looked up in the vocabulary, not learned.
    assert terms(Documents.of(["a bee"])) == ["a", "bee", "wasp"]
