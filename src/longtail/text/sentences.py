"""Splitting texts of any language into sentences, each one a span of code points.

A line ends a sentence, unless it goes on in small letters after a long line, as wrapped text does. So do the full
stops of many scripts; a dot does when white space follows it and neither the word before it (an initial, a known
abbreviation, the number of a paragraph) nor the one behind it (in small letters) says that the sentence goes on.
What has no word is no sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from unicodedata import category

import numpy as np

from longtail.kernels import kernel
from longtail.text.characters import IDEOGRAPH, LETTER, MARK, character_classes
from longtail.text.codepoints import CodePoints, encode
from longtail.text.tokens import hash_span, whole

LONGEST = 1200
"""A sentence of more characters than this ends at the next white space (twice as many: anywhere): tables and
scripts without full stops would be one sentence otherwise."""
WRAPPED = 40
"""A line of fewer characters was not wrapped."""

_FEW = 64

_BREAK, _STOP, _MARK, _DOT, _CLOSER, _SPACE, _SMALL, _CAPITAL, _DIGIT, _GREEK = (
    1 << bit for bit in range(10)
)

_STOPS = "。｡।॥؟۔։።፧။។། ‼⁇⁈⁉᠃᠉꓿꘎꘏"
_LINES = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_ABBREVIATIONS = (
    "mr mrs ms dr prof st no nos nr art arts vol vs sr jr gen col sgt lt rep sen gov hon rev fig figs sec ch cf ca "
    "p pp approx para paras ed eds ref tel viz bzw abs ggf vgl sog zb m mm mme mlle av núm pág sra dra sig dott"
)


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentence s is ``codes[starts[s]:stops[s]]``; those of document d are ``documents[d]:documents[d + 1]``."""

    documents: np.ndarray
    starts: np.ndarray
    stops: np.ndarray

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self.starts)

    def spell(self, codes: np.ndarray) -> list[str]:
        """The sentences as strings; half a surrogate pair is no character."""
        text = codes.tobytes().decode("utf-32-le", "replace")
        return [text[a:b] for a, b in zip(self.starts.tolist(), self.stops.tolist(), strict=True)]


def split_sentences(points: CodePoints) -> Sentences:
    """The sentences of every document, without white space at their ends."""
    tables = (_kinds(), character_classes(), _abbreviations())
    return Sentences(*_split(points.codes, points.offsets, *tables))


@cache
def _kinds() -> np.ndarray:
    """What each code point can do to a sentence, as bits; uint16[0x110000]."""
    kinds = np.zeros(0x110000, np.uint16)
    # Beyond this there are no letters of two cases, no brackets and no digits of our ten.
    for code in range(0x20000):
        character = chr(code)
        if character.isspace():
            kinds[code] |= _SPACE
        elif category(character) in ("Pe", "Pf", "Pi") or character in "\"'":
            kinds[code] |= _CLOSER
        elif character.islower():
            kinds[code] |= _SMALL
        elif character.isupper() or character.istitle():
            kinds[code] |= _CAPITAL
        elif character.isdecimal():
            kinds[code] |= _DIGIT
    for characters, kind in (
        (_LINES, _BREAK),
        (_STOPS.replace(" ", ""), _STOP),
        ("!?！？", _MARK),
        (".．", _DOT),
    ):
        kinds[[ord(character) for character in characters]] |= kind
    kinds[0x370:0x400] |= _GREEK
    kinds[0x1F00:0x2000] |= _GREEK
    return kinds


@cache
def capitals() -> np.ndarray:
    """Which code points are capital letters, bool[0x110000]."""
    return (_kinds() & _CAPITAL) > 0


@cache
def smalls() -> np.ndarray:
    """Which code points are small letters, bool[0x110000]."""
    return (_kinds() & _SMALL) > 0


@cache
def _abbreviations() -> np.ndarray:
    words = _ABBREVIATIONS.split()
    return np.sort(whole(encode(words + [word.capitalize() for word in words])).hashes)


