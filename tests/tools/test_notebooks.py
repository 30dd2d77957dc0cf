"""The notebooks run, and their files have what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.notebooks import ROOT, code_cells, executed, main, markdown, page_of, paths, read

LINK = re.compile(r"\]\(([^)\s#]+)\)")


def notebook(folder: Path, *sources: str) -> Path:
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    cells += [
        {"cell_type": "code", "metadata": {}, "source": [source], "outputs": [], "execution_count": None}
        for source in sources
    ]
    path = folder / "small.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


class Shown:
    """A value with a form for notebooks."""

    def _repr_html_(self) -> str:
        return "<b>bold</b>"


def test_cells_share_names_and_show_prints_and_the_last_value(tmp_path: Path) -> None:
    path = notebook(
        tmp_path, "x = 2\nprint('printed')", "x + 1", "x = 5", f"from {__name__} import Shown\nShown()"
    )
    main([str(path)])
    first, second, third, fourth = code_cells(read(path))
    assert first["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["printed\n"]}]
    assert second["outputs"][0]["data"] == {"text/plain": ["3"]}
    assert third["outputs"] == []
    assert [cell["execution_count"] for cell in (first, second, third, fourth)] == [1, 2, 3, 4]
    page = markdown(path)
    assert page.startswith("# Title\n\n```python\nx = 2\nprint('printed')\n```\n\n```text\nprinted\n```\n")
    assert "```text\n3\n```" in page
    assert "\n\n<b>bold</b>\n" in page
    assert page_of(path) == "notebook-small.md"


def test_a_cell_that_fails_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = notebook(tmp_path, "x = 1", "1 / 0")
    before, folder = path.read_bytes(), Path.cwd()
    with pytest.raises(RuntimeError, match=r"small.ipynb, code cell 2: division by zero"):
        main([str(path)])
    assert path.read_bytes() == before
    assert Path.cwd() == folder


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_files_are_executed_and_their_links_resolve(path: Path) -> None:
    cells = code_cells(read(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    texts = "".join("".join(c["source"]) for c in read(path)["cells"] if c["cell_type"] == "markdown")
    assert [link for link in LINK.findall(texts) if not (path.parent / link).exists()] == []
    assert f"docs/notebooks/{path.name}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    stored, now = code_cells(read(path)), code_cells(executed(path))
    for before, after in zip(stored, now, strict=True):
        kinds = [[output["output_type"] for output in cell["outputs"]] for cell in (before, after)]
        assert kinds[0] == kinds[1], "".join(before["source"])
