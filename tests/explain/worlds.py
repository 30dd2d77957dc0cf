"""Explanations to show."""

from longtail.explain import (
    Explanation,
    LabelExplanation,
    MemberShare,
    Name,
    NearDocument,
    Neighbour,
    Word,
)


def explanation(text: str = "red <b>car</b>, red not", **more) -> Explanation:
    """One label with everything."""
    label = LabelExplanation(
        id="r<1>",
        text="a & b",
        exact=True,
        note="a <note>",
        value=1.0,
        base=0.25,
        unit="the score",
        score=0.875,
        words=[Word(0, 3, "red", 0.5), Word(16, 19, "red", 0.5), Word(20, 23, "not", -0.25)],
        names=[Name("red", 0, 3)],
        neighbours=[Neighbour("g", "green", 0.5)],
        documents=[NearDocument("d", "labels", 0.75)],
        members=[MemberShare("linear", 0.75, 0.5, 1)],
    )
    return Explanation(text, [label])
