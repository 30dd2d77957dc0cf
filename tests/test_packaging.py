"""The wheel and the source distribution: what is in them, and that they work in an environment of their own."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import longtail

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*command: object, cwd: Path = ROOT) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1200, cwd=cwd)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder)
    return folder


def test_the_wheel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"longtail-{longtail.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        entries = archive.read(f"{info}/entry_points.txt").decode()
    for needed in (
        "py.typed",
        "data/catalogue/sample.jsonl.xz",
        "evaluation/report.css",
        "serving/static/index.html",
    ):
        assert f"longtail/{needed}" in names
    assert f"{info}/licenses/LICENSE" in names
    assert {name.split("/")[0] for name in names} == {"longtail", info}
    assert not [name for name in names if name.endswith((".pyc", ".nbc", ".nbi"))]
    assert "longtail = longtail.__main__:main" in entries
    for extra in PROJECT["optional-dependencies"]:
        assert f"Provides-Extra: {extra}\n" in metadata
    assert wheel.stat().st_size < 5_000_000


def test_the_source_distribution(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "README.md"):
        assert needed in names
    assert "src/longtail/data/catalogue/sample.jsonl.xz" in names
    assert "examples/plugin/pyproject.toml" in names
    assert source.stat().st_size < 10_000_000


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"] == longtail.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["cff-version"] == "1.2.0"
    assert all(reference["authors"] for reference in citation["references"])


def test_every_extra_is_locked() -> None:
    """The lock is installed without dependencies: whatever an extra names must be in it."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").lower()
    locked = {re.sub(r"[-_.]+", "-", line.partition("==")[0]) for line in lock.splitlines()}
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if extra in ("spacy", "ray"):
            continue  # Tests need no models of spaCy, and those that need Ray (45 packages) are skipped without it.
        names = [re.split(r"[\[<>=;! ]", line.lower())[0] for line in requirements]
        missing = [
            name for name in names if name != "longtail" and re.sub(r"[-_.]+", "-", name) not in locked
        ]
        assert missing == [], extra


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_clean_environment(kind: str, built: Path, tmp_path: Path) -> None:
    """With the base packages alone, from the package index: no torch, no compiler."""
    (package,) = built.glob(kind)
    run(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary=:all:",
        "hatchling",
    )
    options = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--prefer-binary"]
    run(python, "-m", "pip", "install", *options, package)
    listed = run(python, "-m", "pip", "list", "--disable-pip-version-check")
    assert "torch" not in listed
    command = tmp_path / "env" / "bin" / "longtail"
    run(command, "doctor", cwd=tmp_path)
    run(command, "data", "sample", "-o", "data", cwd=tmp_path)
    run(command, "train", "data", "-o", "model", "--budget", "30s", "--quiet", cwd=tmp_path)
    answer = run(command, "predict", "model", "data/test.jsonl", "-k", "1", "--quiet", cwd=tmp_path)
    assert len(answer.splitlines()) == 2000
