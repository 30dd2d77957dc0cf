"""Snowball stemmers by language."""

from __future__ import annotations

from importlib import import_module


def stem_languages() -> list[str]:
    """The languages that have a stemmer."""
    languages: list[str] = import_module("Stemmer").algorithms()
    return languages


def stem_words(language: str, words: list[str]) -> list[str]:
    """The stem of each word."""
    # A stemmer object is not safe to share between threads, and is cheap to make.
    stems: list[str] = import_module("Stemmer").Stemmer(language).stemWords(words)
    return stems
