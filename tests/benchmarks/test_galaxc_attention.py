import json
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.galaxc_attention import lengths, main, plot
from longtail.data.writing import write
from longtail.evaluation.insight import Insight
from longtail.systems import create
from tests.planted import Parts

SMALL = {
    "width": 8,
    "initial": {"embed": {"epochs": 1, "lr": 0.01}, "rank": {"epochs": 1, "lr": 0.01}},
    "stages": {"joint": {"epochs": 1, "lr": 0.01}},
}


def test_the_plot_has_a_line_a_resolution_and_a_name_a_group() -> None:
    insight = Insight("Attention", "", ["1-2", "3-9"], {"hop 0": [0.1, 0.4], "hop 1": [0.8, 0.2]})
    root = ElementTree.fromstring(plot(insight))
    lines = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert len(lines) == 2
    heights = [[float(point.split(",")[1]) for point in line.get("points").split()] for line in lines]
    # The highest value is at the top, and a quarter of it three quarters further down.
    assert heights[1][0] < heights[0][1] < heights[1][1] < heights[0][0]
    texts = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"1-2", "3-9", "hop 0", "hop 1"} <= texts


def test_a_trained_model_is_measured_and_drawn(tiny: Parts, tmp_path, capsys) -> None:
    model = create("galaxc", {**SMALL, "calibrate": "none"}).fit(tiny.train)
    model.save(tmp_path / "model")
    write({"train": tiny.train}, tmp_path / "data")
    command = ["--model", str(tmp_path / "model"), "--data", str(tmp_path / "data")]
    main([*command, "--out", str(tmp_path / "plot.svg"), "--json", str(tmp_path / "numbers.json")])
    found = json.loads((tmp_path / "numbers.json").read_text())
    assert found == json.loads(capsys.readouterr().out)
    attention = model.predictor_.weights.attention
    np.testing.assert_allclose(found["standard deviation"], attention.std(axis=0), atol=1e-4)
    assert list(found["attention times length"]) == ["hop 0", "hop 1", "hop 2", "hop 3"]
    assert lengths(model, tiny.train).shape == (4,)
    ElementTree.parse(tmp_path / "plot.svg")


def test_other_models_have_no_attention_to_plot(tiny: Parts, tmp_path) -> None:
    create("dummy").fit(tiny.train).save(tmp_path / "model")
    with pytest.raises(SystemExit):
        main(
            ["--model", str(tmp_path / "model"), "--data", str(tmp_path), "--out", str(tmp_path / "plot.svg")]
        )
