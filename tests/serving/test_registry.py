"""Models of the service: names, versions, the self-test, and reload in one step or not at all."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from pathlib import Path

import pytest

from longtail.errors import BusyError, LongtailError, ModelError, UsageError
from longtail.serving import registry as module
from longtail.serving.problem import Problem
from longtail.serving.registry import Registry, load, named_paths, version_of
from longtail.systems import create
from longtail.types import Dataset, Documents


@pytest.fixture
def folder(linear: Path, tmp_path: Path) -> Path:
    """A model folder that a test may change."""
    return Path(shutil.copytree(linear, tmp_path / "model"))


def replace(folder: Path, other: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(other, folder)


def test_names_are_given_or_those_of_folders(tmp_path):
    found = named_paths([f"{tmp_path}/my model.v2", "b=models/x", "c=d=e"])
    assert found == {"my-model.v2": tmp_path / "my model.v2", "b": Path("models/x"), "c": Path("d=e")}
    with pytest.raises(UsageError, match="two models are called 'b'"):
        named_paths(["b=x", "b=y"])
    with pytest.raises(UsageError, match="has no usable name"):
        named_paths(["/"])
    with pytest.raises(UsageError, match="no model to serve"):
        Registry({})


def test_the_version_is_that_of_the_content(linear, knn, folder):
    assert version_of(folder) == version_of(linear) != version_of(knn)
    with pytest.raises(ModelError, match="is no model folder"):
        version_of(folder / "nothing")
    with pytest.raises(ModelError, match=r"it has no manifest\.json"):
        version_of(folder.parent)
    with pytest.raises(ModelError, match="cannot read"):
        version_of(folder / "config.json")


def test_a_reload_takes_what_changed(folder, knn):
    registry = Registry({"a": folder, "b": knn}, jobs=1)
    before = dict(registry.models)
    assert registry.reload() == {name: served.version for name, served in before.items()}
    assert registry.get("a") is before["a"]
    replace(folder, knn)
    assert registry.reload()["a"] == before["b"].version
    assert registry.get("a").system.name == "knn"
    assert registry.get("b") is before["b"]


def test_a_reload_without_a_change_leaves_the_garbage_collector_alone(folder, knn, monkeypatch):
    registry = Registry({"a": folder}, jobs=1)
    settled: list[None] = []
    monkeypatch.setattr(module, "settle_memory", lambda: settled.append(None))
    registry.reload()
    assert settled == []
    replace(folder, knn)
    registry.reload()
    assert settled


def test_after_a_failed_reload_all_models_are_those_of_before(folder, linear, knn, tmp_path):
    second = Path(shutil.copytree(knn, tmp_path / "second"))
    registry = Registry({"a": folder, "b": second}, jobs=1)
    before = dict(registry.models)
    replace(folder, knn)
    (second / "labels.jsonl").write_bytes(b"damaged")
    (second / "manifest.json").write_bytes((second / "manifest.json").read_bytes() + b" ")
    with pytest.raises(LongtailError):
        registry.reload()
    assert dict(registry.models) == before
    replace(second, linear)
    assert registry.reload()["b"] == version_of(linear)
    assert registry.get("a").system.name == "knn"


def test_a_folder_that_is_gone_changes_nothing(folder):
    registry = Registry({"a": folder}, jobs=1)
    before = registry.get("a")
    shutil.rmtree(folder)
    with pytest.raises(ModelError):
        registry.reload()
    assert registry.get("a") is before


def test_only_one_reload_at_a_time(folder, knn, monkeypatch):
    registry = Registry({"a": folder}, jobs=1)
    entered, go_on = threading.Event(), threading.Event()

    def slowly(name, path):
        entered.set()
        assert go_on.wait(30)
        return load(name, path)

    monkeypatch.setattr(module, "load", slowly)
    replace(folder, knn)
    thread = threading.Thread(target=registry.reload)
    thread.start()
    assert entered.wait(30)
    with pytest.raises(Problem, match="under way") as caught:
        registry.reload()
    assert caught.value.status == 409
    assert registry.get("a").system.name == "linear"
    go_on.set()
    thread.join()
    assert registry.get("a").system.name == "knn"


def test_a_folder_that_is_replaced_while_it_is_read_is_not_used(folder, knn, monkeypatch):
    load_model = module.longtail.load

    def replacing(path):
        found = load_model(path)
        replace(folder, knn)
        return found

    monkeypatch.setattr(module.longtail, "load", replacing)
    with pytest.raises(BusyError, match="was replaced while it was read"):
        load("a", folder)


def test_a_model_that_cannot_tag_texts_is_not_used(linear, tiny, tmp_path, monkeypatch):
    rows = Documents.from_features(tiny.train.Y)
    create("linear").fit(Dataset(rows, tiny.train.labels, tiny.train.Y)).save(tmp_path / "rows")
    with pytest.raises(UsageError, match="feature"):
        load("rows", tmp_path / "rows")
    model = type(load("a", linear).system)
    predict = model.predict

    def not_a_number(self, *arguments, **options):
        best = predict(self, *arguments, **options)
        best.scores[:] = float("nan")
        return best

    monkeypatch.setattr(model, "predict", not_a_number)
    with pytest.raises(ModelError, match="finite scores"):
        load("a", linear)


def test_a_model_that_learned_takes_the_place_of_the_one_it_came_from(folder, knn):
    registry = Registry({"a": folder}, jobs=1)
    before = registry.get("a")
    after = dataclasses.replace(before, version=f"{before.version}+1")
    again = dataclasses.replace(before, version=f"{before.version}+2")
    assert registry.exchange(before, after)
    assert registry.get("a") is after
    assert not registry.exchange(before, again)
    registry.reload()
    assert registry.get("a") is after  # the folder is the same
    replace(folder, knn)
    registry.reload()
    assert registry.get("a").version == version_of(knn)


def test_an_unknown_model_is_a_problem(registry):
    with pytest.raises(Problem, match="there are linear, near") as caught:
        registry.get("other")
    assert caught.value.status == 404
