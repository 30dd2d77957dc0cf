"""Model folders of ensembles: the same scores and bytes again, and every damage is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longtail
from longtail.data.hold_out import ENOUGH_TO_HOLD_OUT
from longtail.errors import ModelError, ModelIntegrityError
from longtail.storage import read_arrays, read_json, write_arrays
from longtail.storage.manifest import MANIFEST
from longtail.systems.ensemble.system import Ensemble
from longtail.types import Dataset
from tests.planted import Parts, planted
from tests.systems.damage import UNREAD, change_json, fit_manifest, names, refused
from tests.systems.ensemble.worlds import GALAXC, LINEAR, folder_bytes, same


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def saved_and_loaded(system: Ensemble, place: Path) -> Ensemble:
    """What is loaded from the folder; it is saved to the same bytes again."""
    system.save(place)
    again = Ensemble.load(place)
    again.save(place.with_name("again"))
    assert folder_bytes(place) == folder_bytes(place.with_name("again"))
    return again


def test_a_saved_ensemble_gives_the_same_scores(three: Ensemble, parts: Parts, saved: Path, tmp_path) -> None:
    again = longtail.load(saved)
    assert isinstance(again, Ensemble)
    assert same(again.predict(parts.test), three.predict(parts.test))
    assert again.config == three.config
    assert again.facts_ == three.facts_
    assert again.capabilities == three.capabilities
    assert again.subsets_ == three.subsets_
    again.save(tmp_path / "copy")
    assert folder_bytes(saved) == folder_bytes(tmp_path / "copy")


def test_each_vocabulary_is_saved_once(saved: Path) -> None:
    vocabularies = {path.name for path in (saved / "features").iterdir()}
    names_of = {
        member: read_json(saved / "members" / member / f"{member}.json")["features"]
        for member in ("linear", "lexical", "knn")
    }
    assert names_of["lexical"] == names_of["knn"] != names_of["linear"]
    assert vocabularies == set(names_of.values())
    assert not list((saved / "members").rglob("text.json"))
    # And loaded once.
    lexical, knn = (vars(m.system) for m in Ensemble.load(saved).members_[1:])
    assert lexical["features_"] is knn["representation_"].features


def test_held_out_documents_are_not_those_of_the_members(tmp_path: Path) -> None:
    data = planted(n_documents=ENOUGH_TO_HOLD_OUT, n_labels=60)
    ensemble = Ensemble(members="linear,knn,dummy", linear=LINEAR).fit(data)
    again = saved_and_loaded(ensemble, tmp_path / "model")
    assert same(again.predict(data), ensemble.predict(data))
    assert same(again.predict([""]), ensemble.predict([""]))
    for one, other in zip(ensemble.members_, again.members_, strict=True):
        assert other.system.facts_ == one.system.facts_
        assert (other.system.label_counts_ == one.system.label_counts_).all()
    assert (again.group_ == ensemble.group_).all()


def test_with_some_members_it_can_be_saved(three: Ensemble, parts: Parts, tmp_path: Path) -> None:
    smaller = three.with_members(["lexical", "knn"])
    again = saved_and_loaded(smaller, tmp_path / "model")
    assert same(again.predict(parts.test), smaller.predict(parts.test))
    assert again.config.members == ("lexical", "knn")
    assert not (tmp_path / "model" / "members" / "linear").exists()
    assert len(list((tmp_path / "model").glob("reranker-*"))) == 2


def test_the_reranker_for_revealed_labels_is_saved(parts: Parts, tmp_path: Path) -> None:
    ensemble = Ensemble(members="galaxc,dummy", galaxc=GALAXC).fit(parts.train, valid=parts.valid)
    again = saved_and_loaded(ensemble, tmp_path / "model")
    revealed = [[parts.train.labels.ids[0]]] * 5
    documents = parts.test.documents[:5]
    assert again.rerankers_.warm is not None
    answers = [system.predict(documents, revealed=revealed) for system in (ensemble, again)]
    assert same(*answers)
    (tmp_path / "model" / "reranker-warm.safetensors").unlink()
    fit_manifest(tmp_path / "model")
    assert "reranker-warm" in refused(tmp_path / "model", ModelIntegrityError)


def test_without_training_documents_label_texts_are_enough(tmp_path: Path) -> None:
    nothing = Dataset.from_texts([], [], {"r": "red apple", "g": "green pear"})
    ensemble = Ensemble(members="lexical").fit(nothing)
    again = saved_and_loaded(ensemble, tmp_path / "model")
    assert again.predict(["a pear"], k=1).indices[0, 0] == 1
    assert again.predict(["nothing"], k=1).indices[0, 0] == -1


# --- damage -----------------------------------------------------------------------------------------------


def test_a_missing_member_folder_is_refused(model: Path) -> None:
    shutil.rmtree(model / "members" / "lexical")
    fit_manifest(model)
    message = refused(model, ModelIntegrityError)
    assert "the folder of the member 'lexical' is missing" in message


def test_no_part_of_a_member_can_be_missing(saved: Path, tmp_path: Path) -> None:
    for name in names(saved, but=(MANIFEST, UNREAD)):
        model = Path(shutil.copytree(saved, tmp_path / "model"))
        (model / name).unlink()
        fit_manifest(model)
        message = refused(model)
        if name.startswith("members/"):
            assert f"the member '{name.split('/')[1]}'" in message
        shutil.rmtree(model)


def test_a_part_in_the_place_of_another_is_refused(saved: Path, tmp_path: Path) -> None:
    found = names(saved, but=(MANIFEST, UNREAD))
    counts = "label_counts.safetensors"
    for one, other in zip(found, [*found[1:], found[0]], strict=True):
        # Trees of one model, and counts of members with the same documents, cannot be told apart.
        if all("/tree-" in name for name in (one, other)) or all(n.endswith(counts) for n in (one, other)):
            continue
        model = Path(shutil.copytree(saved, tmp_path / "model"))
        shutil.copyfile(saved / one, model / other)
        fit_manifest(model)
        refused(model)
        shutil.rmtree(model)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found.update(weights=found["weights"] * np.float32(np.nan)), "must be finite"),
        (lambda found: found.update(bias=found["bias"][1:]), "bias is (8,), but must be (9,)"),
        (lambda found: found.pop("values"), "the array 'values' is missing"),
        (lambda found: found.update(more=found["bias"]), "there is an array 'more'"),
    ],
)
def test_a_damaged_reranker_is_refused(
    model: Path, change: Callable[[dict[str, np.ndarray]], Any], says: str
) -> None:
    path = model / "reranker-2.safetensors"
    arrays = dict(read_arrays(path))
    change(arrays)
    write_arrays(path, arrays)
    fit_manifest(model)
    message = refused(model, ModelIntegrityError)
    assert str(path) in message
    assert says in message


def test_a_reranker_of_another_width_is_refused(saved: Path, model: Path) -> None:
    # That of lexical and knn, in the place of the one for all.
    shutil.copyfile(saved / "reranker-1.safetensors", model / "reranker-2.safetensors")
    fit_manifest(model)
    assert "weights is (9, 5), but must be (9, 8)" in refused(model, ModelIntegrityError)


def drop_member(found: dict[str, Any]) -> None:
    del found["members"][0]
    found["rerankers"] = found["rerankers"][:2]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: [found], "ensemble.json does not describe an ensemble"),
        (lambda found: found.pop("members"), "the members of the ensemble are missing"),
        (lambda found: found.update(members=[]), "the members of the ensemble are missing"),
        (lambda found: found.update(members={"linear": 1}), "the members of the ensemble are missing"),
        (lambda found: found["members"].append("linear"), "does not describe its members"),
        (lambda found: found["members"][0].pop("name"), "does not describe its members"),
        (lambda found: found["members"][0].pop("labels"), "does not describe its members"),
        (lambda found: found["members"][0].update(labels=41), "does not describe its members"),
        (lambda found: found["members"][0].update(labels=-1), "does not describe its members"),
        (lambda found: found["members"][0].update(labels=39), "counts is (40,), but must be (39,)"),
        (lambda found: found["members"][0].update(documents=-1), "does not describe its members"),
        (lambda found: found["members"][0].update(documents=0), "must have training documents"),
        (lambda found: found["members"][0].update(system="ensemble"), "does not describe its members"),
        (lambda found: found["members"][0].update(system="linears"), "there is no system 'linears'"),
        (lambda found: found["members"][0].update(name="../linear"), "is missing"),
        (lambda found: found["members"][0]["config"].update(unknown=1), "unknown configuration key"),
        (lambda found: found.pop("rerankers"), "the re-ranker of all members is missing"),
        (lambda found: found["rerankers"].pop(), "the re-ranker of all members is missing"),
        (lambda found: found["rerankers"].append(["eclare"]), "re-ranker for members that it does not have"),
        (lambda found: found["rerankers"].append("linear"), "re-ranker for members that it does not have"),
        (lambda found: found["rerankers"].append(["linear"]), "reranker-3.safetensors"),
        (lambda found: found.update(warm=True), "reranker-warm.safetensors"),
    ],
)
def test_a_wrong_description_is_refused(model: Path, change: Callable[[Any], Any], says: str) -> None:
    def changed(found: Any) -> Any:
        made = change(found)
        return made if isinstance(made, list) and found is made[0] else found

    change_json(model / "ensemble.json", changed)
    fit_manifest(model)
    assert says in refused(model, ModelError)


def test_wrong_label_counts_of_a_member_are_refused(model: Path) -> None:
    path = model / "members" / "linear" / "label_counts.safetensors"
    for counts, says in (
        (np.full(40, -1), "counts must be at least 0"),
        (np.ones(39, np.int64), "counts is (39,), but must be (40,)"),
        (np.ones(40, np.float32), "counts must be of type int64"),
    ):
        write_arrays(path, {"counts": counts})
        fit_manifest(model)
        message = refused(model, ModelIntegrityError)
        assert "the member 'linear'" in message
        assert says in message
