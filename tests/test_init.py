"""The package's front door: the nouns, ``fit`` and ``load``."""

import logging

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import longtail
from longtail import types
from longtail.errors import UsageError


def test_every_public_name_is_there():
    assert all(getattr(longtail, name) is not None for name in longtail.__all__)
    assert longtail.Dataset is types.Dataset
    assert longtail.Document is types.Document
    assert longtail.TopK is types.TopK


def test_an_unknown_name_is_an_attribute_error():
    name = "Nothing"
    with pytest.raises(AttributeError, match="module 'longtail' has no attribute 'Nothing'"):
        getattr(longtail, name)


def test_fit_save_load_and_predict(tmp_path):
    model = longtail.fit(["red apple", "blue sky"], [["fruit"], ["air"]], system="dummy")
    model.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    before, after = model.predict(["red"], k=2), again.predict(["red"], k=2)
    assert np.array_equal(before.indices, after.indices)
    assert np.array_equal(before.scores, after.scores)


def test_an_unknown_system_is_named():
    with pytest.raises(UsageError, match="there is no system 'lineer': did you mean 'linear'"):
        longtail.fit(["a"], [["b"]], system="lineer")


def test_auto_is_the_default(tiny):
    train = tiny.train
    tags = [[train.labels.ids[c] for c in train.Y[[row]].indices] for row in range(len(train))]
    model = longtail.fit(train.documents.joined(), tags, linear={"tree": {"leaf_size": 60}})
    assert model.name == "linear", "there are too few documents for an ensemble"
    assert model.config.tree.leaf_size == 60
    best = model.predict(tiny.test.documents.joined(), k=1).indices[:, 0]
    first = [model.labels_.ids[label] for label in best]
    truth = [{tiny.test.labels.ids[c] for c in tiny.test.Y[[row]].indices} for row in range(len(tiny.test))]
    assert np.mean([label in right for label, right in zip(first, truth, strict=True)]) > 0.8


def test_a_budget_chooses_the_members(monkeypatch):
    monkeypatch.setattr("longtail.systems.auto.speed_here", lambda: 1.0)
    texts = [f"word{n % 7} and word{n % 5}" for n in range(1000)]
    tags = [[f"l{n % 7}"] for n in range(1000)]
    names = {f"l{n}": f"word{n}" for n in range(7)}
    model = longtail.fit(texts, tags, label_texts=names, budget="2s", reranker={"trees": 0})
    assert model.name == "ensemble"
    assert model.config.members == ("linear", "lexical")
    assert longtail.fit(texts[:50], tags[:50], budget=0.01).config.tree.trees == 1


def test_a_budget_is_for_auto():
    with pytest.raises(UsageError, match="budget is for the system 'auto'"):
        longtail.fit(["a"], [["b"]], system="dummy", budget=5)
    with pytest.raises(UsageError, match="a budget must be a time like"):
        longtail.fit(["a"], [["b"]], budget="soon")
    with pytest.raises(UsageError, match=r"so set linear\.tree\.leaf_size"):
        longtail.fit(["a"], [["b"]], leaf_size=3)


TEXTS = ["red apple", "blue sky", "red sky"]
TAGS = [["fruit"], ["air"], ["air", "red"]]


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (pd.DataFrame({"title": TEXTS, "tags": TAGS}), {"text": "title", "labels": "tags"}),
        ({"heading": TEXTS, "subject": TAGS}, {"text": "heading", "labels": "subject"}),
        (zip(TEXTS, TAGS, strict=True), {}),
        (longtail.Dataset.from_texts(TEXTS, TAGS), {}),
        ({"train": longtail.Dataset.from_texts(TEXTS, TAGS)}, {}),
    ],
)
def test_fit_takes_what_users_have(data, columns):
    model = longtail.fit(data, system="dummy", **columns)
    assert model.labels_.ids == ["fruit", "air", "red"]
    assert model.label_counts_.tolist() == [1, 2, 1]


def test_fit_takes_generators():
    model = longtail.fit((text for text in TEXTS), (tags for tags in TAGS), system="dummy")
    assert model.label_counts_.tolist() == [1, 2, 1]
    assert longtail.fit(TEXTS, csr_array(np.eye(3)), system="dummy").label_counts_.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "valid",
    [
        (TEXTS, TAGS),
        [TEXTS, TAGS],
        longtail.Dataset.from_texts(TEXTS, TAGS),
        list(zip(TEXTS, TAGS, strict=True))[:2],
        pd.DataFrame({"text": TEXTS, "labels": TAGS}),
    ],
)
def test_fit_takes_validation_data(valid):
    assert longtail.fit(TEXTS, TAGS, valid=valid, system="dummy").facts_.metrics["P@1"]["value"] > 0


def test_parts_bring_their_validation_data():
    data = longtail.Dataset.from_texts(TEXTS, TAGS)
    for name in ("valid", "validation", "dev"):
        assert longtail.fit({"train": data, name: data}, system="dummy").facts_.metrics
    assert not longtail.fit({"train": data, "test": data}, system="dummy").facts_.metrics


def test_a_table_of_settings_may_be_called_labels():
    with pytest.raises(UsageError, match="unknown configuration key 'labels'"):
        longtail.fit(TEXTS, TAGS, system="dummy", labels={"width": 3})


def test_progress_calls_a_function():
    seen = []
    longtail.fit(TEXTS, TAGS, system="linear", progress=lambda *step: seen.append(step))
    assert ("classifiers", 0, 3) in seen
    assert seen[-1] == ("classifiers", 3, 3)


def test_progress_is_shown_on_stderr(capsys):
    longtail.fit(TEXTS, TAGS, system="linear", progress=True)
    captured = capsys.readouterr()
    assert "classifiers took" in captured.err
    assert captured.out == ""
    longtail.fit(TEXTS, TAGS, system="linear")
    assert capsys.readouterr().err == ""


def test_warnings_reach_the_logger(caplog):
    with caplog.at_level(logging.INFO, logger="longtail"):
        longtail.fit(TEXTS, TAGS, label_texts={"cold": "ice"})
    by_level = {level: [r.message for r in caplog.records if r.levelno == level] for level in (20, 30)}
    assert any(message.startswith("The system is linear") for message in by_level[logging.INFO])
    doubt, never = by_level[logging.WARNING]
    assert doubt.startswith("texts are given for labels that no document has: 1 ('cold')")
    assert never == "labels without training documents, which are never predicted: 1 ('cold')"


def test_create_and_read_are_at_the_top(tmp_path):
    assert longtail.create("linear", {"beam": 20}).config.beam == 20
    assert longtail.create("linear", beam=7).config.beam == 7
    (tmp_path / "train.jsonl").write_text('{"text": "red", "labels": ["a"]}\n', encoding="utf-8")
    assert longtail.read(tmp_path / "train.jsonl").labels.ids == ["a"]
    assert longtail.fit(longtail.read_folder(tmp_path), system="dummy").labels_.ids == ["a"]
