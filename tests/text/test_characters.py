from longtail.text.characters import IDEOGRAPH, LETTER, MARK, SEPARATOR, character_classes


def test_letters_digits_and_underscore_belong_to_words() -> None:
    assert {int(character_classes()[ord(c)]) for c in "aZ9_éßжन한"} == {LETTER}


def test_signs_spaces_surrogates_and_nul_end_words() -> None:
    assert {int(character_classes()[ord(c)]) for c in " -'.\n\x00\ud800€\U0010ffff"} == {SEPARATOR}


def test_han_and_kana_stand_alone() -> None:
    assert {int(character_classes()[ord(c)]) for c in "日本ひカー々𠀀"} == {IDEOGRAPH}


def test_accents_vowel_signs_and_joiners_continue_words() -> None:
    assert {int(character_classes()[ord(c)]) for c in "\u0301\u093f\u200d\ufe0f"} == {MARK}
