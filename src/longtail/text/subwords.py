"""Texts as the numbers of an encoder's subwords: once for a corpus, on all cores, packed without padding."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from longtail.errors import LongtailError, UsageError
from longtail.storage import read_bytes, read_json
from longtail.text.pretrained import EncoderFolder

AT_ONCE = 8192
"""Texts that are handed to the tokenizer in one go: bounds memory."""
IN_MEMORY = 2**26
"""Tokens above which they are kept in a file, and read from there when they are used."""
LONGEST_TEXT = 64
"""Characters of a text that are read for each token that is kept: the rest is cut off anyway."""
GAPS = 2**16
"""Numbers that a tokenizer may leave out, beyond as many as it has tokens."""
AT_FIRST = 8
"""The same for a first try: more than most words have for a token, and all that a long text usually needs."""


@dataclass(frozen=True, slots=True)
class Padded:
    """A few texts as a table: tokens, and which of them are no padding.

    Shapes:
        ids int64 [n, longest], mask bool [n, longest]
    """

    ids: np.ndarray
    mask: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The tokens of many texts one after another; text i has ``ids[indptr[i]:indptr[i + 1]]``."""

    ids: np.ndarray
    indptr: np.ndarray
    padding: int
    in_front: bool

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each text, special ones included."""
        return np.diff(self.indptr)

    def take(self, rows: np.ndarray) -> Padded:
        """Some texts, padded to the longest of them."""
        starts, lengths = self.indptr[rows], self.indptr[np.asarray(rows) + 1] - self.indptr[rows]
        longest = int(lengths.max(initial=0))
        place = np.arange(longest)[None, :]
        if self.in_front:
            place = place - (longest - lengths[:, None])
        mask = (place >= 0) & (place < lengths[:, None])
        ids = np.full(mask.shape, self.padding, np.int64)
        ids[mask] = self.ids[(starts[:, None] + place)[mask]]
        return Padded(ids, mask)

    def rows(self, chosen: np.ndarray) -> Self:
        """Some texts, copied."""
        lengths = self.lengths[chosen]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        return replace(self, ids=self.ids[places], indptr=indptr)

    def followed_by(self, other: Self) -> Self:
        """The texts of both; the other's are of the same tokenizer."""
        indptr = np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]])
        return replace(self, ids=np.concatenate([self.ids, other.ids]), indptr=indptr)


class Subwords:
    """The tokenizer of an encoder: special tokens, side of padding and limit are the encoder's.

    Args:
        limit: tokens of a text that are kept, special ones included; never more than the encoder can read.
    """

    def __init__(self, folder: EncoderFolder, limit: int | None = None) -> None:
        self.folder = folder
        self.limit = min(limit or folder.longest, folder.longest)
        if self.limit < 3:
            raise UsageError(f"a text needs room for at least 3 tokens, not {self.limit}")
        try:
            self._tokenizer = _tokenizer(folder)
            _check_numbers(self._tokenizer, folder)
            self._tokenizer.enable_truncation(self.limit)
        except LongtailError:
            raise
        except Exception as error:
            reason = str(error).strip().split("\n")[0]
            raise UsageError(f"the tokenizer in {folder.folder} cannot be read: {reason}") from error
        self._tokenizer.no_padding()
        number = folder.settings.get("pad_token_id")
        self.padding = number if isinstance(number, int) else 0
        if self.padding < 0:
            # torch counts it from the end and takes it, but no row of the embeddings has this number.
            raise UsageError(
                f"the tokenizer in {folder.folder} cannot be read: the number of its padding token is {number}"
            )

    @cached_property
    def key(self) -> str:
        """Equal tokenizers with equal limits have equal keys."""
        return f"{self.limit} {self._tokenizer.to_str()}"

    @property
    def size(self) -> int:
        """Numbers that a token can have."""
        return int(self._tokenizer.get_vocab_size())

    def __call__(self, texts: Sequence[str], *, special: bool = True) -> TokenRows:
        """The tokens of texts; one without words has special tokens only (or, without those, none)."""
        blocks, lengths, kept = [np.empty(0, np.int32)], [np.empty(0, np.int64)], 0
        for start in range(0, len(texts), AT_ONCE):
            encoded = self._encoded(texts[start : start + AT_ONCE], special)
            lengths.append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
            if (most := int(lengths[-1].max(initial=0))) > self.limit:
                # It cuts to the limit itself, unless its special tokens are not what it says they are.
                raise UsageError(
                    f"the tokenizer in {self.folder.folder} makes {most} tokens of a text, but the limit is "
                    f"{self.limit}"
                )
            total = int(lengths[-1].sum())
            blocks.append(np.fromiter((token for row in encoded for token in row), np.int32, total))
            kept += total
        indptr = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.concatenate(lengths), out=indptr[1:])
        ids = np.concatenate(blocks) if kept <= IN_MEMORY else _on_disk(blocks, kept)
        return TokenRows(ids, indptr, self.padding, self.folder.cls_last)

    def _encoded(self, texts: Sequence[str], special: bool) -> list[list[int]]:
        """The tokens of each text; most of a long one is never looked at."""
        longest = LONGEST_TEXT * self.limit + 256
        texts = [text[:longest] for text in texts]
        heads = [_head(text, AT_FIRST * self.limit) for text in texts]
        found = self._numbers(heads, special)
        more = [
            row
            for row, (head, text) in enumerate(zip(heads, texts, strict=True))
            if len(head) < len(text) and len(found[row]) < self.limit
        ]
        for row, numbers in zip(more, self._numbers([texts[row] for row in more], special), strict=True):
            found[row] = numbers
        return found

    def _numbers(self, texts: list[str], special: bool) -> list[list[int]]:
        # Half a surrogate pair is no character: tokenizers refuse it.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            return [row.ids for row in self._tokenizer.encode_batch_fast(clean, add_special_tokens=special)]
        except Exception as error:
            # The library has no error class of its own: a vocabulary may lack the token of unknown words, say.
            raise UsageError(f"the tokenizer in {self.folder.folder} cannot read a text ({error})") from None


