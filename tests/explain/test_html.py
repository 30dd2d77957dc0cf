"""The page is escaped, has no script and fetches nothing."""

from dataclasses import replace
from html.parser import HTMLParser

from longtail.explain.explanation import Word
from longtail.explain.html import highlighted
from tests.explain.worlds import explanation


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def test_everything_is_escaped_and_nothing_runs():
    page = Tags()
    page.feed(explanation().to_html())
    assert not {"script", "b", "note", "link", "img"} & set(page.tags)
    assert not {"src", "href"} & page.attributes
    assert not any(name.startswith("on") for name in page.attributes)
    for shown in ("red <b>car</b>, red not", "r<1> (a & b): 0.8750", "a <note>", "green", "linear"):
        assert shown in page.text


def test_words_are_marked_at_their_places():
    found = explanation()
    parser = Tags()
    parser.feed(highlighted(found.text, found.labels[0]))
    assert parser.tags == ["mark"] * 3
    assert parser.text == found.text


def test_words_that_share_a_character_are_marked_without_repeating_it():
    label = replace(explanation().labels[0], words=[Word(0, 2, "a½", 1.0), Word(1, 3, "½b", 1.0)])
    parser = Tags()
    parser.feed(highlighted("a½b c", label))
    assert parser.text == "a½b c"


def test_half_a_surrogate_pair_can_be_written():
    explanation("red <b>car</b>, red\ud800not").to_html().encode("utf-8")


def test_a_notebook_shows_the_same_without_a_frame():
    assert explanation()._repr_html_() in explanation().to_html()
