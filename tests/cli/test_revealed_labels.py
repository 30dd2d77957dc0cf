from __future__ import annotations

from pathlib import Path

from longtail.cli.revealed_labels import RevealedLabels
from longtail.types import Document, Documents, LabelSet

LABELS = LabelSet(["a", "b"], ["", ""])


def documents(*revealed: list[str] | None) -> Documents:
    return Documents.of(
        [
            Document(f"d{row}", extra={} if ids is None else {"revealed": ids})
            for row, ids in enumerate(revealed)
        ]
    )


def test_nothing_revealed() -> None:
    known = RevealedLabels(LABELS)
    assert known.of(documents(None, None)) is None
    assert known.of(Documents.of(["text"])) is None
    assert known.unknown_sentence("-") is None


def test_labels_of_the_model_stay_and_others_are_counted(tmp_path: Path) -> None:
    known = RevealedLabels(LABELS)
    assert known.of(documents(["a"], None)) == [["a"], []]
    assert known.unknown_sentence("file") is None
    assert known.of(documents(None, ["x", "b", "y"], ["x"])) == [[], ["b"], []]
    assert known.unknown == 3
    place = tmp_path / "in.jsonl"
    place.write_text("1\n2\n\n  \n3\n4\n5\n")
    assert known.unknown_sentence(str(place)) == (
        f"{place}, line 6: the revealed label 'x' of the document 'd1' is not in the model; "
        "3 such labels were ignored"
    )
    assert str(known.unknown_sentence("-")).startswith("standard input: the revealed label 'x'")
