"""A model folder loads as what was saved; what does not fit together is refused, whatever the manifest says."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import orjson
import pytest

from longtail import storage
from longtail.errors import ModelIntegrityError, ModelVersionError, UsageError
from longtail.evaluation.environment import versions
from longtail.storage.manifest import write_manifest
from longtail.systems import create, load, model_folder
from longtail.systems.base import System, SystemConfig
from longtail.systems.dummy import Dummy
from longtail.systems.linear.system import LinearTree
from longtail.text.tfidf import TfidfFeatures
from longtail.types import Dataset, LabelSet
from tests.systems.damage import change_json, change_labels, fit_manifest, refused

# --- what was saved --------------------------------------------------------------------------------------


def test_a_copy_loads_and_has_the_facts_of_its_training(model, tiny):
    system = load(model)
    assert system.labels_.ids == tiny.train.labels.ids
    assert system.labels_.texts == tiny.train.labels.texts
    assert system.label_counts_.tolist() == tiny.train.label_counts.tolist()
    assert system.facts_.documents == 180
    assert system.facts_.fingerprint == tiny.train.fingerprint()
    assert set(system.facts_.metrics) >= {"P@1", "PSP@5"}


def test_files_that_the_manifest_does_not_list_are_never_read(model):
    (model / "labels.jsonl.bak").write_text("not JSON")
    (model / "features").mkdir(exist_ok=True)
    (model / "features" / "more.safetensors").write_bytes(b"\0")
    assert len(load(model).labels_) == 40


def test_further_keys_of_labels_are_kept(tmp_path):
    data = Dataset.from_texts(["a", "b"], [["x"], ["y"]])
    labels = LabelSet(["x", "y"], ["", "why"], [{"broader": ["y"]}, {}])
    create("dummy").fit(replace(data, labels=labels)).save(tmp_path / "model")
    again = load(tmp_path / "model").labels_
    assert (again.ids, again.texts, again.extra) == (labels.ids, labels.texts, labels.extra)


def test_describe_tells_without_loading(dummy, tiny):
    found = model_folder.describe(dummy)
    assert found["format"] == model_folder.FORMAT == 2
    assert found["system"] == "dummy"
    assert found["config"] == {"fields": ["title", "text"], "seed": 0, "calibrate": "isotonic"}
    assert found["data"] == {
        "documents": 180,
        "labels": 40,
        "warm_labels": int((tiny.train.label_counts > 0).sum()),
        "fingerprint": tiny.train.fingerprint(),
    }
    assert found["seed"] == 0
    assert found["versions"] == versions()
    assert found["versions"]["numpy"] == np.__version__
    assert found["metrics"]["P@1"].keys() == {"value", "low", "high"}


def test_describe_refuses_what_load_refuses(dummy):
    (dummy / "label_counts.safetensors").write_bytes(b"")
    with pytest.raises(ModelIntegrityError, match=r"label_counts.safetensors has 0 bytes"):
        model_folder.describe(dummy)


def test_describe_reads_systems_that_this_version_has_not(dummy):
    change_json(dummy / "config.json", lambda found: found.update(system="oracle"))
    assert model_folder.describe(dummy)["system"] == "oracle"


# --- the right class -------------------------------------------------------------------------------------


def test_a_class_loads_its_own_models_alone(dummy):
    assert type(Dummy.load(dummy)) is Dummy
    assert type(System.load(dummy)) is Dummy
    with pytest.raises(UsageError, match=r"dummy is a model of the system 'dummy', not 'linear'"):
        LinearTree.load(dummy)


def test_a_users_own_class_loads_what_it_saved(dummy, tiny):
    class Mine(Dummy):
        """Another Dummy under the same name."""

    class Other(Dummy):
        """A system that the registry does not have."""

        name = "other"

    assert type(Mine.load(dummy)) is Mine
    Other().fit(tiny.train).save(dummy.parent / "other")
    assert type(Other.load(dummy.parent / "other")) is Other
    with pytest.raises(ModelVersionError, match="'other', which this version does not have"):
        load(dummy.parent / "other")


def test_what_is_no_model_folder_is_said(tmp_path):
    refused(tmp_path / "nowhere")
    refused(tmp_path)
    (tmp_path / "file").write_text("text")
    refused(tmp_path / "file")
    write_manifest(tmp_path)
    assert "config.json" in refused(tmp_path, ModelIntegrityError)


# --- parts that do not fit, with a manifest that does


@pytest.mark.parametrize("number", [0, -1, 3, 10**15])
def test_another_format_is_refused(model, number):
    change_json(model / "config.json", lambda found: found.update(format=number))
    assert f"model format {number}, this version reads up to 2" in refused(model, ModelVersionError)


def test_a_dummy_of_format_1_is_read(dummy, tiny):
    before = load(dummy).predict(tiny.test)
    change_json(dummy / "config.json", lambda found: found.update(format=1))
    assert model_folder.describe(dummy)["format"] == 1
    after = load(dummy).predict(tiny.test)
    assert (before.indices == after.indices).all()
    assert (before.scores == after.scores).all()


@pytest.mark.parametrize("name", ["eclare", "galaxc", "gnnxml", "gudn", "xgrank", "oracle"])
def test_other_systems_of_format_1_have_to_be_trained_again(dummy, name):
    change_json(dummy / "config.json", lambda found: found.update(format=1, system=name))
    message = f"{dummy} is a model of '{name}' in format 1, which this version does not read: train it again"
    assert refused(dummy, ModelVersionError) == message


def test_former_names_of_settings_are_read_in_a_model(dummy):
    class Renamed(Dummy):
        """A setting that had other names."""

        @dataclass(frozen=True, kw_only=True, slots=True)
        class Config(SystemConfig):
            """Settings."""

            renamed: ClassVar[dict[str, str]] = {
                "deep": "depth",
                "tree.deep": "depth",
                "gone": "leave it out",
            }
            depth: int = 1

    config = dummy / "config.json"
    change_json(config, lambda found: found["config"].update(deep=3))
    assert Renamed.load(dummy).config == Renamed.Config(depth=3)
    change_json(config, lambda found: found["config"].update(gone=3))
    with pytest.raises(ModelVersionError, match="unknown configuration key 'gone'"):
        Renamed.load(dummy)


def test_text_features_are_saved_once_under_the_name_of_their_content(tiny, tmp_path):
    class Twice(LinearTree):
        """Saves its vocabulary for two users."""

        name = "twice"

        def _save_parts(self, folder, features):
            super()._save_parts(folder, features)
            again = TfidfFeatures(self.features_.config)
            again.fit_transform(tiny.train.documents.joined())
            assert features.save(again) == features.save(self.features_)

        def _load_parts(self, folder, features):
            super()._load_parts(folder, features)
            assert features.load(self.features_.digest[:16]) is self.features_

    # One text per document: the features do not depend on labels then.
    settings = {"tree": {"leaf_size": 8, "arity": 4}, "text": {"title_share": "none"}}
    Twice(**settings).fit(tiny.train).save(tmp_path / "model")
    assert len(list((tmp_path / "model" / "features").iterdir())) == 1
    Twice.load(tmp_path / "model")


def test_text_features_that_are_missing_or_another_s_are_refused(copy, saved):
    if (saved / "linear.json").exists():
        model = copy()
        change_json(model / "linear.json", lambda found: found.update(features="elsewhere"))
        assert "the text features 'elsewhere' are missing" in refused(model, ModelIntegrityError)
        change_json(model / "linear.json", lambda found: found.update(features=3))
        assert "3 is not the name of text features" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize("number", [None, True, "1", 1.0, [1], {}])
def test_a_format_that_is_no_number_is_refused(model, number):
    change_json(model / "config.json", lambda found: found.update(format=number))
    assert "names no format" in refused(model)


@pytest.mark.parametrize("value", [None, 3, "text", [], [{}], {}])
def test_a_config_that_is_no_description_is_refused(model, value):
    (model / "config.json").write_bytes(orjson.dumps(value))
    fit_manifest(model)
    assert "names no format" in refused(model)


def test_an_unknown_system_is_refused(model):
    change_json(model / "config.json", lambda found: found.update(system="oracle"))
    assert "system 'oracle', which this version does not have" in refused(model, ModelVersionError)


def test_the_system_of_another_model_is_refused(copy, saved):
    name = orjson.loads((saved / "config.json").read_bytes())["system"]
    if name == "dummy":  # which has no part that linear could take for its own
        model = copy()
        change_json(model / "config.json", lambda found: found.update(system="linear"))
        refused(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"oracle": 1}, "unknown configuration key 'oracle'"),
        ({"seed": "0"}, "'seed' must be of type int"),
        ({"seed": -1}, "'seed' must be from 0 to"),
        ({"fields": ["body"]}, "'fields' must be some of"),
        ({"fields": {"a": 1}}, "'fields'"),
    ],
)
def test_settings_of_another_version_are_refused(model, settings, message):
    change_json(model / "config.json", lambda found: found["config"].update(settings))
    assert message in refused(model, ModelVersionError)


@pytest.mark.parametrize("settings", [{"leaf_size": 0}, {"depth": 3}, 3, None, []])
def test_settings_of_a_part_are_checked_too(model, settings):
    change_json(model / "config.json", lambda found: found["config"].update(tree=settings))
    message = refused(model, ModelVersionError)
    assert "'tree" in message or "'leaf_size'" in message


def test_a_tree_that_is_not_there_is_missed(copy, saved):
    if "tree" in orjson.loads((saved / "config.json").read_bytes())["config"]:
        model = copy()
        change_json(model / "config.json", lambda found: found["config"]["tree"].update(trees=3))
        assert "tree-" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize("key", ["config", "data", "metrics", "seed", "system", "versions"])
@pytest.mark.parametrize("value", ["missing", None, 1.5, [1], True])
def test_every_key_of_the_description_is_needed(model, key, value):
    def change(found):
        found[key] = value
        return {k: v for k, v in found.items() if v != "missing"}

    change_json(model / "config.json", change)
    assert f"config.json: '{key}' must be there" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("documents", None),
        ("documents", "180"),
        ("documents", 0),
        ("documents", -1),
        ("documents", 3),
        ("documents", 180.0),
        ("labels", None),
        ("labels", 39),
        ("labels", 41),
        ("warm_labels", None),
        ("fingerprint", None),
        ("fingerprint", 7),
    ],
)
def test_the_facts_about_the_data_are_checked(model, key, value):
    change_json(model / "config.json", lambda found: found["data"].update({key: value}))
    refused(model, ModelIntegrityError)


@pytest.mark.parametrize(
    "metric", [None, 3.0, {}, {"value": 1.0, "low": 0.0}, {"value": "1", "low": 0, "high": 2}]
)
def test_metrics_are_checked(model, metric):
    change_json(model / "config.json", lambda found: found["metrics"].update({"P@1": metric}))
    assert "metrics" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize(
    "counts",
    [
        np.ones(39, np.int64),
        np.ones(41, np.int64),
        np.ones(0, np.int64),
        np.ones((40, 1), np.int64),
        np.int64(40),
        np.ones(40, np.float32),
        np.ones(40, np.int32),
        np.full(40, -1),
        np.full(40, 181),
    ],
    ids=lambda counts: f"{counts.dtype}{counts.shape}{counts.max(initial=0)}",
)
def test_label_counts_must_fit(model, counts):
    storage.write_arrays(model / "label_counts.safetensors", {"counts": np.asarray(counts)})
    fit_manifest(model)
    assert "label_counts.safetensors" in refused(model, ModelIntegrityError)


def test_label_counts_must_have_their_name(model):
    storage.write_arrays(model / "label_counts.safetensors", {"count": np.ones(40, np.int64)})
    fit_manifest(model)
    assert "label_counts.safetensors" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize("where", [0, 20, -1])
def test_a_missing_label_is_noticed(model, where):
    change_labels(model, lambda labels: labels.pop(where))
    assert "labels.jsonl has 39 labels, but config.json says 40" in refused(model, ModelIntegrityError)


def test_a_label_more_is_noticed(model):
    change_labels(model, lambda labels: labels.append({"id": "new", "text": ""}))
    assert "labels.jsonl has 41 labels" in refused(model, ModelIntegrityError)


def test_a_label_that_is_there_twice_is_noticed(model):
    change_labels(model, lambda labels: labels[3].update(id="label-5"))
    assert "'label-5' is there twice" in refused(model, ModelIntegrityError)


@pytest.mark.parametrize(
    "record",
    [
        {"id": 3, "text": "x"},
        {"id": "x", "text": None},
        {"id": ["x"], "text": "x"},
        {"id": "x"},
        {"text": "x"},
        ["x", "x"],
        "x",
        None,
    ],
)
def test_labels_of_wrong_types_are_refused(model, record):
    change_labels(model, lambda labels: labels.__setitem__(6, record))
    assert "labels.jsonl, line 7: a label must have" in refused(model, ModelIntegrityError)


def test_labels_that_are_fewer_everywhere_do_not_fit_the_tree(copy, saved):
    name = orjson.loads((saved / "config.json").read_bytes())["system"]
    model = copy()
    counts = storage.read_arrays(model / "label_counts.safetensors")["counts"]
    storage.write_arrays(model / "label_counts.safetensors", {"counts": counts[:20]})
    change_labels(model, lambda labels: labels.__delitem__(slice(20, None)))
    change_json(model / "config.json", lambda found: found["data"].update(labels=20))
    if name == "dummy":  # whose counts are the whole model: this is another one, and it is sound
        assert load(model).predict(["a"], k=30).indices.max() < 20
    else:
        with pytest.raises(ModelIntegrityError, match="label"):
            load(model)
