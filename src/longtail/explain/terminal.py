"""An explanation in the terminal: the text with its words highlighted, and lists below it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from longtail.explain.explanation import Explanation, LabelExplanation
from longtail.explain.wording import heading, lines, strengths

RAISED, LOWERED = "green", "red"


def shown(explanation: Explanation) -> Group:
    """One part per label."""
    parts: list[RenderableType] = []
    for label in explanation.labels:
        if parts:
            parts.append(Text())
        parts += [Text(heading(label), style="bold"), highlighted(explanation.text, label)]
        parts += [Text(f"  {line}") for line in lines(label)]
        parts.append(Text(f"  {label.note}", style="dim"))
    return Group(*parts)


def highlighted(text: str, label: LabelExplanation) -> Text:
    """The text; words that raised the score are green, words that lowered it red, the strong ones bold."""
    out = Text(_visible(text))
    for word, strength in zip(label.words, strengths(label.words), strict=True):
        colour = RAISED if word.weight > 0 else LOWERED
        style = f"bold {colour}" if strength >= 0.5 else colour if strength >= 0.1 else ""
        if style:
            out.stylize(style, word.start, word.end)
    return out


def _visible(text: str) -> str:
    """The text without control characters, each replaced by one character: offsets stay, a terminal is safe."""
    return "".join(c if c == "\n" or c.isprintable() else " " if c.isspace() else "�" for c in text)
