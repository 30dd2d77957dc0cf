"""Notebooks of the documentation: python -m tools.notebooks runs them and writes what their cells show.

A cell runs as in Jupyter: all cells of a notebook share one namespace, what is printed is shown, and so is the
value of the last expression. Jupyter is not needed. The site shows a notebook as a page with its stored outputs.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
PREFIX = "notebook-"
"""Pages of the site that are notebooks begin with it."""


def paths() -> list[Path]:
    """All notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """A notebook as its file has it."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that are run, in their order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def executed(path: Path) -> dict[str, Any]:
    """The notebook with the outputs of a run in an empty folder; an error names the cell."""
    notebook = read(path)
    names: dict[str, Any] = {"__name__": "__main__"}
    with _empty_folder():
        for number, cell in enumerate(code_cells(notebook), 1):
            try:
                cell["outputs"] = _outputs("".join(cell["source"]), names, number)
            except Exception as error:
                raise RuntimeError(f"{path.name}, code cell {number}: {error}") from error
            cell["execution_count"] = number
    return notebook


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "a cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "a cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = _lines(value._repr_html_())
        outputs.append(
            {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": shown}
        )
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@contextmanager
def _empty_folder() -> Iterator[None]:
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def markdown(path: Path) -> str:
    """A notebook as a page: texts, code, and the stored outputs."""
    parts = []
    for cell in read(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            elif "text/html" in output["data"]:
                parts.append("".join(output["data"]["text/html"]))
            else:
                parts.append(f"```text\n{''.join(output['data']['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def page_of(path: Path) -> str:
    """The name of its page in the site."""
    return f"{PREFIX}{path.stem}.md"


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Run notebooks and write their outputs."""
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: all of docs/notebooks")
    for path in parser.parse_args(arguments).files or paths():
        print(path.name, file=sys.stderr)
        write(path, executed(path.resolve()))


if __name__ == "__main__":
    main()
