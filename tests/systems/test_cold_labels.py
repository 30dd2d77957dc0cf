from __future__ import annotations

from longtail import Dataset
from longtail.systems.cold_labels import never_predicted


def test_labels_without_documents_are_named() -> None:
    assert never_predicted(Dataset.from_texts(["x"], [["a"]])) is None
    one = Dataset.from_texts(["x"], [["a"]], {"aa": "a name"})
    sentence = "labels without training documents, which are never predicted"
    assert never_predicted(one) == f"{sentence}: 1 ('aa')"
    many = Dataset.from_texts(["x"], [["a"]], {f"b{n}": "a name" for n in range(5)})
    assert never_predicted(many) == f"{sentence}: 5 ('b0', 'b1', 'b2', ...)"