@kernel
def _goes_on_after_dot(
    codes: np.ndarray,
    start: int,
    at: int,
    following: int,
    end: int,
    kinds: np.ndarray,
    classes: np.ndarray,
    abbreviations: np.ndarray,
) -> bool:
    """Whether the dot at ``at`` is within the sentence that began at ``start``."""
    if following < end and kinds[codes[following]] & _SMALL:
        return True
    first = at
    digits = True
    while first > start and classes[codes[first - 1]] & LETTER:
        first -= 1
        digits = digits and (kinds[codes[first]] & _DIGIT) > 0
    length = at - first
    if length == 0:
        return False
    if digits:
        return first == start
    # An initial (J. Smith), or letters with dots between them (e.g., U.S.).
    if length == 1 and classes[codes[first]] == LETTER:
        return (kinds[codes[first]] & _CAPITAL) > 0 or (first > start and codes[first - 1] == 46)
    if length <= 3 and following < end and kinds[codes[following]] & _DIGIT:
        return True
    if length <= 8:
        key = hash_span(codes, first, at)
        place = np.searchsorted(abbreviations, key)
        return bool(place < len(abbreviations) and abbreviations[place] == key)
    return False


@kernel
def _ends(
    codes: np.ndarray,
    start: int,
    at: int,
    end: int,
    kinds: np.ndarray,
    classes: np.ndarray,
    abbreviations: np.ndarray,
) -> int:
    """Where the sentence ends that the character at ``at`` ends; -1 if it does not end one."""
    code = codes[at]
    kind = kinds[code]
    semicolon = code == 59 and at > start and (kinds[codes[at - 1]] & _GREEK) > 0
    if not (kind & (_STOP | _MARK | _DOT) or semicolon):
        return -1
    after = at + 1
    # No more than a few, or a long row of dots would be walked again from each of them.
    while after < min(end, at + _FEW) and kinds[codes[after]] & (_CLOSER | _STOP | _MARK | _DOT):
        after += 1
    if kind & _STOP or after == end:
        return after
    ideograph = classes[codes[after]] == IDEOGRAPH
    if not (kinds[codes[after]] & _SPACE or ideograph):
        return -1
    following = after
    while following < end and kinds[codes[following]] & (_SPACE | _CLOSER):
        if kinds[codes[following]] & _BREAK:
            return after
        following += 1
    if kind & _DOT and _goes_on_after_dot(codes, start, at, following, end, kinds, classes, abbreviations):
        return -1
    return after


@kernel
def _wraps(codes: np.ndarray, line: int, at: int, end: int, kinds: np.ndarray, classes: np.ndarray) -> bool:
    """Whether the line that began at ``line`` only ends at ``at`` because there was no more room."""
    if at - line < WRAPPED:
        return False
    after = at + 1
    while after < end and kinds[codes[after]] & _SPACE:
        if kinds[codes[after]] & _BREAK and not (codes[at] == 13 and codes[after] == 10 and after == at + 1):
            return False
        after += 1
    before = at - 1
    while before > line and kinds[codes[before]] & _SPACE:
        before -= 1
    open_end = codes[before] == 44 or codes[before] == 45 or (classes[codes[before]] & LETTER) > 0
    return after < end and (kinds[codes[after]] & _SMALL) > 0 and open_end


@kernel
def _split(
    codes: np.ndarray,
    offsets: np.ndarray,
    kinds: np.ndarray,
    classes: np.ndarray,
    abbreviations: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    documents = np.zeros(len(offsets), np.int64)
    # A sentence and what ends it are two characters at least, but for the last one of a document.
    starts = np.empty(len(codes) // 2 + len(offsets), np.int64)
    stops = np.empty(len(starts), np.int64)
    found = 0
    for document in range(len(offsets) - 1):
        end = offsets[document + 1]
        at = start = line = offsets[document]
        words = False
        while at <= end:
            stop = -1
            if at == end:
                stop = end
            else:
                kind = kinds[codes[at]]
                space = (kind & _SPACE) > 0
                if start == at and space:
                    start += 1
                if kind & _BREAK:
                    if not _wraps(codes, line, at, end, kinds, classes):
                        stop = at
                    line = at + 1
                elif space:
                    if at - start > LONGEST:
                        stop = at
                elif classes[codes[at]]:
                    words = words or classes[codes[at]] != MARK
                else:
                    stop = _ends(codes, start, at, end, kinds, classes, abbreviations)
                if stop < 0 and at - start >= 2 * LONGEST:
                    stop = at + 1
            if stop >= 0:
                last = stop
                while last > start and kinds[codes[last - 1]] & _SPACE:
                    last -= 1
                if words:
                    starts[found] = start
                    stops[found] = last
                    found += 1
                start = stop
                words = False
                if stop > at:
                    at = stop
                    continue
                if at < end:
                    # The white space that ended the sentence belongs to none.
                    start = at + 1
            at += 1
        documents[document + 1] = found
    return documents, starts[:found].copy(), stops[:found].copy()
