import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
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


def test_grouped_bars_start_at_zero():
    chart = ET.fromstring(svg.grouped_bars("t", ["a", "b"], {"up": [3, 1], "down": [-1, 0]}))
    up = [e for e in chart.iter("rect") if e.get("class") == "series-0"]
    down = [e for e in chart.iter("rect") if e.get("class") == "series-1"]
    assert float(up[0].get("width")) == pytest.approx(3 * float(up[1].get("width")), abs=0.2)
    zero = float(up[0].get("x"))
    assert float(down[0].get("x")) + float(down[0].get("width")) == pytest.approx(zero, abs=0.2)
    assert float(down[1].get("width")) == 0
    assert [e.text for e in chart.iter("text") if e.get("class") == "value"] == [
        "3.00",
        "-1.00",
        "1.00",
        "0.00",
    ]


@given(
    st.integers(0, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=n, max_size=n), max_size=8
        ).map(lambda rows: (n, rows))
    )
)
@example((2, [[5e-324, 0.0]]))
@example((2, [[1.7e308, -1.7e308]]))
def test_grouped_bars_stay_on_their_tracks(case):
    n, rows = case
    series = {f"s{i}": row for i, row in enumerate(rows)}
    chart = ET.fromstring(svg.grouped_bars("t", [str(i) for i in range(n)], series, form=".3g"))
    _, _, _, height = map(float, chart.get("viewBox").split())
    tracks = [e for e in chart.iter("rect") if e.get("class") == "track"]
    assert len(tracks) == n * len(rows)
    for rect in chart.iter("rect"):
        left, width = float(rect.get("x")), float(rect.get("width"))
        start, room = float(tracks[0].get("x")), float(tracks[0].get("width"))
        assert start - 0.2 <= left <= left + width <= start + room + 0.2
        assert float(rect.get("y")) + float(rect.get("height")) <= height


def test_long_names_are_cut_but_shown_on_hovering():
    name = "<a name> longer than its place"
    chart = ET.fromstring(svg.grouped_bars("t", [name], {"<s>": [1]}))
    assert next(e.text for e in chart.iter("text")) == "<a name> long…"
    assert [e.text for e in chart.iter("title")][1] == f"{name}, <s>: 1.00"


def test_colours_come_again():
    assert [svg.series_class(i) for i in (0, 5, 6)] == ["series-0", "series-5", "series-0"]


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


def test_reliability_before_calibration_is_a_line_of_its_own():
    points = [svg.reliability_point({"score": 0.25, "accuracy": 0.5, "count": 1000})]
    assert points == [(0.25, 0.5, 1000, "Scores around 0.25: 50.0 % right of 1,000")]
    chart = ET.fromstring(svg.reliability("t", points, "score", "right", before=points * 2))
    assert [line.get("class") for line in chart.iter("polyline")] == ["former", "line"]


def test_a_chart_as_a_file_has_its_styles():
    chart = ET.fromstring(svg.standalone(svg.bars("t > u", [("a", 1.0, "a")], top=1.0, kind="recall")))
    space = "{http://www.w3.org/2000/svg}"
    assert chart.tag == f"{space}svg"
    assert "--recall" in (chart.findtext(f"{space}style") or "")
    assert chart.findtext(f"{space}title") == "t > u"
