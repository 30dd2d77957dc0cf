"""Models in one piece: pickled, copied."""

import copy
import pickle

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.systems import create
from longtail.systems.pickling import reduced, restored


def test_a_trained_model_comes_back_with_the_same_answers(tiny):
    model = create("linear", {"tree": {"leaf_size": 20}}).fit(tiny.train)
    expected = model.predict(tiny.test)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        best = again.predict(tiny.test)
        assert again is not model
        assert np.array_equal(best.indices, expected.indices)
        assert np.array_equal(best.scores, expected.scores)
        assert again.config == model.config


def test_an_untrained_system_keeps_its_settings():
    again = pickle.loads(pickle.dumps(create("linear", {"beam": 7})))
    assert again.config.beam == 7
    assert not hasattr(again, "labels_")


def test_a_shallow_copy_shares_what_was_learned(tiny):
    model = create("dummy").fit(tiny.train)
    twin = copy.copy(model)
    assert twin is not model
    assert twin.labels_ is model.labels_


def test_changed_content_is_refused(tiny):
    _, (kind, files) = reduced(create("dummy").fit(tiny.train))
    name = next(name for name in files if name.endswith("labels.jsonl"))
    with pytest.raises(ModelIntegrityError):
        restored(kind, {**files, name: files[name] + b"x"})
