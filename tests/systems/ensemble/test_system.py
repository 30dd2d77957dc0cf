"""The ensemble as a system: real members on planted data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.config import to_dict
from longtail.data import warm_start
from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT
from longtail.errors import NotFittedError, UnsupportedError, UsageError
from longtail.run import Run
from longtail.systems import create
from longtail.systems.ensemble.system import Ensemble
from longtail.systems.galaxc.system import Galaxc
from longtail.systems.linear.system import LinearTree
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, Document, Documents, Edges
from tests.planted import Parts, parts_of, planted
from tests.systems.ensemble.worlds import ECLARE, GALAXC, LINEAR, p_at_1, same

SETTINGS: dict[str, dict[str, Any]] = {"linear": LINEAR}


# --- settings ---------------------------------------------------------------------------------------------


def test_settings_below_a_member_s_name_reach_the_member(parts: Parts) -> None:
    ensemble = Ensemble(members="linear, lexical", linear={"tree": {"leaf_size": 8}}, candidates=20)
    assert ensemble.config.members == ("linear", "lexical")
    assert ensemble.config.settings == {"linear": {"tree": {"leaf_size": 8}}}
    assert ensemble.config.candidates == 20
    # A table of all members' settings says the same.
    table = {"linear": {"tree": {"leaf_size": 8}}}
    assert Ensemble(members=["linear", "lexical"], settings=table, candidates=20).config == ensemble.config
    # Both together too, as in a file and on the command line.
    both = Ensemble(members="linear", settings={"linear": {"beam": 3}}, linear={"tree": {"leaf_size": 8}})
    assert both.config.settings == {"linear": {"beam": 3, "tree": {"leaf_size": 8}}}
    ensemble.fit(parts.train, valid=parts.valid)
    linear = ensemble.members_[0].system
    assert isinstance(linear, LinearTree)
    assert linear.config.tree.leaf_size == 8
    assert linear.config.tree.arity == LinearTree().config.tree.arity


def test_fields_and_seed_reach_the_members(parts: Parts) -> None:
    ensemble = Ensemble(members="linear,lexical", fields=["title"], seed=5, lexical={"seed": 6})
    ensemble.fit(parts.train, valid=parts.valid)
    assert [m.system.config.fields for m in ensemble.members_] == [("title",)] * 2
    assert [m.system.config.seed for m in ensemble.members_] == [5, 6]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"members": ""}, "an ensemble needs at least one member"),
        ({"members": []}, "an ensemble needs at least one member"),
        ({"members": "linear,lexical,linear"}, "the member 'linear' is named twice"),
        ({"members": "linear,lexcal"}, "there is no system 'lexcal': did you mean 'lexical'"),
        ({"members": "linear,ensemble"}, "an ensemble cannot be a member of an ensemble"),
        (
            {"members": "linear", "lexical": {}},
            "settings of 'lexical', which is no member: members are linear",
        ),
        ({"members": "linear", "ensemble": {}}, "settings of 'ensemble', which is no member"),
        ({"members": "linear", "linear": {"leaf": 3}}, "settings of the member 'linear': unknown .* 'leaf'"),
        ({"members": "linear", "linear": 3}, "'linear' is a table of settings of the member, not 3"),
        ({"members": "linear", "settings": 3}, "'settings' is a table of settings, not 3"),
        ({"members": 3}, "'members' must be of type str"),
        ({"members": "linear", "rerank": {}}, "unknown configuration key 'rerank': did you mean 'reranker'"),
        ({"members": "linear", "reranker": {"balance": 2.0}}, "'balance' must be from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused_before_training(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        create("ensemble", settings)


def test_capabilities_are_those_of_the_members() -> None:
    assert Ensemble(members="linear,dummy").capabilities.features
    assert not Ensemble(members="linear,lexical").capabilities.features
    assert Ensemble(members="linear,lexical").capabilities.new_labels
    assert not Ensemble(members="linear").capabilities.new_labels
    assert Ensemble(members="linear,galaxc").capabilities.revealed_labels


# --- training and prediction ------------------------------------------------------------------------------


def test_it_is_at_least_as_good_as_each_member(three: Ensemble, parts: Parts) -> None:
    alone = {
        name: p_at_1(create(name, SETTINGS.get(name)).fit(parts.train), parts.test)
        for name in ("linear", "lexical", "knn")
    }
    assert p_at_1(three, parts.test) >= max(alone.values())
    assert three.facts_.metrics["P@1"]["value"] == p_at_1(three, parts.valid)


def test_where_members_err_it_is_better_than_each_of_them() -> None:
    # Titles alone: two words of some ten, which may be noise.
    data = parts_of(planted(n_documents=900, n_labels=40, seed=1))
    fields = {"fields": ["title"]}
    alone = [
        p_at_1(create(name, {**SETTINGS.get(name, {}), **fields}).fit(data.train), data.test)
        for name in ("linear", "lexical")
    ]
    ensemble = Ensemble(members="linear,lexical", **SETTINGS, **fields).fit(data.train, valid=data.valid)
    assert max(alone) < 95
    assert p_at_1(ensemble, data.test) >= max(alone)


def test_a_useless_member_does_no_harm(parts: Parts) -> None:
    ensemble = Ensemble(members="dummy,linear", linear=LINEAR).fit(parts.train, valid=parts.valid)
    assert p_at_1(ensemble, parts.test) >= p_at_1(LinearTree(**LINEAR).fit(parts.train), parts.test)


def test_a_neural_member_takes_part(parts: Parts) -> None:
    run = Run()
    ensemble = Ensemble(members="linear,eclare", linear=LINEAR, eclare=ECLARE)
    ensemble.fit(parts.train, valid=parts.valid, run=run)
    assert p_at_1(ensemble, parts.test) >= p_at_1(LinearTree(**LINEAR).fit(parts.train), parts.test)
    assert run.in_stages
    assert [name for name in run.seconds if name.startswith("eclare: ")]
    assert {"linear: tree", "re-ranker", "validate"} <= set(run.seconds)


def test_features_are_named_by_member(three: Ensemble) -> None:
    assert three.feature_names_ == [
        "linear.log_score",
        "linear.score",
        "linear.reciprocal_rank",
        "lexical.text_match",
        "lexical.reciprocal_rank",
        "knn.votes",
        "knn.nearest",
        "knn.reciprocal_rank",
    ]


def test_candidates_have_the_probabilities_of_predictions(three: Ensemble, parts: Parts) -> None:
    found = three.candidates(parts.test, k=7)
    assert found.names == ("probability",)
    assert (found.features[:, 0] == found.candidates.scores).all()
    own, best = found.candidates.top_k(7), three.predict(parts.test, k=7)
    assert (own.indices == best.indices).all(), "candidates have scores before calibration, in the same order"


def test_scores_are_probabilities(three: Ensemble, parts: Parts) -> None:
    top = three.predict(parts.test, k=10)
    scores = top.scores[top.indices >= 0]
    assert ((scores > 0) & (scores < 1)).all()
    # Different scores are different, or the order would be that of label numbers.
    assert (np.diff(top.scores, axis=1)[top.indices[:, 1:] >= 0] < 0).mean() > 0.9
    expected = np.diff(parts.test.Y.indptr).mean()
    assert abs(top.scores.sum(axis=1).mean() - expected) < 0.3


def test_an_untrained_ensemble_says_so(parts: Parts) -> None:
    untrained = Ensemble(members="linear")
    with pytest.raises(NotFittedError, match="not trained"):
        untrained.with_members(["linear"])
    with pytest.raises(NotFittedError, match="not trained"):
        untrained.within_latency(parts.test, 1.0)
    with pytest.raises(NotFittedError, match="not trained"):
        untrained.add_labels({"a": "a"})


# --- texts are read once ----------------------------------------------------------------------------------


class Spy:
    """Counts the calls of a method by the number of texts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
        self.sizes: list[int] = []
        real: Callable[..., Any] = getattr(TfidfFeatures, method)

        def spied(features: TfidfFeatures, texts: Any, *more: Any) -> Any:
            self.sizes.append(len(texts))
            return real(features, texts, *more)

        monkeypatch.setattr(TfidfFeatures, method, spied)


