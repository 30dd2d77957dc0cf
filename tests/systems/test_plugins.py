"""Systems of other packages: installed for real, found through their metadata, used as any built-in system."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import longtail
from longtail import systems
from longtail.cli.main import main
from longtail.data import write
from longtail.errors import ConfigError, ModelVersionError, PluginError, UsageError
from longtail.serving.registry import Registry
from longtail.serving.service import Service
from longtail.systems import plugins
from longtail.systems.text_vectors import TextVectors
from tests.docs.test_docs import blocks
from tests.planted import Parts
from tests.serving.running import running

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugin"


@pytest.fixture(autouse=True)
def discovery_starts_anew() -> Iterator[None]:
    plugins.found.cache_clear()
    yield
    plugins.found.cache_clear()


def declare(folder: Path, package: str, code: str, **entries: str) -> None:
    """A package as an installer leaves it: a module, and a dist-info folder with its entry points."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[longtail.systems]", *lines]), encoding="utf-8")


def test_an_ensemble_with_an_installed_plugin(
    plugin_site: Path,
    tiny: Parts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(plugin_site.glob("longtail_trigrams-0.1.0.dist-info/entry_points.txt"))
    monkeypatch.syspath_prepend(plugin_site)
    data, model = str(tmp_path / "data"), str(tmp_path / "model")
    write({"train": tiny.train, "valid": tiny.valid, "test": tiny.test}, data)
    settings = ["--system=ensemble", "--set=members=linear,trigrams", "--set=trigrams.label_text=2"]
    assert main(["train", data, "-o", model, *settings, "--quiet"]) == 0
    assert main(["evaluate", model, data, "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["P@1"]["value"] > 60
    assert main(["info", model, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["versions"]["longtail-trigrams"] == "0.1.0"
    loaded = longtail.load(model)
    assert loaded.calibrated_
    text = tiny.test.documents[0].text
    why = loaded.explain(text, k=1)
    assert why.labels[0].words
    with running(Service(Registry({"m": Path(model)}, jobs=1), jobs=1)) as server:
        answer = server.post("/v1/models/m/predict", {"documents": [{"text": text}], "k": 1})
    assert answer.status == 200, answer.body
    assert answer.json["predictions"][0]["labels"][0]["id"] == loaded.predict(text, k=1)[0][0][0]


def test_a_plugin_alone_explains_by_occlusion(
    plugin_site: Path, tiny: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(plugin_site)
    model = longtail.create("trigrams").fit(tiny.train, valid=tiny.valid)
    best = model.predict(tiny.train.documents[0], k=1)[0][0][0]
    words = set(tiny.train.labels.texts[tiny.train.labels.index[best]].split())
    why = model.explain(tiny.train.documents[0], best).labels[0]
    strongest = max(why.words, key=lambda word: word.weight)
    assert strongest.word.lower() in words


def test_another_process_finds_it_by_its_path_alone(plugin_site: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "longtail", "info", "trigrams"],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": ":".join([str(plugin_site), *filter(None, sys.path)]), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert "Package: longtail-trigrams 0.1.0" in done.stdout
    assert "label_text" in done.stdout


def test_a_model_of_a_package_that_is_gone(
    plugin_site: Path, tiny: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.syspath_prepend(plugin_site)
        longtail.create("trigrams").fit(tiny.train).save(tmp_path / "model")
    plugins.found.cache_clear()
    with pytest.raises(
        ModelVersionError, match="'trigrams', which this version does not have: if another package"
    ):
        longtail.load(tmp_path / "model")
    with pytest.raises(UsageError, match="there is no system 'trigrams'"):
        longtail.create("trigrams")


BROKEN = {
    "import": ("import no_such_package\n", "importing broken:System failed with ModuleNotFoundError"),
    "exit": ("import sys\nsys.exit(3)\n", "importing broken:System failed with SystemExit: 3"),
    "missing": ("x = 1\n", "importing broken:System failed with AttributeError"),
    "no class": ("System = 3\n", "must be a class that derives from longtail.systems.base.System"),
    "abstract": ("from longtail.systems.base import System\n", "System lacks _encode, _fit"),
    "another name": (
        "from longtail.systems.dummy import Dummy as System\n",
        "Dummy.name is 'dummy', but its entry point is 'broken'",
    ),
    "no capabilities": (
        "from longtail.systems.dummy import Dummy\nclass System(Dummy):\n  name='broken'; capabilities=None\n",
        "System.capabilities must be of the type Capabilities",
    ),
    "no settings": (
        "from longtail.systems.dummy import Dummy\nclass System(Dummy):\n  name='broken'; Config=dict\n",
        "System.Config must be a dataclass that derives from SystemConfig",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_one_sentence_and_breaks_nothing_else(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, reason = BROKEN[kind]
    declare(tmp_path, "broken", code, broken="broken:System")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with pytest.raises(PluginError) as caught:
        longtail.create("broken")
    sentence = str(caught.value)
    assert sentence.startswith("the system 'broken' of the package broken 1.0 cannot be used: ")
    assert reason in sentence
    assert sentence.endswith("; repair or uninstall broken")
    assert "\n" not in sentence
    assert longtail.create("linear").name == "linear"
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    if kind == "import":
        assert main(["info"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith("linear ") for line in lines)
        assert any(line.startswith("broken ") and "cannot be used" in line for line in lines)
        assert main(["doctor"]) == 0, "what is needed works"
        assert f"advice: {sentence}" in capsys.readouterr().out
        # The search for the owner of an unknown setting looks at all systems that work.
        with pytest.raises(ConfigError, match="'beam' is no setting of an ensemble"):
            longtail.fit(["a cat"], [["cats"]], beam=3)


@pytest.mark.parametrize("name", ["linear", "auto"])
def test_a_plugin_cannot_take_a_name_of_longtail(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(tmp_path, "taker", "raise SystemExit('imported')\n", **{name: "taker:System"})
    monkeypatch.syspath_prepend(tmp_path)
    assert systems.names() == list(systems.REGISTRY)
    assert longtail.create("linear").__module__ == "longtail.systems.linear.system"
    assert main(["doctor", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["plugins"]
    assert f"'{name}' is a name of longtail itself" in found["problem"]


def test_two_packages_with_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(tmp_path, "first", "", same="first:System")
    declare(tmp_path, "second", "", same="second:System")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"several packages bring a system of this name \(first, second\)"):
        longtail.create("same")


def test_a_name_that_no_folder_could_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(tmp_path, "odd", "", **{"Odd.Name": "odd:System"})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match="a system's name has lower-case letters"):
        longtail.create("Odd.Name")


def test_the_page_shows_the_example(plugin_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "plugins.md"
    names: dict[str, type[TextVectors]] = {}
    exec(blocks(page, "python")[0], names)
    monkeypatch.syspath_prepend(plugin_site)
    texts = ["a cat", "Harbour cranes", ""]
    shown, installed = names["Trigrams"]().vectors(texts), systems.get("trigrams")
    assert issubclass(installed, TextVectors)
    assert shown.tolist() == installed().vectors(texts).tolist()
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert tomllib.loads(blocks(page, "toml")[0])["project"] == declared
