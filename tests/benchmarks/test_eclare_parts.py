"""The plot of Fig. 9: groups of labels, names of parts, the command."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.eclare_parts import by_frequency, main, names_of, plot
from longtail.systems.eclare.config import ClassifierConfig
from longtail.systems.eclare.system import Eclare
from tests.systems.eclare.worlds import settings, small_set


def test_groups_are_means_over_their_labels() -> None:
    parts = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    found = by_frequency(parts, np.array([0, 2, 5, 101]), ["text", "refinement"])
    assert found == {
        "groups": ["0", "1-5", ">100"],
        "labels": [1, 2, 1],
        "weight": {"text": [1.0, 4.0, 7.0], "refinement": [2.0, 5.0, 8.0]},
    }


def test_the_parts_have_names() -> None:
    assert names_of(ClassifierConfig()) == ["text", "graph 1", "refinement"]
    assert names_of(ClassifierConfig(order=2, lte=False)) == ["graph 1", "graph 2", "refinement"]
    assert names_of(ClassifierConfig(gale="none", refinement=False)) == ["text"]


def test_a_line_per_part() -> None:
    picture = plot(["0", "1-5"], {"text": [1.0, 2.0], "refinement": [0.0, 1.0]})
    root = ElementTree.fromstring(picture)
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_the_command_writes_picture_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = small_set()
    Eclare(**settings(epochs=1)).fit(data).save(tmp_path / "model")
    main(["--model", str(tmp_path / "model"), "--out", str(tmp_path / "parts.svg")])
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "parts.json").read_text())
    assert (tmp_path / "parts.svg").read_text().startswith("<svg")
    Eclare(**settings(epochs=1, classifier={"combine": "sum"})).fit(data).save(tmp_path / "sum")
    with pytest.raises(SystemExit):
        main(["--model", str(tmp_path / "sum"), "--out", str(tmp_path / "other.svg")])
