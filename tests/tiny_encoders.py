"""Transformers of two layers and a few words, with random weights, as their authors would save them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "green", "apple", "pear", "##s", "tree")
WIDTH, PLACES = 16, 24


def write_transformer(folder: Path, words: tuple[str, ...] = WORDS, *, scale: float = 0.02) -> Path:
    """A BERT in ``folder``, which is there; the test is left out where the library is not installed.

    Args:
        scale: standard deviation of its weights; with the library's own, all texts have nearly the same [CLS].
    """
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=PLACES,
        initializer_range=scale,
    )
    _write(transformers.BertModel, config, folder)
    vocabulary = {word: i for i, word in enumerate(words)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder


def write_syllables(folder: Path) -> Path:
    """A BERT that spells the planted data: a word is its syllables."""
    from tests.planted import SYLLABLES

    return write_transformer(folder, (*WORDS[:5], *SYLLABLES, *(f"##{syllable}" for syllable in SYLLABLES)))


def write_planted(folder: Path, n_labels: int) -> Path:
    """A BERT with a token per word of the planted data, whose [CLS] tell texts apart without any training."""
    from tests.planted import SYLLABLES, words_of

    syllables = (*SYLLABLES, *(f"##{syllable}" for syllable in SYLLABLES))
    return write_transformer(folder, (*WORDS[:5], *syllables, *words_of(n_labels)), scale=0.3)


def write_roberta(folder: Path) -> Path:
    """A RoBERTa: <s> text </s>, positions from behind the number of the padding token."""
    transformers = pytest.importorskip("transformers")
    words = ("<s>", "<pad>", "</s>", "<unk>", "red", "green", "apple", "apples", "pear", "tree")
    config = transformers.RobertaConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=PLACES + 2,
        pad_token_id=1,
        type_vocab_size=1,
    )
    _write(transformers.RobertaModel, config, folder)
    _write_tokenizer(folder, words, "<unk>", "<s> $A </s>", ("<s>", "</s>"))
    return folder


def write_distilbert(folder: Path) -> Path:
    """A DistilBERT: its layers are called otherwise than BERT's, and there are no segments."""
    transformers = pytest.importorskip("transformers")
    config = transformers.DistilBertConfig(
        vocab_size=len(WORDS), dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=PLACES
    )
    return _write_bert_like(transformers.DistilBertModel, config, folder)


def write_mpnet(folder: Path) -> Path:
    """An MPNet: its layers share what they know of distances between tokens."""
    transformers = pytest.importorskip("transformers")
    config = transformers.MPNetConfig(pad_token_id=0, **_bert_like(embedding=False))
    return _write_bert_like(transformers.MPNetModel, config, folder)


def write_albert(folder: Path) -> Path:
    """An ALBERT: one layer that is run twice, and words of half its width."""
    transformers = pytest.importorskip("transformers")
    config = transformers.AlbertConfig(**_bert_like(embedding=True))
    return _write_bert_like(transformers.AlbertModel, config, folder)


def _bert_like(*, embedding: bool) -> dict[str, int]:
    sizes = {
        "vocab_size": len(WORDS),
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": PLACES,
    }
    return sizes | ({"embedding_size": WIDTH // 2} if embedding else {})


def _write_bert_like(kind: Any, config: Any, folder: Path) -> Path:
    transformers = pytest.importorskip("transformers")
    _write(kind, config, folder)
    transformers.BertTokenizer(vocab={word: i for i, word in enumerate(WORDS)}).save_pretrained(folder)
    return folder


def write_xlnet(folder: Path) -> Path:
    """An XLNet: text <sep> <cls>, padding in front."""
    transformers = pytest.importorskip("transformers")
    words = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "red", "green", "apple", "apples", "pear")
    config = transformers.XLNetConfig(
        vocab_size=len(words), d_model=WIDTH, n_layer=2, n_head=2, d_inner=32, pad_token_id=5
    )
    _write(transformers.XLNetModel, config, folder)
    _write_tokenizer(folder, words, "<unk>", "$A <sep> <cls>:2", ("<sep>", "<cls>"))
    return folder


def _write(kind: Any, config: Any, folder: Path) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)


def _write_tokenizer(
    folder: Path, words: tuple[str, ...], unknown: str, template: str, special: tuple[str, ...]
) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token=unknown))
    tokenizer.pre_tokenizer = Whitespace()
    numbers = [(token, words.index(token)) for token in special]
    tokenizer.post_processor = TemplateProcessing(single=template, special_tokens=numbers)
    tokenizer.save(str(folder / "tokenizer.json"))


KINDS: dict[str, Callable[[Path], Path]] = {
    "bert": write_transformer,
    "distilbert": write_distilbert,
    "mpnet": write_mpnet,
    "roberta": write_roberta,
    "xlnet": write_xlnet,
}
"""Encoders of two layers, by kind; ALBERT, which has one that is run twice, stands apart."""
