"""WordNet from the files of Debian's ``wordnet-base``: a word sense's lemmas and gloss -> related senses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from longtail.data.catalogue.linked import Things, linked_parts
from longtail.data.splits import random_split
from longtail.errors import DataError
from longtail.types import Dataset

FOLDER = Path("/usr/share/wordnet")
FRACTIONS: Mapping[str, float] = {"train": 0.7, "valid": 0.1, "test": 0.2}

_FILES = {"a": "data.adj", "n": "data.noun", "r": "data.adv", "v": "data.verb"}
_MARKER = re.compile(r"\((a|p|ip)\)$")  # where an adjective may stand, as in "able(p)"


def wordnet(
    *, folder: str | Path = FOLDER, fractions: Mapping[str, float] = FRACTIONS, seed: int = 0
) -> dict[str, Dataset]:
    """Senses as documents (title: lemmas, text: gloss) and as labels; a link's reverse is not scored again.

    Args:
        folder: where data.noun, data.verb, data.adj and data.adv are.
        fractions: the share of each part by its name, the training part first.
        seed: for the split.
    """
    things = Things([], [], [], [], [])
    for letter, name in _FILES.items():
        path = Path(folder) / name
        if not path.is_file():
            raise DataError(
                f"there is no file {path}: install Debian's package wordnet-base, give the folder with "
                "WordNet's data files, or use the data set synthetic"
            )
        for offset, lemmas, gloss, links in _senses(path):
            things.ids.append(f"{letter}{offset}")
            things.titles.append(lemmas)
            things.texts.append(gloss)
            things.label_texts.append(f"{lemmas}: {gloss}")
            things.links.append(links)
    shares = list(fractions.values())

    def split(rows: np.ndarray) -> np.ndarray:
        return random_split(len(rows), shares, seed)

    return linked_parts(things, list(fractions), split, filter_reverse=True)


def _senses(path: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Offset, lemmas, gloss and linked ids of every line that is not the licence (indented by two spaces)."""
    with path.open(encoding="latin-1") as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith("  ") or not line.strip():
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            try:
                n_words = int(fields[3], 16)
                words = fields[4 : 4 + 2 * n_words : 2]
                at = 4 + 2 * n_words
                n_links = int(fields[at])
                pointers = fields[at + 1 : at + 1 + 4 * n_links]
                if len(words) != n_words or len(pointers) != 4 * n_links or not fields[0].isdigit():
                    raise ValueError
                links = [
                    f"{_letter(pos)}{offset}"
                    for offset, pos in zip(pointers[1::4], pointers[2::4], strict=True)
                ]
            except (ValueError, IndexError, KeyError):
                raise DataError("this is not a line of a WordNet data file", path=path, line=number) from None
            lemmas = ", ".join(_MARKER.sub("", word).replace("_", " ") for word in words)
            yield fields[0], lemmas, gloss.strip(), links


def _letter(pos: str) -> str:
    letter = "a" if pos == "s" else pos  # satellite adjectives are in the adjectives' file
    if letter not in _FILES:
        raise KeyError(pos)
    return letter
