"""The documentation as a site: python -m tools.docs_site -o .site. It needs the extra docs, and no network.

The pages and notebooks of ``docs/`` are the sources. They are copied to a folder with generated pages, links to
files outside of ``docs/`` are changed to copies of these, and mkdocs builds the site. A link that leads nowhere is
an error.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tools import notebooks
from tools.docs_reference import PAGES as GENERATED

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")

SOURCES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages outside of docs/, and their places in the site."""

NAVIGATION: dict[str, list[str]] = {
    "Start": [
        "index.md",
        "install.md",
        "tutorial.md",
        "notebook-first-model.md",
        "notebook-how-many-labels.md",
    ],
    "How to": [
        "howto.md",
        "python.md",
        "explain.md",
        "calibration.md",
        "feedback.md",
        "serving.md",
        "page.md",
        "tuning.md",
        "plugins.md",
        "estimates.md",
        "prepared.md",
        "ray.md",
        "distributed.md",
        "scale.md",
    ],
    "Reference": [
        "cli.md",
        "settings.md",
        "api.md",
        "formats.md",
        "evaluation.md",
        "features.md",
        "encoders.md",
        "operations.md",
        "versions.md",
    ],
    "Systems": [
        "ensemble.md",
        "linear.md",
        "lexical.md",
        "knn.md",
        "eclare.md",
        "galaxc.md",
        "gnnxml.md",
        "xgrank.md",
        "gudn.md",
        "dual.md",
    ],
    "Explanation": ["results.md", "claims.md", "benchmarks.md", "architecture.md"],
    "Project": ["changes.md", "contributing.md", "security.md"],
}
"""Headings of the navigation and their pages; pages of docs/ that are not named come last."""


def stage(target: Path) -> None:
    """Copy and generate all pages into a folder."""
    places = {ROOT / source: place for source, place in SOURCES.items()}
    places |= {page: page.name for page in sorted((ROOT / "docs").glob("*.md"))}
    places |= {path: notebooks.page_of(path) for path in notebooks.paths()}
    shutil.copytree(ROOT / "docs" / "images", target / "images")
    for source, place in places.items():
        is_notebook = source.suffix == ".ipynb"
        text = notebooks.markdown(source) if is_notebook else source.read_text(encoding="utf-8")
        (target / place).write_text(with_staged_links(text, source, places, target), encoding="utf-8")
    for place, generated in GENERATED.items():
        (target / place).write_text(generated(), encoding="utf-8")


def with_staged_links(text: str, source: Path, places: dict[Path, str], target: Path) -> str:
    """The text with links as they are in the site; other files and folders that it links to are copied."""

    def changed(found: re.Match[str]) -> str:
        before, link, anchor, after = found.groups(default="")
        if "://" in link or link.startswith("mailto:"):
            return found[0]
        path = (source.parent / link).resolve()
        if path in places:
            link = places[path]
        elif path.is_relative_to(ROOT / "docs" / "images"):
            link = f"images/{path.name}"
        elif path.is_file():
            copy = target / "files" / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            link = copy.relative_to(target).as_posix()
        return f"{before}{link}{anchor}{after}"

    return LINK.sub(changed, text)


def configuration(pages: Path, site: Path) -> dict[str, Any]:
    """The settings of mkdocs: nothing is loaded from other hosts, and every wrong link is a warning."""
    there = {path.name for path in pages.glob("*.md")}
    named = {page for section in NAVIGATION.values() for page in section}
    navigation = {
        heading: [page for page in section if page in there] for heading, section in NAVIGATION.items()
    }
    navigation["Explanation"] += sorted(there - named)
    return {
        "site_name": "longtail",
        "docs_dir": str(pages),
        "site_dir": str(site),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.top", "content.code.copy", "search.highlight"],
            "palette": [
                {"media": f"(prefers-color-scheme: {scheme})", "scheme": name, "primary": "teal"}
                for scheme, name in {"light": "default", "dark": "slate"}.items()
            ],
        },
        "plugins": [
            "search",
            {
                "mkdocstrings": {
                    "default_handler": "python",
                    "handlers": {
                        "python": {
                            "paths": [str(ROOT / "src")],
                            "options": {
                                "show_source": False,
                                "docstring_style": "google",
                                "heading_level": 3,
                            },
                        }
                    },
                }
            },
        ],
        "markdown_extensions": [
            "tables",
            "toc",
            "pymdownx.superfences",
            {"pymdownx.highlight": {"use_pygments": True}},
        ],
        "validation": {"nav": {"omitted_files": "warn"}, "links": {"not_found": "warn", "anchors": "warn"}},
        "nav": [{heading: section} for heading, section in navigation.items() if section],
        "extra": {"generator": False},
    }


def build(site: Path) -> None:
    """Build the site into a folder; the output of mkdocs is shown if it fails."""
    with TemporaryDirectory(prefix="longtail-docs-") as place:
        pages = Path(place) / "pages"
        pages.mkdir()
        stage(pages)
        settings = Path(place) / "mkdocs.yml"
        settings.write_text(
            yaml.safe_dump(configuration(pages, site.resolve()), sort_keys=False), encoding="utf-8"
        )
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(settings)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise SystemExit(f"mkdocs failed:\n{done.stdout}{done.stderr}")


def main(arguments: list[str] | None = None) -> None:
    """Build the site, and say how to look at it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / ".site")
    given = parser.parse_args(arguments)
    build(given.output)
    print(
        f"The documentation: {given.output}/index.html; with search: python -m http.server -d {given.output}"
    )


if __name__ == "__main__":
    main()
