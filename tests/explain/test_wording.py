"""What is said in words."""

from dataclasses import replace

from longtail.explain.explanation import Word
from longtail.explain.wording import heading, lines, strengths
from tests.explain.worlds import explanation


def test_a_label_without_a_score_is_not_among_the_answers():
    label = explanation().labels[0]
    assert heading(label) == "r<1> (a & b): 0.8750"
    assert heading(replace(label, score=None, text="")) == "r<1>: not among the answers"


def test_lists_that_are_empty_are_not_said():
    label = explanation().labels[0]
    assert [line.split(":")[0] for line in lines(label)] == [
        "exact",
        "raised by",
        "lowered by",
        "matched names",
        "neighbours",
        "near documents",
        "members",
    ]
    assert [
        line.split(":")[0]
        for line in lines(
            replace(label, exact=False, words=[], names=[], neighbours=[], documents=[], members=[])
        )
    ] == ["approximate"]


def test_long_lists_are_cut():
    words = [Word(i, i + 1, chr(97 + i), 1.0) for i in range(12)]
    assert lines(replace(explanation().labels[0], words=words))[1].endswith("h +1.000 and 4 more")


def test_what_a_near_document_is_about_is_cut():
    label = explanation().labels[0]
    long = replace(label.documents[0], text="many labels, " * 20)
    [line] = [line for line in lines(replace(label, documents=[long])) if line.startswith("near documents")]
    assert "many labels, many labels" in line
    assert "…" in line
    assert len(line) < 120


def test_strengths_are_beside_the_strongest():
    assert strengths([Word(0, 1, "a", -2.0), Word(1, 2, "b", 1.0)]) == [1.0, 0.5]
    assert strengths([Word(0, 1, "a", 0.0)]) == [0.0]
