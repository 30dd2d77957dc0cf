"""Many short strings as UTF-8 bytes and offsets: compact, quick to save and load, decoded on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.kernels import kernel
from longtail.storage.checks import named, pointers, vector
from longtail.text.tokens import Spans


class Strings:
    """A growing list of strings; ``data[offsets[i]:offsets[i + 1]]`` is string ``i``."""

    def __init__(self, data: np.ndarray | None = None, offsets: np.ndarray | None = None) -> None:
        self._blocks = [np.zeros(0, np.uint8) if data is None else data]
        self._widths = [np.zeros(0, np.int64) if offsets is None else np.diff(offsets)]
        self._offsets: np.ndarray | None = offsets

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """The given strings."""
        encoded = [string.encode() for string in strings]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(data) for data in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], name: str) -> Strings:
        """What ``arrays`` gave."""
        utf8, starts = f"{name}.utf8", f"{name}.offsets"
        data = vector(named(arrays, utf8, f"'{utf8}'"), np.uint8, f"'{utf8}'")
        offsets = vector(named(arrays, starts, f"'{starts}'"), np.int64, f"'{starts}'")
        _check_cuts(data, pointers(offsets, len(data), f"'{starts}'"), name)
        return cls(data, offsets)

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """The strings as two arrays to save."""
        data, offsets = self._merged()
        return {f"{name}.utf8": data, f"{name}.offsets": offsets}

    def __len__(self) -> int:
        return sum(map(len, self._widths))

    def __getitem__(self, i: int) -> str:
        data, offsets = self._merged()
        return data[offsets[i] : offsets[i + 1]].tobytes().decode()

    def append(self, spans: Spans) -> None:
        """Add the spelling of each span."""
        codes, widths = _gather(spans.codes, spans.starts, spans.lengths)
        self._blocks.append(np.frombuffer(codes.tobytes().decode("utf-32-le").encode(), np.uint8))
        self._widths.append(widths)
        self._offsets = None

    def take(self, which: np.ndarray) -> Strings:
        """The chosen strings."""
        data, offsets = self._merged()
        chosen = np.zeros(len(which) + 1, np.int64)
        np.cumsum(offsets[which + 1] - offsets[which], out=chosen[1:])
        positions = np.repeat(offsets[which] - chosen[:-1], np.diff(chosen)) + np.arange(chosen[-1])
        return Strings(data[positions], chosen)

    def to_list(self) -> list[str]:
        """All of them as Python strings."""
        data, offsets = self._merged()
        whole, cuts = data.tobytes(), offsets.tolist()
        return [whole[a:b].decode() for a, b in pairwise(cuts)]

    def _merged(self) -> tuple[np.ndarray, np.ndarray]:
        if self._offsets is None or len(self._blocks) > 1:
            data, widths = np.concatenate(self._blocks), np.concatenate(self._widths)
            self._blocks, self._widths = [data], [widths]
            self._offsets = np.zeros(len(widths) + 1, np.int64)
            np.cumsum(widths, out=self._offsets[1:])
        return self._blocks[0], self._offsets


def _check_cuts(data: np.ndarray, offsets: np.ndarray, name: str) -> None:
    """Valid as a whole and never cut within a character: then every single string is valid, too."""
    try:
        data.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ModelIntegrityError(f"'{name}.utf8' is not valid UTF-8: {error.reason}") from None
    if bool((data[offsets[offsets < len(data)]] & 0xC0 == 0x80).any()):
        raise ModelIntegrityError(f"'{name}.offsets' must not lie within a character")


@kernel
def _gather(codes: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The code points of all spans in one array, and how many bytes each span takes as UTF-8."""
    gathered = np.empty(lengths.astype(np.int64).sum(), np.uint32)
    widths = np.zeros(len(starts), np.int64)
    at = 0
    for i in range(len(starts)):
        for code in codes[starts[i] : starts[i] + lengths[i]]:
            gathered[at] = code
            at += 1
            widths[i] += 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)
    return gathered, widths
