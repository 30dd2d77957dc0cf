"""A transformer of two layers and a few words, with random weights, as its authors would save it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "green", "apple", "pear", "##s", "tree")
WIDTH, PLACES = 16, 24


def write_transformer(folder: Path) -> Path:
    """Write it to ``folder``, which is there; the test is left out where the library is not installed."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=PLACES,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder
