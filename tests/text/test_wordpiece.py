import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import DataError, ModelIntegrityError
from longtail.storage import write_json
from longtail.text.config import TextConfig
from longtail.text.wordpiece import WordPieces, read_model

SCRIPT = """
import random
from longtail.text.config import TextConfig
from longtail.text.wordpiece import WordPieces
draw = random.Random(1)
words = ["".join(draw.choices("abcdefgh日é", k=draw.randint(1, 7))) for _ in range(3000)]
pieces = WordPieces.learn([" ".join(words)], TextConfig(kind="wordpiece", wordpiece_vocab_size=300))
print(sorted(pieces.model["vocab"].items()), pieces.model["merges"])
"""


def words(seed: int, n: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices("abcdefgh", k=draw.randint(1, 7))) for _ in range(n)]


def learnt(texts: list[str], size: int = 60) -> WordPieces:
    return WordPieces.learn(texts, TextConfig(kind="wordpiece", wordpiece_vocab_size=size))


def test_pieces_spell_the_text_again() -> None:
    pieces = learnt([" ".join(words(0, 500))])
    assert len(pieces) == 60
    texts = [" ".join(words(1, 30)), "", "ABC abc"]
    indptr, ids = pieces.ids(texts)
    assert indptr[0] == 0
    assert indptr[-1] == len(ids)
    for d, text in enumerate(texts):
        spelled = "".join(pieces.spell_one(int(i)) for i in ids[indptr[d] : indptr[d + 1]])
        assert spelled == "".join(f"▁{word}" for word in text.lower().split())


def test_frequent_words_are_one_piece() -> None:
    pieces = learnt(["council decision"] * 50 + ["of the"])
    assert {"▁council", "▁decision"} <= set(pieces.spell())


def test_unknown_characters_are_left_out() -> None:
    pieces = learnt(["aa ab"])
    indptr, _ = pieces.ids(["zzz", "ы日"])
    assert indptr.tolist() == [0, 1, 3]  # the marks of the three words


def test_texts_alone_give_the_same_ids() -> None:
    texts = [" ".join(words(i, 20)) for i in range(9)]
    pieces = learnt(texts)
    together = pieces.ids(texts)
    alone = [pieces.ids([text])[1] for text in texts]
    assert np.array_equal(together[1], np.concatenate(alone))


def test_model_and_arrays_there_and_back(tmp_path: Path) -> None:
    pieces = learnt([" ".join(words(0, 300))])
    write_json(tmp_path / "pieces.json", pieces.model)
    again = WordPieces.from_arrays(pieces.arrays(), read_model(tmp_path / "pieces.json"), pieces.config)
    texts = [" ".join(words(s, 40)) for s in (0, 5)]
    for mine, theirs in zip(pieces.ids(texts), again.ids(texts), strict=True):
        assert np.array_equal(mine, theirs)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="without a word"):
        learnt(["", "..."])


def test_same_vocabulary_in_every_process_and_with_any_threads() -> None:
    seen = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "RAYON_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "true"}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        seen.add(run.stdout)
    assert len(seen) == 1
    assert len(seen.pop()) > 1000


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("vocab", None),
        ("vocab", {"a": 0, "b": 0}),
        ("vocab", {"a": 1, "b": 2}),
        ("vocab", {"a": 0, "b": "1"}),
        ("merges", None),
        ("merges", [["a"]]),
        ("merges", [["a", 1]]),
        ("merges", [["a", "never met"]]),
    ],
)
def test_a_vocabulary_that_could_not_cut_words_is_refused(part: str, value: object, tmp_path: Path) -> None:
    write_json(tmp_path / "pieces.json", {**learnt(["aa ab"]).model, part: value})
    with pytest.raises(ModelIntegrityError, match=r"pieces\.json: .* piece"):
        read_model(tmp_path / "pieces.json")
