from longtail.text.codepoints import encode
from longtail.text.distinct import distinct_words
from longtail.text.tokens import split


def test_words_in_order_of_first_appearance() -> None:
    which, words = distinct_words(split(encode(["b a", "a c b"])))
    assert which.tolist() == [0, 1, 1, 2, 0]
    assert words.starts.tolist() == [0, 2, 5]
