"""An explanation as one HTML file: styles inside, no script, nothing fetched, every text escaped."""

from __future__ import annotations

from html import escape

from longtail.explain.explanation import Explanation, LabelExplanation
from longtail.explain.wording import heading, lines, strengths

STYLE = """
.longtail-explanation { font: 1rem/1.6 system-ui, sans-serif; max-width: 50rem; color-scheme: light dark }
.longtail-explanation h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem }
.longtail-explanation pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
.longtail-explanation mark { color: inherit; border-radius: .2rem; padding: 0 .1rem; background: transparent }
.longtail-explanation ul { margin: .3rem 0; padding-left: 1.2rem; font-size: .9rem }
.longtail-explanation .note { font-size: .85rem; opacity: .75 }
"""

FAINT = 0.02
"""Weaker words are not marked."""
RAISED, LOWERED = "46, 160, 67", "218, 54, 51"


def page(explanation: Explanation) -> str:
    """The whole page as text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Explanation</title>\n</head>\n<body>\n{fragment(explanation)}\n</body>\n</html>\n"
    )


def fragment(explanation: Explanation) -> str:
    """The same without the frame of a page, for notebooks."""
    sections = "\n".join(_section(explanation.text, label) for label in explanation.labels)
    return f'<div class="longtail-explanation">\n<style>{STYLE}</style>\n{sections}\n</div>'


def _section(text: str, label: LabelExplanation) -> str:
    items = "".join(f"<li>{_escaped(line)}</li>" for line in lines(label))
    return (
        f"<section>\n<h2>{_escaped(heading(label))}</h2>\n<pre>{highlighted(text, label)}</pre>\n"
        f'<ul>{items}</ul>\n<p class="note">{_escaped(label.note)}</p>\n</section>'
    )


def highlighted(text: str, label: LabelExplanation) -> str:
    """The text; words that raised the score are on green, words that lowered it on red, as strong as they are."""
    parts, at = [], 0
    for word, strength in zip(label.words, strengths(label.words), strict=True):
        # Words may share a character.
        start = max(word.start, at)
        if strength < FAINT or start >= word.end:
            continue
        colour = RAISED if word.weight > 0 else LOWERED
        parts.append(_escaped(text[at:start]))
        parts.append(
            f'<mark style="background: rgba({colour}, {0.1 + 0.6 * strength:.2f})" '
            f'title="{word.weight:+.4f}">{_escaped(text[start : word.end])}</mark>'
        )
        at = word.end
    return "".join([*parts, _escaped(text[at:])])


def _escaped(text: str) -> str:
    # Half a surrogate pair cannot be written as UTF-8.
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
