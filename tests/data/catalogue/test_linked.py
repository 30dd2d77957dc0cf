import numpy as np

from longtail.data.catalogue.linked import Things, linked_parts


def pairs(dataset, matrix):
    cells = matrix.tocoo()
    return {
        (dataset.documents.ids[r], dataset.labels.ids[c]) for r, c in zip(cells.row, cells.col, strict=True)
    }


THINGS = Things(
    list("abcdef"),
    list("ABCDEF"),
    [""] * 6,
    [f"text of {c}" for c in "abcdef"],
    [["b", "c", "c", "nowhere", "a"], ["a"], ["a", "d"], ["b"], ["a", "f"], []],
    [{"n": i} for i in range(6)],
)


def split(rows):
    # a, b train; c valid; d, e test; f has no links and is not asked about
    assert rows.tolist() == [0, 1, 2, 3, 4]
    return np.array([0, 0, 1, 2, 2])


def test_links_become_labels_and_own_labels_are_not_scored():
    parts = linked_parts(THINGS, ["train", "valid", "test"], split)
    train, valid, test = parts.values()
    assert train.labels.ids == list("abcdf")
    assert train.labels.texts[0] == "text of a"
    assert train.labels is test.labels
    assert pairs(train, train.Y) == {("a", "b"), ("a", "c"), ("b", "a")}
    assert pairs(valid, valid.Y) == {("c", "a"), ("c", "d")}
    assert pairs(test, test.Y) == {("d", "b"), ("e", "a"), ("e", "f")}
    assert pairs(train, train.filtered) == {("a", "a"), ("b", "b")}
    assert pairs(test, test.filtered) == {("d", "d")}
    assert test.documents.titles == ["D", "E"]
    assert test.documents.extra == [{"n": 3}, {"n": 4}]
    assert train.Y.dtype == np.float32
    assert set(train.Y.data) == {1.0}


def test_a_link_whose_reverse_training_holds_is_not_scored():
    parts = linked_parts(THINGS, ["train", "valid", "test"], split, filter_reverse=True)
    train, valid, test = parts.values()
    assert pairs(train, train.Y) == {("a", "b"), ("a", "c"), ("b", "a")}
    assert pairs(valid, valid.Y) == {("c", "d")}  # training has a -> c, so c -> a is known
    assert pairs(valid, valid.filtered) == {("c", "a"), ("c", "c")}
    assert pairs(test, test.Y) == {("d", "b"), ("e", "a"), ("e", "f")}


def test_a_document_left_without_links_is_left_out():
    things = Things(list("ab"), [""] * 2, [""] * 2, [""] * 2, [["b"], ["a"]])
    parts = linked_parts(things, ["train", "test"], lambda rows: np.array([0, 1]), filter_reverse=True)
    assert parts["train"].documents.ids == ["a"]
    assert len(parts["test"]) == 0
    assert parts["test"].labels.ids == ["b"]
