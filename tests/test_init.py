"""The package's front door: the nouns, ``fit`` and ``load``."""

import numpy as np
import pytest

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


def test_a_budget_chooses_the_members():
    texts = [f"word{n % 7} and word{n % 5}" for n in range(1000)]
    tags = [[f"l{n % 7}"] for n in range(1000)]
    names = {f"l{n}": f"word{n}" for n in range(7)}
    model = longtail.fit(texts, tags, label_texts=names, budget="4s", reranker={"hidden": 0})
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
