"""The documentation is true: links resolve, commands and options exist, tables match the code, snippets run."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import longtail
from longtail.cli.main import COMMANDS, main
from longtail.cli.settings_table import settings_of
from longtail.data.formats import FORMATS
from longtail.systems import REGISTRY
from longtail.systems.linear import LinearTree
from longtail.text.config import TextConfig

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
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
        for parameter in import_module(f"longtail.cli.{verb}").command.params:
            known.update(parameter.opts)
        used = [word for word in words if re.match(r"--?[a-z]", word)]
        assert set(used) <= known, f"longtail {verb} does not have {sorted(set(used) - known)}"


def test_every_command_is_in_the_reference():
    described = {verb for verb, *_ in commands(ROOT / "docs" / "operations.md")}
    assert described >= set(COMMANDS)


@pytest.mark.parametrize(("page", "config"), [("linear", LinearTree.Config), ("features", TextConfig)])
def test_settings_are_those_of_the_code(page, config):
    expected = {setting.name: shown(setting.default) for setting in settings_of(config)}
    assert rows(ROOT / "docs" / f"{page}.md") == expected, f"the rows should be\n{table(config)}"


def test_every_system_and_format_is_described():
    systems = re.findall(r"^\| `(\w+)`", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(systems) == set(REGISTRY)
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \| .* \| (?:yes )?\|$", text, re.MULTILINE)) == set(FORMATS)
    writable = set(re.findall(r"^\| `([\w-]+)` \| .* \| yes \|$", text, re.MULTILINE))
    assert writable == {name for name, format in FORMATS.items() if format.write is not None}


def test_the_files_of_a_model_are_those_of_the_page(tmp_path):
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^  ([\w./-]+) {2,}", text.partition("model/\n")[2].partition("```")[0], re.MULTILINE
    )
    longtail.fit(["a cat", "a dog"], [["cats"], ["dogs"]]).save(tmp_path / "model")
    written = {f"{path.name}/" if path.is_dir() else path.name for path in (tmp_path / "model").iterdir()}
    assert set(listed) == written


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


@pytest.mark.parametrize("page", ["formats", "linear", "features"])
def test_python_in_the_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / "docs" / f"{page}.md", "python"):
        exec(block, {})


def test_the_commands_in_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks(README, "sh") for line in block.splitlines()]
    own = [shlex.split(line)[1:] for line in lines if line.startswith("longtail ")]
    assert [main([*arguments, "--quiet"]) for arguments in own] == [0] * len(own)
    written = json.loads((tmp_path / "tagged.jsonl").read_text(encoding="utf-8").splitlines()[0])
    pictured = json.loads(blocks(README, "json")[0])
    for document in (written, pictured):
        for label in document["labels"]:
            del label["score"]
    assert written == pictured
