"""The checks that every system inherits, on one that notes what reaches its hooks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail import config as configuration
from longtail.errors import ConfigError, NotFittedError, UnsupportedError, UsageError
from longtail.run import Run
from longtail.systems import batches
from longtail.systems.base import TrainingFacts
from longtail.types import Dataset
from tests.systems.noting import EDGES, MATRIX, TRAIN, Noting, NotingLabels, NotingMatrices


@pytest.fixture
def fitted() -> Noting:
    return Noting().fit(TRAIN)


def test_data_of_another_kind_are_refused() -> None:
    wrong: Any
    for wrong in (False, ["a"], (["a"], [["x"]])):
        with pytest.raises(UsageError, match="valid must be a Dataset, not a"):
            Noting().fit(TRAIN, valid=wrong)
        with pytest.raises(UsageError, match=r"train must be a Dataset, not a .*longtail.fit"):
            Noting().fit(wrong)


def test_settings_come_by_name_or_ready_made():
    assert Noting(depth=3, seed=2).config == Noting.Config(depth=3, seed=2)
    ready = Noting.Config(depth=5)
    assert Noting(ready).config is ready
    assert Noting().config == Noting.Config()
    with pytest.raises(UsageError, match="not both"):
        Noting(ready, depth=3)
    with pytest.raises(ConfigError, match=r"unknown configuration key 'dept': did you mean 'depth'\?"):
        Noting(dept=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"deep": 3}, "there is no setting 'deep' any more: it is called 'depth' now"),
        ({"depth": 1, "deep": 3}, "there is no setting 'deep' any more: it is called 'depth' now"),
        ({"tree": {"size": 3}}, "there is no setting 'tree.size' any more: it is called 'depth' now"),
        ({"table": {"deep": 3}}, "there is no setting 'table.deep' any more: it is called 'table.depth' now"),
        ({"gone": None}, "there is no setting 'gone' any more: it has no successor: leave it out"),
    ],
)
def test_a_former_setting_is_refused_with_its_new_name(settings, message):
    with pytest.raises(ConfigError) as caught:
        Noting(**settings)
    assert str(caught.value) == message


@pytest.mark.parametrize("settings", [{"tree": 3}, {"tree": {"deep": 3}}, {"table": {"gone": 3}}])
def test_a_former_name_elsewhere_is_an_unknown_setting(settings):
    with pytest.raises(ConfigError, match="unknown configuration key"):
        Noting(**settings)


def test_former_names_are_no_settings():
    assert Noting(table={"depth": 4}).config.table.depth == 4
    assert "renamed" not in configuration.to_dict(Noting().config)
    with pytest.raises(ConfigError, match="unknown configuration key 'renamed'"):
        Noting(renamed={})


@pytest.mark.parametrize("fields", [["title"], ["text"], ["title", "text"], ["text", "title"]])
def test_fields_that_are_there(fields):
    assert Noting(fields=fields).config.fields == tuple(fields)


@pytest.mark.parametrize("fields", [[], ["body"], ["title", "title"], ["title", "body"]])
def test_fields_that_are_not_there(fields):
    with pytest.raises(ConfigError, match="'fields' must be some of title, text"):
        Noting(fields=fields)


def test_a_seed_is_not_negative():
    with pytest.raises(ConfigError, match="'seed' must be from 0 to 4294967295, not -1"):
        Noting(seed=-1)


def test_fit_returns_the_system_with_what_it_was_trained_on(fitted):
    assert fitted.labels_ is TRAIN.labels
    assert fitted.labels_.ids == ["c", "a", "b"]
    assert fitted.label_counts_.tolist() == [0, 1, 2]
    assert fitted.label_counts_.dtype == np.int64
    assert fitted.facts_ == TrainingFacts(3, TRAIN.fingerprint(), {})


def test_without_a_run_there_is_a_silent_one(fitted):
    train, valid, run, store = fitted.fitted_on
    assert train is TRAIN
    assert valid is None
    assert type(run) is Run
    assert store.documents is TRAIN.documents


def test_validation_documents_are_brought_onto_the_labels_of_training():
    valid = Dataset.from_texts(["2", "1"], [["b"], ["new", "a"]])
    run = Run()
    system = Noting().fit(TRAIN, valid=valid, run=run)
    seen = system.fitted_on[1]
    assert seen.labels.ids == ["c", "a", "b", "new"]
    assert seen.Y.toarray().tolist() == [[0, 0, 1, 0], [0, 1, 0, 1]]
    assert system.labels_ is TRAIN.labels
    assert system.facts_.metrics["P@1"]["value"] == 100
    assert run.seconds.keys() == {"validate"}


def test_an_empty_validation_part_gives_no_metrics():
    assert Noting().fit(TRAIN, valid=Dataset.from_texts([], [])).facts_.metrics == {}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Dataset.from_texts([], []), "there is no document to train on"),
        (Dataset.from_texts(["a"], [[]]), "no document has a label"),
        (Dataset.from_texts(["", ""], [["a"], ["b"]]), "no document has any text in its fields title, text"),
        (MATRIX, "'noting' learns from text, not from a feature matrix"),
        (
            Dataset(TRAIN.documents, TRAIN.labels, csr_array(np.full((3, 3), np.inf, np.float32))),
            "the label matrix has values that are negative or not finite",
        ),
    ],
)
def test_data_that_cannot_be_trained_on(data, message):
    system = Noting()
    with pytest.raises(UsageError, match=message):
        system.fit(data)
    assert not hasattr(system, "fitted_on")
    with pytest.raises(NotFittedError):
        system.predict(["a"])


def test_feature_rows_need_the_capability_and_finite_values():
    assert len(NotingMatrices().fit(MATRIX).labels_) == 3
    with pytest.raises(UsageError, match="feature matrix has values that are not finite"):
        NotingMatrices().fit(Dataset.from_matrix(np.full((3, 3), np.nan), np.eye(3)))
    with pytest.raises(UnsupportedError, match="reads text, not a feature matrix"):
        Noting().fit(TRAIN).predict(MATRIX)


def test_a_system_that_label_texts_are_enough_for_needs_no_documents():
    labels = Dataset.from_texts([], [], {"a": "red", "b": "green"})
    system = NotingLabels().fit(labels)
    assert system.facts_.documents == 0
    assert system.predict(["1"], k=1).indices.tolist() == [[1]]
    assert NotingLabels().fit(Dataset.from_texts(["x"], [[]], {"a": "red"})).label_counts_.tolist() == [0]


def test_a_failed_fit_leaves_the_old_model_usable(fitted):
    with pytest.raises(UsageError):
        fitted.fit(Dataset.from_texts([], []))
    assert fitted.predict(["1"]).indices[0, 0] == 1
    assert fitted.label_counts_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("k", [0, -3])
def test_k_is_positive(fitted, k):
    with pytest.raises(UsageError, match=f"k must be a whole number of at least 1, not {k}"):
        fitted.predict(["1"], k=k)


def test_no_documents_never_reach_the_hook(fitted):
    assert fitted.predict([], k=3).indices.shape == (0, 3)
    assert fitted.batches == []


def test_known_labels_are_no_answers(fitted):
    answer = fitted.predict(["1", "1", "2"], k=2, revealed=[["a"], ["b"], []])
    assert answer.indices.tolist() == [[-1, -1], [1, -1], [2, -1]]
    assert answer.scores.tolist() == [[0, 0], [1, 0], [1, 0]]


def test_what_is_known_of_documents_reaches_the_hook():
    system = Noting().fit(TRAIN)
    system.predict(["1"], k=2)
    assert system.encoded_with == (None, None)
    assert system.predict(["1"], k=2, revealed=[["a", "b"]]).indices.tolist() == [[-1, -1]]
    assert system.encoded_with == ([[0, 1, 1]], None)
    assert system.sizes == [2, 4]
    system.predict(["1"], k=2, edges=EDGES)
    assert system.encoded_with == (None, EDGES)
    system.predict(["1"], k=2, revealed=[[]])
    assert system.encoded_with == (None, None)
    system.predict(replace(TRAIN, revealed=TRAIN.Y, edges=EDGES), k=1)
    assert system.encoded_with == (TRAIN.Y.toarray().tolist(), EDGES)


def test_a_document_that_cannot_be_read_has_no_answer(fitted):
    answer = fitted.predict(["1 2", "?", "2"], k=2)
    assert answer.indices.tolist() == [[1, 2], [-1, -1], [2, -1]]
    assert answer.scores.tolist() == [[1, 0.5], [0, 0], [1, 0]]
    assert fitted.predict(["?"], k=1, revealed=[["a"]]).indices.tolist() == [[-1]]


# --- revealed labels, batches, evaluation ----------------------------------------------------------------


def test_a_data_set_brings_its_revealed_labels_matched_by_id(fitted):
    test = Dataset.from_texts(["1", "2"], [["new", "a"], ["a", "b"]])
    test = replace(test, revealed=test.Y, edges=EDGES)
    assert fitted.predict(test, k=1).indices.tolist() == [[-1], [-1]]
    assert fitted.predict(test, k=1, revealed=[[], []]).indices.tolist() == [[1], [2]]
    assert fitted.predict(test.documents, k=1).indices.tolist() == [[1], [2]]


def test_evaluate_leaves_out_what_is_revealed():
    test = Dataset.from_texts(["1", "2"], [["a", "b"], ["a", "b"]])
    given = csr_array(np.array([[1, 0], [0, 1]], np.float32))
    report = Noting().fit(TRAIN).evaluate(replace(test, revealed=given), k=(1,))
    assert report.metrics["P@1"]["value"] == 0
    assert report.counts["assignments"] == report.counts["unscored_pairs"] == 2
    other = csr_array(1 - given.toarray())
    report = Noting().fit(TRAIN).evaluate(replace(test, revealed=other), k=(1,))
    assert report.metrics["P@1"]["value"] == 100


@given(st.lists(st.lists(st.sampled_from("abc"), unique=True), min_size=1, max_size=9), st.integers(1, 4))
def test_known_labels_go_with_their_documents_over_batches(rows, size):
    system = Noting().fit(TRAIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH_SIZE", size)
        answer = system.predict(["1"] * len(rows), k=1, revealed=rows)
    assert answer.indices[:, 0].tolist() == [-1 if "a" in row else 1 for row in rows]


@given(st.lists(st.integers(0, 2), max_size=12), st.integers(1, 5), st.integers(1, 3))
def test_batches_cover_every_document_once_and_in_order(numbers, size, k):
    system = Noting().fit(TRAIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH_SIZE", size)
        answer = system.predict([str(number) for number in numbers], k=k)
    assert answer.indices[:, 0].tolist() == numbers
    assert answer.k == k
    assert sum(system.batches) == len(numbers)
    assert all(0 < batch <= size for batch in system.batches)


def test_evaluate_counts_labels_that_training_never_had(fitted):
    report = fitted.evaluate(Dataset.from_texts(["2", "0", "0"], [["b"], ["new"], ["c", "new"]]), k=(1,))
    assert report.metrics["P@1"]["value"] == pytest.approx(200 / 3)
    assert report.counts["labels"] == 4
    assert report.counts["cold_labels"] == 2
    assert report.counts["training_documents"] == 3


def test_evaluate_predicts_as_many_labels_more_as_are_left_out(fitted):
    test = Dataset.from_texts(["1"], [["a", "b"]])
    fitted.evaluate(test, k=(1, 3))
    fitted.evaluate(test, k=(20,))
    fitted.evaluate(Dataset(test.documents, test.labels, test.Y, test.Y), k=(1, 3))
    assert fitted.sizes == [50, 50, 52]


def test_predict_takes_k_and_a_threshold(fitted):
    best = fitted.predict(["1", "2"], 1)
    assert best.labels == [["a"], ["b"]]
    assert best.label_ids is fitted.labels_.ids
    score = best[0][0][1]
    assert fitted.predict(["1", "2"], k=1, threshold=score).labels == [["a"], ["b"]]
    for wrong in ("high", True, float("nan"), score + 1, -0.1, 50):
        with pytest.raises(UsageError, match="threshold must be a number from 0 to 1"):
            fitted.predict(["1"], threshold=wrong)


def test_evaluate_and_score_take_texts_and_tags(fitted):
    texts, tags = ["2", "0", "0"], [["b"], ["new"], ["c", "new"]]
    report = fitted.evaluate(texts, tags, k=(1,))
    assert report.metrics == fitted.evaluate(Dataset.from_texts(texts, tags), k=(1,)).metrics
    frame = {"heading": texts, "tags": tags}
    assert fitted.evaluate(frame, text="heading", labels="tags", k=(1,)).metrics == report.metrics
    assert fitted.score(texts, tags, k=1) == pytest.approx(report.metrics["nDCG@1"]["value"] / 100)
    with pytest.raises(UsageError, match="tags are missing"):
        fitted.evaluate(texts)


def test_it_prints_in_one_line(fitted):
    assert repr(Noting()) == "Noting(not trained)"
    assert repr(fitted) == "Noting(3 labels, 1 of them cold, trained on 3 documents)"
    assert "<td>labels</td><td>3</td>" in fitted._repr_html_()
    assert "<td>state</td><td>not trained</td>" in Noting()._repr_html_()


@pytest.mark.parametrize("method", ["predict", "candidates", "evaluate", "save"])
def test_an_untrained_system_says_so(method, tmp_path):
    argument: Any = {"evaluate": TRAIN, "save": tmp_path / "model"}.get(method, ["a"])
    with pytest.raises(NotFittedError, match=r"'noting' is not trained: call fit\(\) or load a model first"):
        getattr(Noting(), method)(argument)
    assert not (tmp_path / "model").exists()


def test_a_system_has_nothing_to_tell_by_default(fitted):
    assert fitted.insights() == []
