"""The rules of the project as tests: layers, style, types, spelling, sizes, mirrored tests, light imports."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import longtail

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "longtail"
CODE = ("src", "tests", "benchmarks", "tools")
LONGEST = 400
UNSAFE = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
HEAVY = {
    "numba",
    "torch",
    "transformers",
    "scipy",
    "pandas",
    "pyarrow",
    "sklearn",
    "faiss",
    "fastapi",
    "pydantic",
    "uvicorn",
}
# In two halves, so that this file does not name one either.
REGISTRIES = [
    "".join(halves)
    for halves in (
        ("pypi.", "org"),
        ("pythonhosted.", "org"),
        ("anaconda.", "org"),
        ("npmjs.", "org"),
        ("npmjs.", "com"),
        ("crates.", "io"),
    )
]


def tool(*command: str) -> None:
    """Run a tool of this environment; what it prints is the message of a failure."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def named(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def imported(*arguments: str) -> set[str]:
    """The top-level packages that a Python process loads; it lists them itself as it goes."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    modules = re.findall(r"^import time:[^|]+\|[^|]+\|\s*(\S+)$", done.stderr, re.MULTILINE)
    return {module.partition(".")[0] for module in modules}


def test_folders_import_along_the_data_flow():
    tool("lint-imports", "--config", "pyproject.toml", "--no-cache")


def test_code_is_clean():
    tool("ruff", "check", *CODE)


def test_code_is_formatted():
    tool("ruff", "format", "--check", *CODE)


def test_types_hold():
    tool("mypy")


def test_words_are_spelt_right():
    tool("codespell")


def test_types_and_style_hold_without_exceptions():
    exception = re.compile(r"#\s*(type:\s*ignore|noqa|mypy:|ruff:)")
    assert named([p for p in python_files(*CODE) if exception.search(p.read_text(encoding="utf-8"))]) == []


def test_no_file_is_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(*CODE)}
    assert named([path for path, length in lengths.items() if length > LONGEST]) == []


def test_every_module_has_its_test():
    modules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    modules = [module for module in modules if module.name not in ("__init__.py", "__main__.py")]
    mirrors = [ROOT / "tests" / module.parent / f"test_{module.name}" for module in modules]
    missing = named(sorted(mirror for mirror in mirrors if not mirror.exists()))
    assert not missing, "these tests are missing:\n" + "\n".join(missing)


def test_nothing_imports_a_pickle():
    guilty = []
    for path in python_files("src"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            guilty += [path for name in names if name.partition(".")[0] in UNSAFE]
    assert named(guilty) == []


def test_nothing_allows_a_pickle():
    guilty = [
        path
        for path in python_files("src")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]
    assert named(guilty) == []


def test_kernels_leave_threads_to_longtail():
    # Kernels of numba's own parallel layer must not be called from two threads at a time (its usual layer ends
    # the process then), as a web server would; longtail.threads runs kernels that release the GIL instead.
    guilty = [
        path
        for path in python_files("src")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.keyword) and node.arg == "parallel")
        or (isinstance(node, ast.alias) and node.name == "prange")
        or (isinstance(node, ast.Attribute) and node.attr == "prange")
    ]
    assert named(guilty) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "import longtail"),
        ("-m", "longtail", "--help"),
        ("-c", "import longtail.data, longtail.cli.main"),
    ],
    ids=["import", "help", "data and command line"],
)
def test_starting_is_light(arguments):
    loaded = imported(*arguments)
    assert "longtail" in loaded
    assert loaded & HEAVY == set()


def test_no_file_names_a_package_registry():
    texts = [path for name in (*CODE, "docs", ".ci") for path in (ROOT / name).rglob("*") if path.is_file()]
    texts += [path for path in ROOT.glob("*") if path.is_file()]
    texts = [path for path in texts if "__pycache__" not in path.parts and path.stat().st_size < 5_000_000]
    hosts = [host.encode() for host in REGISTRIES]
    guilty = [path for path in texts if any(host in path.read_bytes().lower() for host in hosts)]
    assert named(guilty) == []


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == longtail.__version__
