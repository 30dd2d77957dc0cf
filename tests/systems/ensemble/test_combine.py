"""Ensembles of models that were trained apart."""

from __future__ import annotations

from pathlib import Path

import pytest

import longtail
from longtail.config import merge
from longtail.errors import ConfigError, NotFittedError, UsageError
from longtail.run import Run
from longtail.systems import create
from longtail.systems.base import System
from longtail.systems.ensemble.members import MEMBER_DEFAULTS
from longtail.systems.ensemble.system import Ensemble
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.ensemble.worlds import ECLARE, LINEAR, folder_bytes, p_at_1, same


@pytest.fixture(scope="module")
def models(parts: Parts) -> list[System]:
    """Two of the same system and one of another; never to be changed."""
    return [
        create("linear", LINEAR).fit(parts.train),
        create("lexical").fit(parts.train),
        create("linear", {"tree": {"leaf_size": 4, "arity": 8, "trees": 1}, "fields": ["title"]}).fit(
            parts.train
        ),
    ]


@pytest.fixture(scope="module")
def combined(models: list[System], parts: Parts) -> Ensemble:
    """Never to be changed."""
    return Ensemble.combine(models, parts.valid)


def test_trained_models_become_members(combined: Ensemble, models: list[System], parts: Parts) -> None:
    assert [m.name for m in combined.members_] == ["linear", "lexical", "linear-2"]
    assert [m.system for m in combined.members_] == models
    assert combined.config.members == ("linear", "lexical", "linear-2")
    assert combined.labels_ is models[0].labels_
    assert combined.capabilities.new_labels
    assert combined.feature_names_[-1] == "linear-2.reciprocal_rank"
    assert p_at_1(combined, parts.test) >= max(p_at_1(model, parts.test) for model in models)
    assert combined.subsets_[-1] == ("linear", "lexical", "linear-2")


def test_combining_gives_what_training_together_gives(parts: Parts) -> None:
    one_tree = merge(LINEAR, MEMBER_DEFAULTS["linear"])
    together = Ensemble(members="linear,lexical", linear=LINEAR).fit(parts.train, valid=parts.valid)
    apart = Ensemble.combine(
        [create("linear", one_tree).fit(parts.train), create("lexical").fit(parts.train)], parts.valid
    )
    assert same(together.predict(parts.test), apart.predict(parts.test))
    assert apart.facts_ == together.facts_


def test_a_combined_ensemble_is_saved_and_loaded(combined: Ensemble, parts: Parts, tmp_path: Path) -> None:
    combined.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert same(again.predict(parts.test), combined.predict(parts.test))
    assert again.config == combined.config
    again.save(tmp_path / "copy")
    assert folder_bytes(tmp_path / "model") == folder_bytes(tmp_path / "copy")


def test_models_of_other_documents_with_the_same_labels_are_combined(parts: Parts, tmp_path: Path) -> None:
    half = parts.train.take(range(150))
    combined = Ensemble.combine([create("knn").fit(parts.train), create("knn").fit(half)], parts.valid)
    combined.save(tmp_path / "model")
    again = Ensemble.load(tmp_path / "model")
    assert [m.system.facts_.documents for m in again.members_] == [300, 150]
    assert same(again.predict(parts.test), combined.predict(parts.test))


def test_equal_vocabularies_are_used_once(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"eclare": {**ECLARE, "text": {}}}
    models = [create(name, settings.get(name)).fit(parts.train) for name in ("eclare", "lexical", "knn")]
    sizes: list[int] = []
    real = TfidfFeatures.transform

    def counted(features: TfidfFeatures, texts: list[str]) -> object:
        sizes.append(len(texts))
        return real(features, texts)

    monkeypatch.setattr(TfidfFeatures, "transform", counted)
    combined = Ensemble.combine(models, parts.valid)
    sizes.clear()
    combined.predict(parts.test.documents[:7])
    assert sizes == [7]


def test_settings_and_phases_are_those_of_any_ensemble(models: list[System], parts: Parts) -> None:
    run = Run()
    combined = Ensemble.combine(
        models[:2], parts.valid, run=run, candidates=7, reranker={"balance": 0.0, "subsets": False}
    )
    assert combined.config.candidates == 7
    assert combined.config.reranker.balance == 0
    assert combined.subsets_ == [("linear", "lexical")]
    assert list(run.seconds) == ["re-ranker", "calibration", "validate"]
    assert combined.facts_.metrics["P@1"]["value"] == p_at_1(combined, parts.valid)
    with pytest.raises(ConfigError, match="unknown configuration key 'candidate'"):
        Ensemble.combine(models[:2], parts.valid, candidate=7)


def test_few_documents_combine_them_by_rank(models: list[System], parts: Parts) -> None:
    run = Run()
    combined = Ensemble.combine(models[:2], parts.valid.take(range(10)), run=run)
    assert "10 validation documents are too few" in run.messages[0]
    assert p_at_1(combined, parts.test) >= 95


def test_validation_labels_that_the_models_do_not_have_are_misses(models: list[System], parts: Parts) -> None:
    texts = parts.valid.documents.joined()
    strange = Dataset.from_texts(texts, [["unheard of"]] * len(texts))
    combined = Ensemble.combine(models[:2], strange)
    assert len(combined.labels_) == 40
    assert combined.facts_.metrics["P@1"]["value"] == 0


def test_what_cannot_be_combined_is_refused(models: list[System], combined: Ensemble, parts: Parts) -> None:
    with pytest.raises(UsageError, match="an ensemble needs at least one model"):
        Ensemble.combine([], parts.valid)
    with pytest.raises(NotFittedError, match="the system 'linear' is not trained"):
        Ensemble.combine([models[0], create("linear")], parts.valid)
    with pytest.raises(UsageError, match="combine its members instead"):
        Ensemble.combine([models[0], combined], parts.valid)
    other = create("dummy").fit(Dataset.from_texts(["a"], [["x"]]))
    with pytest.raises(UsageError, match=r"model 2 \('dummy', 1 labels\) was trained on other labels"):
        Ensemble.combine([models[0], other], parts.valid)


def test_an_ensemble_with_models_of_its_own_cannot_be_trained(combined: Ensemble, parts: Parts) -> None:
    with pytest.raises(UsageError, match="there is no system 'linear-2': did you mean 'linear'"):
        Ensemble(combined.config).fit(parts.train)
