"""Requests that share a call get the answers that they get alone."""

from __future__ import annotations

import numpy as np

from longtail.serving.predicting import Choice, Why, Work, anonymous, explain, tag
from longtail.serving.registry import load
from longtail.serving.schemas import DocumentIn
from longtail.systems import create
from tests.planted import Parts


def documents(tiny: Parts, *rows: int) -> list[DocumentIn]:
    found = [tiny.test.documents[row] for row in rows]
    return [DocumentIn(id=d.id, title=d.title, text=d.text) for d in found]


def test_answers_go_to_the_requests_they_belong_to(registry, tiny: Parts):
    served = registry.get("linear")
    works = [Work(served, Choice(3), documents(tiny, *rows)) for rows in ((0,), (1, 2, 3), (), (4,))]
    together = tag(works)
    assert [len(answer) for answer in together] == [1, 3, 0, 1]
    assert together == [tag([work])[0] for work in works]
    [[first, *_]] = together[0]
    assert isinstance(first["score"], np.float32)


def test_requests_of_other_models_choices_and_depths_are_of_other_kinds(registry, tiny: Parts):
    linear, near = registry.get("linear"), registry.get("near")
    some = documents(tiny, 0, 1)
    base = Work(linear, Choice(3), some)
    assert base.kind == Work(linear, Choice(3), documents(tiny, 5)).kind
    others = [
        Work(near, Choice(3), some),
        Work(linear, Choice(4), some),
        Work(linear, Choice(3, threshold=0.5), some),
        Work(linear, Choice(3, max_f1=True), some),
        Work(linear, Choice(3), some, [[], []]),
        Work(linear, Choice(3), some, [["label-1"], []]),
    ]
    assert len({work.kind for work in [base, *others]}) == 7


def test_revealed_labels_stay_with_their_documents(registry, tiny: Parts):
    served = registry.get("linear")
    one = Work(served, Choice(3), documents(tiny, 0), [["label-1"]])
    two = Work(served, Choice(3), documents(tiny, 1, 2), [["label-2"], []])
    assert one.kind == two.kind
    assert tag([one, two]) == [tag([one])[0], tag([two])[0]]


def test_documents_have_no_ids_that_a_model_could_know(tiny: Parts):
    made = anonymous(documents(tiny, 0, 1))
    assert not set(made.ids) & set(tiny.train.documents.ids)
    assert made.texts == tiny.test.documents.texts[:2]


def test_explanations_are_those_of_the_model(registry, tiny: Parts):
    served = registry.get("linear")
    [asked] = documents(tiny, 3)
    [found] = explain([Why(served, asked, ["label-2"], 3, ["label-1"])])
    assert [label["id"] for label in found["labels"]] == ["label-2"]
    expected = served.system.explain(tiny.test.documents[3], ["label-2"], revealed=[["label-1"]])
    assert found == expected.to_dict()


def test_requests_to_an_ensemble_have_no_influence_on_each_other(tiny: Parts, tmp_path):
    members = {"members": ["linear", "lexical", "knn"]}
    create("ensemble", members).fit(tiny.train, valid=tiny.valid).save(tmp_path / "ensemble")
    served = load("ensemble", tmp_path / "ensemble")
    works = [Work(served, Choice(4), documents(tiny, row, row + 1)) for row in range(0, 20, 2)]
    assert len({work.kind for work in works}) == 1
    assert tag(works) == [tag([work])[0] for work in works]
    warm = [Work(served, Choice(4), documents(tiny, row), [[f"label-{row}", "label-9"]]) for row in range(6)]
    assert tag(warm) == [tag([work])[0] for work in warm]
