from __future__ import annotations

import logging

import pytest

from longtail import Dataset
from longtail.systems import create
from longtail.types import LabelSet

NEVER = "labels without training documents, which are never predicted"
KNOWN = "labels without training documents, known by their texts only"


@pytest.mark.parametrize(
    ("system", "settings", "said"),
    [
        ("lexical", {}, KNOWN),
        ("linear", {"label_text": "example"}, KNOWN),
        ("linear", {}, NEVER),
        ("knn", {}, NEVER),
        ("dummy", {}, NEVER),
        ("ensemble", {"members": ["linear", "lexical"]}, KNOWN),
        ("ensemble", {"members": ["linear", "knn"]}, NEVER),
    ],
)
def test_labels_without_documents_are_named(
    system: str, settings: dict[str, object], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "longtail")
    texts = {"a": "x", **{f"b{n}": "a name" for n in range(5)}}
    model = create(system, settings).fit(Dataset.from_texts(["x y", "y z"], [["a"], ["a"]], texts))
    found = [
        record for record in caplog.records if record.message.startswith("labels without training documents")
    ]
    assert [record.message for record in found] == [f"{said}: 5 ('b0', 'b1', 'b2', ...)"]
    assert found[0].levelname == ("INFO" if said is KNOWN else "WARNING")
    assert "(6 labels, 5 of them cold, trained on 2 documents" in repr(model)


def test_nothing_is_said_where_every_label_has_documents_or_none_is_expected(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "longtail")
    assert "cold" not in repr(create("lexical").fit(Dataset.from_texts(["x"], [["a"]], {"a": "x"})))
    create("lexical").fit(Dataset.from_labels(LabelSet(["a", "b"], ["cats", "dogs"])))
    assert "labels without training documents" not in caplog.text


def test_labels_without_a_text_are_never_predicted_either(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "longtail")
    create("lexical").fit(Dataset.from_texts(["x"], [["a"]], {"a": "x", "b": "y", "c": ""}))
    assert f"{KNOWN}: 1 ('b')" in caplog.text
    assert f"{NEVER}: 1 ('c')" in caplog.text
