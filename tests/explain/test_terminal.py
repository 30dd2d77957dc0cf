"""The terminal shows the text, highlighted, and no control characters."""

import io

from rich.console import Console

from longtail.explain.terminal import highlighted
from tests.explain.worlds import explanation


def test_everything_is_there():
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(explanation().to_terminal())
    shown = console.export_text()
    for part in (
        "r<1> (a & b): 0.8750",
        "red <b>car</b>, red not",
        "raised by: red +1.000",
        "lowered by: not -0.250",
    ):
        assert part in shown


def test_words_have_the_colour_of_their_sign():
    found = explanation()
    styles = [(span.start, span.end, span.style) for span in highlighted(found.text, found.labels[0]).spans]
    assert styles == [(0, 3, "bold green"), (16, 19, "bold green"), (20, 23, "bold red")]


def test_control_characters_do_not_reach_the_terminal():
    text = "red \x1b[31mcar\x07 ,\tred\u202enot"
    assert highlighted(text, explanation().labels[0]).plain == "red �[31mcar� , red�not"
