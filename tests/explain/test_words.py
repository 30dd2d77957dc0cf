"""Words of texts as they were given."""

from longtail.explain.words import segments, word_spans, word_types


def test_spans_are_offsets_of_the_text():
    text = "Ünïted, ＡＢ 日本 x"
    words = [text[a:b] for a, b in word_spans(text).tolist()]
    assert words == ["Ünïted", "ＡＢ", "日", "本", "x"]
    assert word_spans("").shape == (0, 2)


def test_words_that_differ_in_capitals_are_the_same():
    text = "Red green RED"
    assert word_types(text, word_spans(text)).tolist() == [0, 1, 0]


def test_sentences_are_joined_to_at_most_so_many():
    text = "One here.\nTwo here.\nThree here.\nFour here."
    spans = word_spans(text)
    assert segments(text, spans, 10).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert segments(text, spans, 2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert segments("", word_spans(""), 2).tolist() == []
