from longtail.text.stemming import stem_languages, stem_words


def test_stems_by_language() -> None:
    assert stem_words("english", ["regulations", "regulation"]) == ["regul", "regul"]
    assert {"english", "german", "french"} <= set(stem_languages())
