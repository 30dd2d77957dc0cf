"""The site of the documentation: built for real, without network, and nothing in it comes from another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools.docs_site import NAVIGATION, ROOT, SOURCES, build, stage, with_staged_links
from tools.notebooks import page_of, paths

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "video": "src",
    "audio": "src",
    "source": "src",
    "object": "data",
    "embed": "src",
}
RELATIONS = {
    "stylesheet",
    "preload",
    "modulepreload",
    "icon",
    "manifest",
    "preconnect",
    "dns-prefetch",
    "prefetch",
}


class Loads(HTMLParser):
    """What a browser loads for a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline = ""
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag in LOADED and LOADED[tag] in given:
            self.found.append(given[LOADED[tag]])
        if tag == "link" and RELATIONS & set(given.get("rel", "").split()):
            self.found.append(given.get("href", ""))
        self._script = tag == "script"
        self.inline += given.get("style", "")

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if self._script:
            self.inline += data


def outside(address: str) -> bool:
    return re.match(r"(?:[a-z]+:)?//", address) is not None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert [address for address in loads.found if outside(address)] == [], page.name
        assert not re.search(r"https?://(?!www\.w3\.org)", loads.inline), page.name
        # The theme's script would load a library for diagrams, and facts of a repository, if a page had them.
        assert 'class="mermaid"' not in page.read_text(encoding="utf-8"), page.name
        assert 'data-md-component="source"' not in page.read_text(encoding="utf-8"), page.name
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        loaded = re.findall(r"(?:@import\s+|url\()\s*[\"']?([^\"')\s]+)", text)
        assert [address for address in loaded if outside(address)] == [], style.name


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_reference_is_filled_and_search_knows_it(site: Path) -> None:
    assert "Train on texts and their tags" in (site / "api.html").read_text(encoding="utf-8")
    assert "tree.leaf_size" in (site / "settings.html").read_text(encoding="utf-8")
    assert "longtail tune" in (site / "cli.html").read_text(encoding="utf-8")
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "isotonic" in index
    notebook = (site / "notebook-first-model.html").read_text(encoding="utf-8")
    assert "P@1" in notebook
    assert "<caption" in notebook, "the table of a data set"


def test_every_page_has_its_place() -> None:
    named = [page for section in NAVIGATION.values() for page in section]
    assert len(set(named)) == len(named)
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} | {page_of(path) for path in paths()}
    assert pages <= set(named), "new pages need a place in the navigation"


def test_links_of_the_site(tmp_path: Path) -> None:
    readme, page = ROOT / "README.md", ROOT / "docs" / "eclare.md"
    places = {readme: "index.md", page: "eclare.md", ROOT / "CHANGELOG.md": "changes.md"}
    text = "[a](docs/eclare.md#x) [b](CHANGELOG.md) [c](https://example.org/a) [d](#here) ![e](docs/images/p.png)"
    wanted = "[a](eclare.md#x) [b](changes.md) [c](https://example.org/a) [d](#here) ![e](images/p.png)"
    assert with_staged_links(text, readme, places, tmp_path) == wanted
    copied = with_staged_links("[f](../examples/eclare-paper.toml)", page, places, tmp_path)
    assert copied == "[f](files/examples/eclare-paper.toml)"
    assert (tmp_path / "files" / "examples" / "eclare-paper.toml").is_file()
    assert set(SOURCES) <= {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md")}


def test_notebooks_are_pages_with_links_to_pages(tmp_path: Path) -> None:
    stage(tmp_path)
    page = (tmp_path / "notebook-first-model.md").read_text(encoding="utf-8")
    assert "(notebook-how-many-labels.md)" in page
    assert "(tutorial.md)" in page
    assert "(notebook-first-model.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")