def _head(text: str, size: int) -> str:
    """The words within the first ``size`` characters; the whole text if there is no space to cut it at."""
    if len(text) <= size:
        return text
    return text[:size].rpartition(" ")[0] or text


def _on_disk(blocks: list[np.ndarray], total: int) -> np.ndarray:
    """The blocks one after another in a file without a name, which goes with the array."""
    with tempfile.TemporaryFile() as file:
        whole = np.memmap(file, np.int32, mode="w+", shape=(total,))
        end = 0
        for block in blocks:
            whole[end : end + len(block)] = block
            end += len(block)
        whole.flush()
        return whole


def _check_numbers(tokenizer: Any, folder: EncoderFolder) -> None:
    """That the tokens are numbered nearly without gaps: the library has room for all numbers up to the largest."""
    numbers = tokenizer.get_vocab(with_added_tokens=True).values()
    if max(numbers, default=0) > 2 * len(numbers) + GAPS:
        raise UsageError(
            f"the tokenizer in {folder.folder} numbers {len(numbers):,} tokens up to {max(numbers):,}"
        )


def _tokenizer(folder: EncoderFolder) -> Any:
    """The fast tokenizer of a folder, with the special tokens that its kind of encoder was trained with."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    names = {file.name: file for file in folder.files}
    settings = _settings(names.get("tokenizer_config.json"))
    if "tokenizer.json" in names:
        tokenizer = Tokenizer.from_buffer(read_bytes(names["tokenizer.json"]))
    else:
        tokenizer = _older(names, settings, folder)
    if not tokenizer.num_special_tokens_to_add(False):
        cls, sep = (_spelt(settings.get(name), default) for name, default in _special(folder).items())
        numbers = [(token, tokenizer.token_to_id(token)) for token in (cls, sep)]
        if any(number is None for _, number in numbers):
            raise UsageError(f"the tokenizer in {folder.folder} does not have the tokens {cls} and {sep}")
        single = f"$A {sep} {cls}" if folder.cls_last else f"{cls} $A {sep}"
        tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=numbers)
    return tokenizer


def _special(folder: EncoderFolder) -> dict[str, str]:
    """Names and usual spellings of the tokens around a text."""
    spelt = {
        "xlnet": ("<cls>", "<sep>"),
        "roberta": ("<s>", "</s>"),
        "xlm-roberta": ("<s>", "</s>"),
        "mpnet": ("<s>", "</s>"),
    }
    cls, sep = spelt.get(folder.model_type, ("[CLS]", "[SEP]"))
    return {"cls_token": cls, "sep_token": sep}


def _settings(path: Any) -> dict[str, Any]:
    found = {} if path is None else read_json(path)
    return found if isinstance(found, dict) else {}


def _spelt(token: Any, default: str) -> str:
    """A token as it is written; some settings wrap it."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else default


def _older(names: dict[str, Any], settings: dict[str, Any], folder: EncoderFolder) -> Any:
    """Of a vocabulary that was saved before there were fast tokenizers."""
    from tokenizers import ByteLevelBPETokenizer, Tokenizer
    from tokenizers.decoders import WordPiece as Joined
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    if "vocab.txt" in names:
        vocabulary = {
            word: i for i, word in enumerate(read_bytes(names["vocab.txt"]).decode("utf-8").splitlines())
        }
        tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=_spelt(settings.get("unk_token"), "[UNK]")))
        tokenizer.normalizer = BertNormalizer(lowercase=bool(settings.get("do_lower_case", True)))
        tokenizer.pre_tokenizer = BertPreTokenizer()
        tokenizer.decoder = Joined()
        return tokenizer
    if {"vocab.json", "merges.txt"} <= names.keys():
        lines = read_bytes(names["merges.txt"]).decode("utf-8").splitlines()
        merges = [tuple(line.split(" ", 1)) for line in lines if line.strip() and not line.startswith("#")]
        made: Any = ByteLevelBPETokenizer(read_json(names["vocab.json"]), merges)
        # What wraps a tokenizer there has less than the tokenizer itself.
        return Tokenizer.from_str(made.to_str())
    raise UsageError(
        f"{folder.folder} has no tokenizer that can be read here: save it once with transformers, "
        "which writes a tokenizer.json"
    )
