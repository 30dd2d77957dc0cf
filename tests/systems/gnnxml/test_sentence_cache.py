"""The cache of sentences: each one is encoded once, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.run import Run
from longtail.systems.gnnxml import sentence_cache
from longtail.systems.gnnxml.sentence_cache import OLD, SentenceCache, sentence_keys


class Counting:
    """An encoder that records its texts: a vector is a text's length and first letter."""

    width = 2

    def __init__(self, name: str = "counting") -> None:
        self.fingerprint = name
        self.encoded: list[str] = []

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Vectors float32 [n, 2]."""
        self.encoded += texts
        return np.array([[len(text), ord(text[0]) if text else 0] for text in texts], np.float32).reshape(
            -1, 2
        )


TEXTS = ["pear", "apple", "", "pear", "fig tree", "apple"]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_cache, "SHARD", 2)


def test_vectors_are_the_encoders_and_duplicates_are_made_once(tmp_path: Path) -> None:
    encoder = Counting()
    cache = SentenceCache(tmp_path, encoder)
    vectors = cache(TEXTS)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, Counting()(TEXTS))
    assert sorted(encoder.encoded) == sorted(set(TEXTS))
    assert len(cache) == 4
    assert np.array_equal(cache(TEXTS[::-1]), vectors[::-1])
    assert len(encoder.encoded) == 4
    assert cache([]).shape == (0, 2)


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    SentenceCache(tmp_path, Counting())(TEXTS[:2])
    encoder = Counting()
    cache = SentenceCache(tmp_path, encoder)
    assert len(cache) == 2
    assert np.array_equal(cache(TEXTS), Counting()(TEXTS))
    assert sorted(encoder.encoded) == ["", "fig tree"]


def test_encoders_do_not_share_vectors(tmp_path: Path) -> None:
    SentenceCache(tmp_path, Counting("one"))(TEXTS)
    assert len(SentenceCache(tmp_path, Counting("other"))) == 0
    assert len(SentenceCache(tmp_path, Counting("one"))) == 4


@pytest.mark.parametrize("damage", ["cut", "altered", "emptied", "renamed"])
def test_a_damaged_shard_is_removed_and_encoded_again(tmp_path: Path, damage: str) -> None:
    cache = SentenceCache(tmp_path, Counting())
    cache(TEXTS)
    shards = sorted(cache.folder.glob("*.safetensors"))
    assert len(shards) == 2
    data = shards[0].read_bytes()
    if damage == "renamed":
        shards[0].rename(shards[0].with_stem("0" * 40))
    else:
        changed = {"cut": data[:-3], "altered": data[:-1] + bytes([data[-1] ^ 1]), "emptied": b""}
        shards[0].write_bytes(changed[damage])
    run, encoder = Run(), Counting()
    again = SentenceCache(tmp_path, encoder, run)
    assert len(again) == 2
    assert "damaged shard was removed" in run.messages[0]
    assert np.array_equal(again(TEXTS), Counting()(TEXTS))
    assert len(encoder.encoded) == 2
    assert sorted(cache.folder.glob("*.safetensors")) == shards


def test_two_processes_may_have_made_the_same_sentence(tmp_path: Path) -> None:
    one, other = SentenceCache(tmp_path, Counting()), SentenceCache(tmp_path, Counting())
    one(["pear", "apple"])
    other(["fig", "pear"])
    both = SentenceCache(tmp_path, Counting())
    assert len(both) == 3
    texts = ["fig", "pear", "apple"]
    assert np.array_equal(both(texts), Counting()(texts))


def test_unfinished_files_of_long_ago_go(tmp_path: Path) -> None:
    folder = SentenceCache(tmp_path, Counting()).folder
    old, new = folder / ".old.tmp", folder / ".new.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * OLD,) * 2)
    SentenceCache(tmp_path, Counting())
    assert not old.exists()
    assert new.exists()


def test_vectors_beyond_half_precision_are_refused(tmp_path: Path) -> None:
    class Huge(Counting):
        def __call__(self, texts: list[str]) -> np.ndarray:
            return np.full((len(texts), 2), 1e6, np.float32)

    with pytest.raises(UsageError, match="half precision"):
        SentenceCache(tmp_path, Huge())(["a"])


def test_keys_depend_on_the_text_alone() -> None:
    keys = sentence_keys(["a", "b", "a", "\ud800"])
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3
    assert np.array_equal(sentence_keys(["b"]), keys[1:2])


SLOW = """
import sys, time
sys.path.insert(0, {root!r})
from longtail.systems.gnnxml import sentence_cache
from tests.systems.gnnxml.test_sentence_cache import Counting
class Slow(Counting):
    def __call__(self, texts):
        if len(self.encoded) >= 6:
            print("waiting", flush=True)
            time.sleep(600)
        return super().__call__(texts)
sentence_cache.SHARD = 2
sentence_cache.SentenceCache({folder!r}, Slow())([f"text {{i}}" for i in range(20)])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    code = SLOW.format(root=root, folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGKILL)
    encoder = Counting()
    cache = SentenceCache(tmp_path, encoder)
    assert len(cache) == 6
    texts = [f"text {i}" for i in range(20)]
    assert np.array_equal(cache(texts), Counting()(texts))
    assert len(encoder.encoded) == 14