def test_equal_text_settings_are_computed_once(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    fits, transforms = Spy(monkeypatch, "fit_transform_fields"), Spy(monkeypatch, "transform_fields")
    ensemble = Ensemble(members="lexical,knn").fit(parts.train, valid=parts.valid)
    assert fits.sizes == [len(parts.train)]
    # Of validation documents once to fit re-rankers, once to evaluate.
    assert transforms.sizes.count(len(parts.valid)) == 2
    assert transforms.sizes.count(len(parts.train)) == 0
    transforms.sizes.clear()
    ensemble.predict(parts.test.documents[:7])
    assert transforms.sizes == [7]


def test_other_text_settings_are_computed_apart(
    three: Ensemble, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits, of_titles = Spy(monkeypatch, "fit_transform_fields"), Spy(monkeypatch, "fit_transform")
    Ensemble(members="lexical,knn", knn={"text": {"kind": "word"}}).fit(parts.train, valid=parts.valid)
    Ensemble(members="lexical,knn", knn={"fields": ["title"]}).fit(parts.train, valid=parts.valid)
    assert fits.sizes == [len(parts.train)] * 3
    assert of_titles.sizes == [len(parts.train)]
    transforms = Spy(monkeypatch, "transform_fields")
    # The vocabulary of linear, and the one that lexical and knn share.
    three.predict(parts.test.documents[:7])
    assert transforms.sizes == [7, 7]


def test_a_neural_member_shares_features_too(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    fits, transforms = Spy(monkeypatch, "fit_transform_fields"), Spy(monkeypatch, "transform_fields")
    eclare = {**ECLARE, "text": {}}
    ensemble = Ensemble(members="lexical,eclare", eclare=eclare).fit(parts.train, valid=parts.valid)
    texts = [to_dict(m.system.config)["text"] for m in ensemble.members_]
    assert texts[0] == texts[1]
    assert fits.sizes == [len(parts.train)]
    transforms.sizes.clear()
    ensemble.predict(parts.test.documents[:7])
    assert transforms.sizes == [7]


# --- validation documents ---------------------------------------------------------------------------------


def test_without_validation_data_some_documents_are_held_out() -> None:
    data = planted(n_documents=ENOUGH_TO_HOLD_OUT, n_labels=40)
    run = Run()
    ensemble = Ensemble(members="linear,dummy", linear=LINEAR).fit(data, run=run)
    assert run.messages[0] == "no validation data: 100 training documents are held out"
    assert {m.system.facts_.documents for m in ensemble.members_} == {ENOUGH_TO_HOLD_OUT - 100}
    assert ensemble.facts_.documents == ENOUGH_TO_HOLD_OUT
    assert not any("too few" in message for message in run.messages)
    assert (ensemble.label_counts_ == data.label_counts).all()
    assert ensemble.members_[0].system.label_counts_.sum() < data.label_counts.sum()
    assert p_at_1(ensemble, planted(n_documents=200, n_labels=40)) > 90


def test_few_documents_are_not_held_out_and_members_are_combined_by_rank(parts: Parts) -> None:
    run = Run()
    ensemble = Ensemble(members="linear,lexical", linear=LINEAR).fit(parts.train, run=run)
    assert [m for m in run.messages if "too few" in m] == [
        "0 validation documents are too few to fit a re-ranker (at least 50): members are combined by the mean of "
        "their reciprocal ranks"
    ]
    assert {m.system.facts_.documents for m in ensemble.members_} == {len(parts.train)}
    assert p_at_1(ensemble, parts.test) >= 95


def test_with_few_validation_documents_members_are_combined_by_rank(parts: Parts) -> None:
    run = Run()
    few = parts.valid.take(range(49))
    ensemble = Ensemble(members="linear,lexical", linear=LINEAR).fit(parts.train, valid=few, run=run)
    assert sum("49 validation documents are too few" in message for message in run.messages) == 1
    assert p_at_1(ensemble, parts.test) >= 95
    # First in both members: the mean of 1 and 1.
    assert ensemble.predict(parts.test).scores.max() == pytest.approx(1 / (1 + np.exp(-1)))


# --- what members can read --------------------------------------------------------------------------------


def matrices(parts: Parts) -> Dataset:
    rng = np.random.default_rng(0)
    projection = rng.random((len(parts.train.labels), 30)).astype(np.float32)
    return Dataset.from_matrix(csr_array(parts.train.Y.toarray() @ projection), parts.train.Y)


def test_a_feature_matrix_is_taken_if_all_members_take_it(parts: Parts) -> None:
    data = matrices(parts)
    ensemble = Ensemble(members="linear,knn", linear=LINEAR).fit(data, valid=data)
    assert p_at_1(ensemble, data) > 90
    with pytest.raises(UsageError, match="the member 'linear': this model was trained on a feature matrix"):
        ensemble.predict(["a text"])


def test_a_member_that_reads_text_only_is_named(three: Ensemble, parts: Parts) -> None:
    data = matrices(parts)
    with pytest.raises(UnsupportedError, match=r"the member 'lexical' cannot be trained: .*feature matrix"):
        Ensemble(members="linear,lexical").fit(data)
    lexical = three.with_members(["lexical"])
    with pytest.raises(UnsupportedError, match=r"the member 'lexical': .* reads text, not a feature matrix"):
        lexical.predict(data.documents)


def test_a_member_that_cannot_be_trained_is_named() -> None:
    data = Dataset.from_texts(["red apple", "green pear"], [["r"], ["g"]])
    with pytest.raises(UsageError, match="the member 'lexical' cannot be trained: no label has a text"):
        Ensemble(members="linear,lexical").fit(data)


def test_a_text_that_no_member_can_read_gets_the_most_frequent_labels(three: Ensemble, parts: Parts) -> None:
    counts = parts.train.label_counts
    best = np.argsort(-counts, kind="stable")[:3]
    texts = [Document("a"), Document("b", text="語語"), parts.test.documents[0]]
    top = three.predict(texts, k=3)
    for row in (0, 1):
        assert top.indices[row].tolist() == best.tolist()
        np.testing.assert_allclose(top.scores[row], counts[best] / len(parts.train), rtol=1e-6)
    assert same(three.predict(texts[2:], k=3), three.predict(parts.test.documents[:1], k=3))
    assert top.indices[2].tolist() != best.tolist()
    # Revealed labels are left out of the fallback too.
    warm = three.predict([""], k=2, revealed=[[parts.train.labels.ids[best[0]]]])
    assert warm.indices[0].tolist() == best[1:].tolist()


# --- revealed labels and edges ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warm(parts: Parts) -> Ensemble:
    """Never to be changed."""
    from longtail import threads

    with threads.limit(1):
        ensemble = Ensemble(members="linear,galaxc", linear=LINEAR, galaxc=GALAXC)
        return ensemble.fit(parts.train, valid=parts.valid)


def test_revealed_labels_reach_the_member_that_uses_them(
    warm: Ensemble, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert warm.capabilities.revealed_labels
    assert warm.capabilities.auxiliary_edges
    assert warm.rerankers_.warm is not None
    test = warm_start.protocol(parts.train, parts.test, seed=0, inductive=True).test
    assert test.revealed is not None
    seen: dict[str, Any] = {}
    for cls in (Galaxc, LinearTree):
        real = cls._encode

        def noting(system, documents, store, *, revealed=None, edges=None, real=real):
            seen[system.name] = (revealed, edges)
            return real(system, documents, store, revealed=revealed, edges=edges)

        monkeypatch.setattr(cls, "_encode", noting)
    edges = Edges(["no such document"], ["no such label"], np.ones(1, np.float32))
    answer = warm.predict(replace(test, edges=edges), k=3)
    assert seen["linear"] == (None, None)
    assert (seen["galaxc"][0] != test.revealed).nnz == 0
    assert seen["galaxc"][1] is edges
    assert answer.to_csr(40).multiply(test.revealed).nnz == 0
    assert p_at_1(warm, test) > 90


def test_the_reranker_for_revealed_labels_scores_those_documents_alone(warm: Ensemble, parts: Parts) -> None:
    documents = parts.test.documents[:6]
    revealed = [[parts.train.labels.ids[0]] if row % 2 else [] for row in range(6)]
    with_labels, without = warm.predict(documents, revealed=revealed), warm.predict(documents)
    for row in range(6):
        equal = np.array_equal(with_labels.scores[row], without.scores[row])
        assert equal == (row % 2 == 0)
    # Members that do not use revealed labels have no use for a second re-ranker.
    assert warm.with_members(["linear"]).rerankers_.warm is None


def test_documents_of_every_kind_are_taken(three: Ensemble, parts: Parts) -> None:
    text = parts.test.documents.joined()[0]
    assert same(three.predict(text), three.predict(Documents.of([text])))
    assert three.predict([], k=3).indices.shape == (0, 3)
