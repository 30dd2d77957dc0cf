"""make demo: its commands run in their order, and its predictions are shown with their reasons."""

from __future__ import annotations

import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from longtail.cli.main import main
from longtail.data import write
from longtail.systems import create
from tests.planted import Parts

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "show_predictions.py"


def commands() -> list[list[str]]:
    """What ``make demo`` would run in an environment that is set up."""
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo", "-o", ".venv/.ready"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return [shlex.split(line) for line in done.stdout.splitlines()]


def show(model: Path, data: Path) -> None:
    runpy.run_path(str(SCRIPT))["main"](str(model), str(data))


def test_predictions_and_reasons(tiny: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create("linear").fit(tiny.train, valid=tiny.valid).save(tmp_path / "model")
    write(tiny._asdict(), tmp_path / "data")
    show(tmp_path / "model", tmp_path / "data")
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  ✓ label-") for line in lines) >= 6
    words = {word for text in tiny.train.labels.texts for word in text.split()}
    raised = [
        line.split("training documents")[1].split(", ")[0].strip() for line in lines if "✓ label-" in line
    ]
    assert sum(word in words for word in raised) >= 5


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_demo_is_on_real_data_and_ends_with_the_page() -> None:
    own = [words[1:] for words in commands() if words[0].endswith("/longtail")]
    assert own[0][:2] == ["data", "sample"]
    assert [words[0] for words in own] == ["data", "train", "evaluate", "explain"]
    assert commands()[-1][0] == "echo"
    assert "longtail serve .demo/model" in commands()[-1][1]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_demo_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for program, *words in commands():
        if program.endswith("/longtail"):
            assert main(words) == 0, words
        elif program.endswith("/python"):
            show(Path(words[1]), Path(words[2]))
    shown = capsys.readouterr().out
    assert shown.count("✓") >= 6
    assert (tmp_path / ".demo" / "report.html").exists()
