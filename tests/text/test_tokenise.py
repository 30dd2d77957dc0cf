from longtail.text.config import TextConfig
from longtail.text.tokenise import tokenise


def spelled(text: str, config: TextConfig) -> list[str]:
    spans = tokenise([text], config).spans
    return [
        "".join(map(chr, spans.codes[s : s + n])) for s, n in zip(spans.starts, spans.lengths, strict=True)
    ]


def test_words_as_the_configuration_says() -> None:
    assert spelled("A ﬁne Day", TextConfig()) == ["a", "fine", "day"]
    assert spelled("A ﬁne Day", TextConfig(lowercase=False, nfkc=False)) == ["A", "ﬁne", "Day"]
    assert spelled("A ﬁne Day", TextConfig(min_token_length=2)) == ["fine", "day"]
