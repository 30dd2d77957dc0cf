"""Texts of a megabyte that are hard to normalise, to cut into words or to tag: processor seconds by text.

Each text is tagged alone by a small model of each system, once for what a text of this kind has to load, then three
times; the least counts.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import longtail
from longtail import threads
from longtail.data import catalogue

SIZE = 1_000_000
SYSTEMS = ("linear", "lexical", "knn")


def hard_texts(size: int = SIZE, seed: int = 0) -> dict[str, str]:
    """Text by what is hard about it, of ``size`` bytes in UTF-8."""
    draw = random.Random(seed)
    words = " ".join("".join(draw.choices("bcdfgklmnprst", k=4)) for _ in range(size // 5))
    marks = "".join(draw.choices([chr(code) for code in range(0x300, 0x36F)], k=size))
    return {
        "plain words": cut(words, size),
        "one letter with marks": cut("a" + marks, size),
        "marks in falling order": cut("a" + "".join(sorted(marks, key=ord, reverse=True)), size),
        "ligatures that expand to 18 characters": cut("\ufdfa" * size, size),
        "a word of one letter": "a" * size,
        "one word": cut("".join(draw.choices("bcdfgklmnprst", k=size)), size),
        "Greek with accents": cut("\u1f82\u1fb7 " * size, size),
        "Hangul jamo": cut("\u1112\u1161\u11ab" * size, size),
        "Chinese": cut("".join(chr(draw.randrange(0x4E00, 0x9FA5)) for _ in range(size // 3)), size),
        "emoji with joiners": cut("\U0001f468\u200d\U0001f469\u200d\U0001f467 " * size, size),
        "spaces": " " * size,
        "digits": cut("".join(draw.choices("0123456789", k=size)), size),
        "punctuation": cut("".join(draw.choices(".,;:!?-_/()", k=size)), size),
        "letters by turns with marks": cut("e\u0301" * size, size),
        "control characters": cut("\x01\x02 " * size, size),
    }


def cut(text: str, size: int) -> str:
    """As much of the text as fits into so many bytes."""
    return text[:size].encode()[:size].decode("utf-8", "ignore")


def measure(
    work: Path, *, size: int = SIZE, systems: tuple[str, ...] = SYSTEMS, seed: int = 0
) -> dict[str, Any]:
    """Processor seconds of each text and system, with one thread."""
    data = catalogue.build("synthetic", n_labels=200)
    texts = hard_texts(size, seed)
    rows: list[dict[str, Any]] = []
    for name in systems:
        model = longtail.create(name).fit(data["train"], hold_out=False)
        with threads.limit(1):
            seconds = {kind: _least(model, text) for kind, text in texts.items()}
        linear = seconds["plain words"]
        rows += [
            {
                "system": name,
                "text": kind,
                "seconds": round(own, 3),
                "beyond_plain_words": round(own - linear, 3),
            }
            for kind, own in seconds.items()
        ]
    worst = max(rows, key=lambda row: row["seconds"])
    return {"bytes": size, "most_seconds": worst["seconds"], "slowest": worst, "rows": rows}


def _least(model: Any, text: str) -> float:
    model.predict([text], k=5)
    found = []
    for _ in range(3):
        start = time.process_time()
        model.predict([text], k=5)
        found.append(time.process_time() - start)
    return min(found)
