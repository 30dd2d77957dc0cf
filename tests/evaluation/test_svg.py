import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.evaluation import svg


def numbers(element: ET.Element, tag: str, name: str) -> list[float]:
    return [float(e.get(name, "nan")) for e in element.iter(tag)]


def test_bars_are_as_long_as_their_values():
    chart = ET.fromstring(svg.bars("t", [("a", 5, ""), ("b", 10, ""), ("c", 0, "")], top=10, kind="psp"))
    widths = [float(e.get("width")) for e in chart.iter("rect") if e.get("class") == "psp"]
    assert widths[1] == pytest.approx(2 * widths[0])
    assert widths[2] == 0
    tracks = [float(e.get("width")) for e in chart.iter("rect") if e.get("class") == "track"]
    assert widths[1] == tracks[0]


def test_bars_without_any_value():
    assert ET.fromstring(svg.bars("t", [("a", 0, "")], top=0, kind="psp")) is not None


def test_names_are_escaped():
    chart = ET.fromstring(svg.bars("<t>", [('<i>"&', 1, "<hint>")], top=1, kind="psp"))
    assert '<i>"&' in "".join(chart.itertext())


@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)), max_size=20))
def test_log_line_stays_inside(points):
    chart = ET.fromstring(svg.log_line("t", points, "x", "y"))
    _, _, width, height = map(float, chart.get("viewBox").split())
    drawn = chart.find("polyline").get("points")
    for x, y in re.findall(r"([\d.-]+),([\d.-]+)", drawn):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height


def test_reliability_puts_the_diagonal_and_points_in_place():
    points = [(0.0, 0.0, 1, "low"), (1.0, 1.0, 100, "high")]
    chart = ET.fromstring(svg.reliability("t", points, "score", "right"))
    ideal = next(e for e in chart.iter("line") if e.get("class") == "ideal")
    low, high = chart.iter("circle")
    assert float(low.get("cx")) == pytest.approx(float(ideal.get("x1")))
    assert float(high.get("cy")) == pytest.approx(float(ideal.get("y2")))
    assert float(low.get("r")) < float(high.get("r"))
    assert ET.fromstring(svg.reliability("t", [], "x", "y")) is not None
