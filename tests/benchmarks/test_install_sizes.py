from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import install_sizes
from benchmarks.install_sizes import EXTRAS, own, required, size_of, table, written

PAGE = Path(__file__).parents[2] / "docs" / "install.md"
ROW = re.compile(r"^\| `(longtail[^`]*)` \| ([\d,.]+) MB \|", re.MULTILINE)


def sizes(text: str) -> dict[str, float]:
    return {name: float(size.replace(",", "")) for name, size in ROW.findall(text)}


def test_packages_of_packages_are_counted() -> None:
    base = required("longtail")
    assert {"longtail", "numpy", "numba", "llvmlite", "click"} <= base
    assert "torch" not in base
    assert {"torch", "faiss-cpu"} <= required("longtail", ["neural"])
    assert "optuna" in required("longtail", ["tune"])
    assert required("no-such-package") == set()


def test_every_extra_exists() -> None:
    for extra in EXTRAS:
        assert own([extra] if extra else [])


def test_sizes_are_those_of_files() -> None:
    import click

    on_disk = sum(path.stat().st_size for path in Path(click.__file__).parent.rglob("*.py"))
    assert on_disk <= size_of("click") < on_disk + 100_000
    assert size_of("longtail") > 1_000_000


def test_the_page_has_the_sizes_of_this_environment() -> None:
    shown, here = sizes(PAGE.read_text(encoding="utf-8")), sizes(table())
    assert list(shown) == list(here)
    for name, size in here.items():
        assert shown[name] == pytest.approx(size, rel=0.1, abs=5), name


def test_the_table_is_put_into_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        written("a\n<!-- sizes -->\nold\n<!-- /sizes -->\nb", "new")
        == "a\n<!-- sizes -->\nnew\n<!-- /sizes -->\nb"
    )
    page = tmp_path / "page.md"
    page.write_text("<!-- sizes -->\n<!-- /sizes -->")
    monkeypatch.setattr(install_sizes, "EXTRAS", {"skos": "SKOS"})
    install_sizes.main(["--write", str(page)])
    assert "`longtail[skos]`" in page.read_text()
