"""Installed sizes of longtail and its extras: python -m benchmarks.install_sizes [--write docs/install.md].

Sizes are those of the packages that are installed here, as their own lists of files say, with all packages that
they require. A package that several extras bring counts in each. On other platforms sizes differ.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
OWN = "longtail"
START, END = "<!-- sizes -->", "<!-- /sizes -->"
EXTRAS = {
    "": "everything but neural systems: `linear`, `lexical`, `knn`, ensembles, command line",
    "parquet": "Parquet files",
    "skos": "SKOS vocabularies",
    "sklearn": "`longtail.sklearn`",
    "pandas": "`to_frame()`",
    "serve": "web service and page",
    "tune": "`longtail tune`",
    "neural": "training of `eclare`, `galaxc`, `gnnxml`",
    "encoders": "`xgrank`, `gudn`, `dual` with an encoder of yours",
    "minilm": "the same with the encoder that they take by default",
    "onnx": "faster encoders (`longtail export`)",
}
"""Extras in the order of the table, and what they are for."""


def required(name: str, extras: Iterable[str] = ()) -> set[str]:
    """The package and all that it requires with these extras; what is not installed is left out."""
    found: set[str] = set()
    waiting = [(str(canonicalize_name(name)), frozenset(extras))]
    seen = set()
    while waiting:
        package, wanted = waiting.pop()
        if (package, wanted) in seen:
            continue
        seen.add((package, wanted))
        try:
            requirements = own(wanted) if package == OWN else distribution(package).requires or []
        except PackageNotFoundError:
            continue
        found.add(package)
        for requirement in map(Requirement, requirements):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in wanted or {""}):
                waiting.append((str(canonicalize_name(requirement.name)), frozenset(requirement.extras)))
    return found


def own(extras: Iterable[str]) -> list[str]:
    """What longtail requires, by its pyproject.toml: what is installed of it may be older."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return [*project["dependencies"], *(line for extra in extras for line in optional[extra])]


def size_of(package: str) -> int:
    """Bytes of the files of an installed package, without compiled Python files."""
    if package == OWN:
        source = (ROOT / "src" / OWN).rglob("*")
        return sum(
            place.stat().st_size for place in source if place.is_file() and "__pycache__" not in place.parts
        )
    files = distribution(package).files or []
    places = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(place.stat().st_size for place in places if place.is_file())


def table() -> str:
    """Sizes of the base install and of what each extra adds to it."""
    base = required(OWN)
    lines = ["| install | adds | for |", "|---|---:|---|"]
    for extra, purpose in EXTRAS.items():
        added = base if not extra else required(OWN, [extra]) - base
        megabytes = sum(size_of(package) for package in added) / 1e6
        shown = f"{megabytes:,.0f} MB" if megabytes >= 1 else f"{megabytes:.1f} MB"
        lines.append(f"| `{OWN}{f'[{extra}]' if extra else ''}` | {shown} | {purpose} |")
    return "\n".join(lines)


def written(text: str, content: str) -> str:
    """The page with the table between the two marks."""
    return re.sub(f"{START}.*?{END}", lambda _: f"{START}\n{content}\n{END}", text, flags=re.DOTALL)


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    given = parser.parse_args(arguments)
    if given.write is None:
        print(table())
    else:
        given.write.write_text(written(given.write.read_text(encoding="utf-8"), table()), encoding="utf-8")


if __name__ == "__main__":
    main()
