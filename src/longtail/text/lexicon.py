"""Words (or pieces of words) with numbers in the order of their first appearance, and their spelling."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from longtail.errors import ModelIntegrityError
from longtail.text.hash_table import HashTable
from longtail.text.strings import Strings
from longtail.text.tokens import Spans


class Lexicon:
    """Hash -> number -> spelling; two spellings with one 64-bit hash would count as one word."""

    def __init__(self, table: HashTable | None = None, spelling: Strings | None = None) -> None:
        self.table = table or HashTable()
        self.spelling = spelling or Strings()

    def __len__(self) -> int:
        return len(self.table)

    def find(self, spans: Spans) -> np.ndarray:
        """The number of each span, -1 where it is unknown; int32."""
        return self.table.find(spans.hashes)

    def add(self, spans: Spans) -> np.ndarray:
        """The number of each span, new ones being added; int32."""
        numbers, firsts = self.table.add(spans.hashes)
        if len(firsts):
            self.spelling.append(spans.take(firsts))
        return numbers

    def take(self, which: np.ndarray) -> Lexicon:
        """Only the chosen entries, renumbered in the given order."""
        return Lexicon(HashTable(self.table.keys[which]), self.spelling.take(which))

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """What has to be saved."""
        return {f"{name}.keys": self.table.dense_keys(), **self.spelling.arrays(f"{name}.spelling")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], name: str) -> Lexicon:
        """What ``arrays`` gave."""
        table = HashTable.from_arrays(arrays, f"{name}.keys")
        spelling = Strings.from_arrays(arrays, f"{name}.spelling")
        if len(table) != len(spelling):
            raise ModelIntegrityError(f"'{name}' has {len(table):,} keys, but {len(spelling):,} spellings")
        return cls(table, spelling)
