"""What an explanation says in words, in the terminal and on the page alike."""

from __future__ import annotations

from collections.abc import Sequence

from longtail.explain.explanation import LabelExplanation, Word

MOST_LISTED = 8
"""Words, neighbours and documents that are listed at most; the JSON has all."""
MOST_CHARACTERS = 60
"""Characters of what a near document is about: of one with many labels that would fill the terminal."""


def heading(label: LabelExplanation) -> str:
    """The label and its score."""
    name = f"{label.id} ({label.text})" if label.text and label.text != label.id else label.id
    score = "not among the answers" if label.score is None else f"{label.score:.4f}"
    return f"{name}: {score}"


def lines(label: LabelExplanation) -> list[str]:
    """Everything but the highlighted text, a line each."""
    found = []
    for title, sign in (("raised by", 1), ("lowered by", -1)):
        words = sorted(totals(label.words).items(), key=lambda entry: -sign * entry[1])
        listed = [f"{word} {weight:+.3f}" for word, weight in words if sign * weight > 0]
        found.append((title, listed))
    # A name, or words of it, may be in the text several times.
    found.append(("matched names", list(dict.fromkeys(name.name for name in label.names))))
    found.append(("neighbours", [f"{n.text or n.id} {n.weight:.3f}" for n in label.neighbours]))
    found.append(
        (
            "near documents",
            [f"{d.id}{f' ({_short(d.text)})' if d.text else ''} {d.similarity:.3f}" for d in label.documents],
        )
    )
    found.append(("members", [f"{m.name} {m.share:+.3f} (score {m.score:.3f})" for m in label.members]))
    kind = "exact" if label.exact else "approximate"
    explained = f"{kind}: {label.unit} is {label.value:.3f}, without words {label.base:.3f}"
    return [explained, *(f"{title}: {_few(listed)}" for title, listed in found if listed)]


def totals(words: Sequence[Word]) -> dict[str, float]:
    """The weight of each different word over all its places."""
    found: dict[str, float] = {}
    for word in words:
        key = word.word.casefold()
        found[key] = found.get(key, 0.0) + word.weight
    return found


def strengths(words: Sequence[Word]) -> list[float]:
    """How strong each word is beside the strongest one, from 0 to 1."""
    most = max((abs(word.weight) for word in words), default=0.0) or 1.0
    return [abs(word.weight) / most for word in words]


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS].rstrip()} …"


def _few(listed: list[str]) -> str:
    more = len(listed) - MOST_LISTED
    return ", ".join(listed[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
