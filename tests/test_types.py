"""The nouns that cross folders: documents, label sets, data sets, predictions."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from longtail.errors import UsageError
from longtail.types import Dataset, Document, Documents, Edges, LabelSet, label_matrix

tag_rows = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=5), max_size=8)
LINKS = Edges(["a"], ["x"], np.ones(1, np.float32))


def labels(*ids: str) -> LabelSet:
    return LabelSet(list(ids), [""] * len(ids))


def from_rows(rows: list[list[str]]) -> Dataset:
    return Dataset.from_texts([f"text {i}" for i in range(len(rows))], rows)


def pairs(data: Dataset) -> set[tuple[str, str]]:
    Y = data.Y.tocoo()
    return {(data.documents.ids[r], data.labels.ids[c]) for r, c in zip(Y.row, Y.col, strict=True)}


class TestDocuments:
    @pytest.mark.parametrize(
        ("source", "ids", "texts"),
        [
            ("one", ["0"], ["one"]),
            (["a", "b"], ["0", "1"], ["a", "b"]),
            (("a", Document("x", text="b")), ["0", "x"], ["a", "b"]),
            (Document("x", "t", "b"), ["x"], ["b"]),
            (pandas.Series(["a", "b"], index=[7, 9]), ["0", "1"], ["a", "b"]),
            (np.array(["a", "b"]), ["0", "1"], ["a", "b"]),
            ((text for text in "ab"), ["0", "1"], ["a", "b"]),
            ([], [], []),
        ],
    )
    def test_of_takes_what_users_have(self, source, ids, texts):
        documents = Documents.of(source)
        assert (documents.ids, documents.texts) == (ids, texts)

    def test_of_keeps_documents_and_opens_a_data_set(self):
        data = from_rows([["a"]])
        assert Documents.of(data) is data.documents
        assert Documents.of(data.documents) is data.documents

    @pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_array])
    def test_of_takes_feature_rows(self, kind):
        documents = Documents.of(kind(np.eye(2)))
        assert documents.ids == ["0", "1"]
        assert documents.texts == ["", ""]
        assert isinstance(documents.features, csr_array)
        assert documents.features.dtype == np.float32

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            (["a", 3], "document 1 is a int, not a string or Document"),
            ([None], "document 0 is a NoneType, not a string or Document"),
            ({"title": "a", "text": "b"}, "not a dict"),
            (np.eye(2), "scipy.sparse.csr_array of a table of features"),
            (pandas.DataFrame({"text": ["a"]}), "pass the column with the texts"),
            (None, "not a NoneType"),
            (3, "not a int"),
        ],
    )
    def test_of_says_what_is_not_a_text(self, source, expected):
        with pytest.raises(UsageError) as caught:
            Documents.of(source)
        assert expected in str(caught.value)

    def test_columns_must_have_one_length(self):
        with pytest.raises(UsageError, match=r"different lengths: \[1, 2\]"):
            Documents(["a", "b"], ["", ""], [""])
        with pytest.raises(UsageError, match="different lengths"):
            Documents(["a"], [""], [""], csr_array(np.eye(2)))
        with pytest.raises(UsageError, match="different lengths"):
            Documents(["a"], [""], [""], None, [{}, {}])

    def test_they_are_a_sequence_of_documents(self):
        rows = [Document("x", "t", "a", {"year": 1}), Document("y", text="b")]
        documents = Documents.of(rows)
        assert list(documents) == rows
        assert documents[-1] == rows[1]
        assert list(documents[::-1]) == rows[::-1]
        assert rows[1] in documents
        assert list(documents[1:1]) == []

    def test_take_takes_every_column(self):
        documents = Documents(["x", "y"], ["s", "t"], ["a", "b"], csr_array(np.eye(2)), [{}, {"n": 1}])
        taken = documents.take(np.array([1, 0, 1]))
        assert (taken.ids, taken.titles, taken.texts) == (["y", "x", "y"], ["t", "s", "t"], ["b", "a", "b"])
        assert taken.features is not None
        assert taken.features.toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
        assert taken.extra == [{"n": 1}, {}, {"n": 1}]
        assert len(documents.take([])) == 0

    def test_joined_leaves_out_empty_fields(self):
        documents = Documents(["0", "1", "2", "3"], ["t", "t", "", ""], ["x", "", "x", ""])
        assert documents.joined() == ["t\nx", "t", "x", ""]
        assert documents.joined(["title"]) == ["t", "t", "x", ""]
        assert documents.joined(["text"]) == ["x", "t", "x", ""]

    @pytest.mark.parametrize("fields", [["body"], [], "text"])
    def test_joined_knows_its_fields(self, fields):
        with pytest.raises(UsageError, match="fields must be among title, text, not"):
            Documents.of("a").joined(fields)


class TestLabelSet:
    def test_the_index_finds_each_label(self):
        assert labels("b", "a").index == {"b": 0, "a": 1}

    def test_an_id_twice_is_named(self):
        with pytest.raises(UsageError, match="the label id 'a' is there twice"):
            labels("a", "b", "a")

    def test_columns_must_have_one_length(self):
        with pytest.raises(UsageError, match="different lengths"):
            LabelSet(["a"], [])
        with pytest.raises(UsageError, match="different lengths"):
            LabelSet(["a"], [""], [])

    def test_extended_adds_new_labels_once_behind_the_old(self):
        before = LabelSet(["a"], ["A"], [{"n": 1}])
        after = before.extended(["c", "a", "b", "c"])
        assert (after.ids, after.texts, after.extra) == (["a", "c", "b"], ["A", "", ""], [{"n": 1}, {}, {}])
        assert before.extended(["a"]) is before
        assert after.has_text
        assert not labels("a").has_text

    def test_features_are_a_row_a_label(self):
        before = LabelSet(["a", "b"], ["", ""], None, csr_array(np.eye(2, 3, dtype=np.float32)))
        for after in (before.extended(["c", "b"]), before.with_texts({"c": "C"})):
            assert after.features.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
        with pytest.raises(UsageError, match="different lengths"):
            replace(before, ids=["a"], texts=[""])

    def test_an_index_of_other_labels_is_made_anew(self):
        ready = {"a": 0, "b": 1}
        assert LabelSet(["a", "b"], ["", ""], index=ready).index is ready
        assert replace(labels("a", "b"), ids=["b", "a"]).index == {"b": 0, "a": 1}
        with pytest.raises(UsageError, match="the label id 'a' is there twice"):
            LabelSet(["a", "a"], ["", ""], index={"a": 0})


class TestLabelMatrix:
    def test_a_label_named_twice_counts_once(self):
        Y = label_matrix([["b", "a", "b"], [], ["c"]], labels("a", "b", "c"))
        assert Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
        assert Y.dtype == np.float32
        assert Y.has_canonical_format

    def test_an_unknown_label_is_named(self):
        with pytest.raises(UsageError, match="the label 'z' is not in the label set"):
            label_matrix([["a", "z"]], labels("a"))

    @given(tag_rows)
    def test_it_holds_the_sets_of_the_rows(self, rows):
        known = labels(*"abcdefg")
        Y = label_matrix(rows, known)
        assert Y.shape == (len(rows), 7)
        found = [{known.ids[c] for c in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]} for i in range(len(rows))]
        assert found == [set(row) for row in rows]
        assert Y.nnz == sum(len(set(row)) for row in rows)


class TestDataset:
    def test_from_texts_numbers_labels_as_they_come(self):
        data = Dataset.from_texts(["x", "y"], [["b", "a"], "b"], {"c": "C", "a": "A"})
        assert data.labels.ids == ["c", "a", "b"]
        assert data.labels.texts == ["C", "A", ""]
        assert data.Y.toarray().tolist() == [[0, 1, 1], [0, 0, 1]]
        assert data.label_counts.tolist() == [0, 1, 2]

    def test_from_texts_takes_numbers_as_label_ids(self):
        data = Dataset.from_texts(["x"], [[1, 2]], {1: "one"})
        assert (data.labels.ids, data.labels.texts) == (["1", "2"], ["one", ""])

    def test_from_texts_takes_pandas_columns_with_missing_texts(self):
        data = Dataset.from_texts(pandas.Series(["x", None, float("nan")]), pandas.Series([["a"], [], ["b"]]))
        assert data.documents.texts == ["x", "", ""]
        assert data.label_counts.tolist() == [1, 1]

    def test_from_texts_takes_a_sparse_matrix(self):
        data = Dataset.from_texts(["x", "y"], csr_matrix(np.eye(2)), np.array(["A", "B"]))
        assert (data.labels.ids, data.labels.texts) == (["0", "1"], ["A", "B"])
        assert isinstance(data.Y, csr_array)
        assert data.Y.dtype == np.float32

    @pytest.mark.parametrize(
        ("tags", "label_texts", "expected"),
        [
            ([["a"], ["b"]], None, "1 texts but 2 lists of tags"),
            ([["a"]], ["A"], "label_texts must be a mapping from label id to text"),
            (csr_array(np.eye(1)), {"0": "A"}, "label_texts must be a list in the order of its columns"),
            (csr_array(np.eye(1)), ["A", "B"], "the columns of the label set have different lengths"),
            (csr_array(np.eye(2)), None, "Y has shape (2, 2), but there are 1 documents and 2 labels"),
            (np.array([[0, 1]]), None, "tags is a table of shape (1, 2): pass scipy.sparse.csr_array(tags)"),
            ([3], None, "the tags of document 0 are 3, not a list of label ids"),
            (None, None, "tags must be a list of label ids a document, not a NoneType"),
            ("a", None, "tags must be a list of label ids a document, not a str"),
        ],
    )
    def test_from_texts_says_what_does_not_fit(self, tags, label_texts, expected):
        with pytest.raises(UsageError) as caught:
            Dataset.from_texts(["x"], tags, label_texts)
        assert expected in str(caught.value)

    def test_from_matrix(self):
        data = Dataset.from_matrix(np.eye(2), [[0, 1], [0, 1]], ["a", "b"])
        assert data.labels.ids == ["a", "b"]
        assert data.documents.features is not None
        assert data.label_counts.tolist() == [0, 2]
        with pytest.raises(UsageError, match="Y has shape"):
            Dataset.from_matrix(np.eye(2), np.eye(3))

    def test_stored_zeros_and_doubles_are_no_labels_and_the_callers_matrix_is_left_alone(self):
        Y = csr_array((np.array([1, 0, 1], np.float32), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
        data = Dataset(Documents.of("x"), labels("a", "b"), Y)
        assert data.label_counts.tolist() == [0, 1]
        assert data.Y.has_canonical_format
        assert Y.nnz == 3
        assert data.relabelled(labels("b")).label_counts.tolist() == [1]

    @pytest.mark.parametrize("name", ["filtered", "revealed"])
    def test_other_matrices_have_the_shape_of_y(self, name):
        with pytest.raises(UsageError, match=rf"{name} has shape \(1, 1\)"):
            replace(from_rows([["a", "b"]]), **{name: csr_array((1, 1))})

    def test_unscored_is_what_is_filtered_or_revealed(self):
        data = from_rows([["a", "b"]])
        assert data.unscored is None
        one, other = csr_array([[2, 0]]), csr_array([[0, 1]])
        only = replace(data, revealed=one).unscored
        both = replace(data, filtered=one, revealed=other).unscored
        assert only is not None
        assert both is not None
        assert only.toarray().tolist() == [[1, 0]]
        assert both.toarray().tolist() == [[1, 1]]

    @given(tag_rows, st.data())
    def test_take_keeps_each_document_with_its_labels(self, rows, draw):
        data = from_rows(rows)
        data = replace(data, filtered=data.Y, revealed=data.Y, edges=LINKS)
        chosen = draw.draw(st.lists(st.integers(0, len(rows) - 1)) if rows else st.just([]))
        part = data.take(chosen)
        assert part.labels is data.labels
        assert part.documents.texts == [data.documents.texts[i] for i in chosen]
        assert part.Y.toarray().tolist() == data.Y.toarray()[chosen].tolist()
        assert part.edges is LINKS
        for matrix in (part.filtered, part.revealed):
            assert matrix is not None
            assert (matrix != part.Y).nnz == 0

    @given(tag_rows, st.permutations("abcdefghi"))
    def test_relabelled_keeps_the_pairs(self, rows, order):
        data = from_rows(rows)
        moved = replace(data, filtered=data.Y, revealed=data.Y, edges=LINKS).relabelled(labels(*order))
        assert moved.labels.ids == list(order)
        assert pairs(moved) == pairs(data)
        assert moved.Y.has_canonical_format
        assert moved.edges is LINKS
        for matrix in (moved.filtered, moved.revealed):
            assert matrix is not None
            assert (matrix != moved.Y).nnz == 0
        assert pairs(moved.relabelled(data.labels)) == pairs(data)

    def test_relabelled_needs_the_labels_in_use_only(self):
        data = Dataset.from_texts(["x"], [["a"]], {"unused": "", "a": ""})
        assert data.relabelled(data.labels) is data
        assert data.relabelled(labels("a")).Y.toarray().tolist() == [[1]]
        with pytest.raises(UsageError, match="the label 'a' is not in the new label set"):
            data.relabelled(labels("unused"))


class TestEdges:
    def test_nodes_are_found_and_others_left_out(self):
        edges = Edges(["a", "a", "x", "b"], ["b", "x", "a", "b"], np.array([1, 2, 3, 4], np.float32))
        sources, targets, weights = edges.located({"a": 5, "b": 0})
        assert (sources.tolist(), targets.tolist(), weights.tolist()) == ([5, 0], [0, 0], [1, 4])
        assert sources.dtype == targets.dtype == np.int64
        assert [len(column) for column in Edges([], [], np.empty(0, np.float32)).located({})] == [0, 0, 0]


class TestFingerprint:
    def test_it_does_not_depend_on_how_the_matrix_is_stored(self):
        wanted = Dataset.from_matrix(np.eye(2), [[1, 1], [0, 1]]).fingerprint()
        stored = (np.array([1, 1, 0, 1], np.float64), np.array([1, 0, 0, 1], np.int64), np.array([0, 2, 4]))
        same = Dataset.from_matrix(csr_array(np.eye(2)), csr_array(stored, shape=(2, 2)))
        assert same.fingerprint() == wanted
        direct = Dataset(same.documents, same.labels, csr_array(stored, shape=(2, 2)))
        assert direct.fingerprint() == wanted
        assert len(wanted) == 64

    @given(tag_rows)
    def test_the_same_data_give_the_same(self, rows):
        assert from_rows(rows).fingerprint() == from_rows(rows).fingerprint()

    def test_every_change_shows(self):
        base = Dataset.from_texts(["ab", "c"], [["a"], ["b"]], {"a": "A", "b": "B"})
        documents, known = base.documents, base.labels
        changed = [
            base,
            replace(base, documents=replace(documents, texts=["a", "bc"])),
            replace(base, documents=replace(documents, ids=["0", "2"])),
            replace(base, documents=replace(documents, titles=["t", ""])),
            replace(base, documents=replace(documents, features=csr_array(np.eye(2)))),
            replace(base, documents=replace(documents, features=csr_array(2 * np.eye(2)))),
            replace(base, labels=LabelSet(["a", "x"], known.texts)),
            replace(base, labels=LabelSet(known.ids, ["A", ""])),
            replace(base, labels=replace(known, features=csr_array(np.eye(2)))),
            replace(base, labels=replace(known, features=csr_array(2 * np.eye(2)))),
            replace(base, Y=csr_array(np.ones((2, 2)))),
            replace(base, filtered=base.Y),
            replace(base, revealed=base.Y),
            replace(base, filtered=base.Y, revealed=base.Y),
            replace(base, edges=LINKS),
            replace(base, edges=LINKS._replace(sources=["b"])),
            replace(base, edges=LINKS._replace(targets=["b"])),
            replace(base, edges=LINKS._replace(weights=np.array([2], np.float32))),
            base.take([1, 0]),
            base.take([0]),
        ]
        assert len({data.fingerprint() for data in changed}) == len(changed)

    def test_what_is_there_but_empty_does_not_show(self):
        base = Dataset.from_texts(["ab", "c"], [["a"], ["b"]])
        nothing = csr_array((2, 2), dtype=np.float32)
        links = Edges([], [], np.empty(0, np.float32))
        empty = replace(base, filtered=nothing, revealed=nothing, edges=links)
        assert empty.fingerprint() == base.fingerprint()

    def test_it_has_not_changed_for_data_without_filters(self):
        data = Dataset.from_texts(["ab", "c"], [["a"], ["b"]], {"a": "A", "b": "B"})
        assert data.fingerprint() == "2f8da2b092958233684dd6f38cdbb92b63d01ea18be34524c6ad2d617257103b"

    def test_broken_unicode_has_one_too(self):
        assert len(Dataset.from_texts(["\ud800"], [["a"]]).fingerprint()) == 64


class TestShown:
    def test_one_short_line(self):
        data = Dataset.from_texts(["ab", "c"], [["a", "b"], ["b"]])
        assert repr(data) == "Dataset(2 documents, 2 labels, 3 assignments)"
        assert repr(data.documents) == "Documents(2)"
        assert repr(Documents.from_features(data.Y)) == "Documents(2 feature rows)"
        assert repr(data.labels) == "LabelSet(2: 'a', 'b')"
        assert repr(LabelSet(list("abcd"), [""] * 4)) == "LabelSet(4: 'a', 'b', 'c', ...)"
        assert repr(LabelSet([], [])) == "LabelSet(0)"

    def test_notebooks_get_the_first_documents(self):
        data = Dataset.from_texts(["a < b", *["x" * 100] * 9], [["p", "q"], *[[]] * 9])
        html = data._repr_html_()
        assert "<td>0</td><td>a &lt; b</td><td>p, q</td>" in html
        assert f"<td>{'x' * 79}…</td><td></td>" in html
        assert html.count("<tr>") == 6


def test_labels_alone_are_a_data_set() -> None:
    data = Dataset.from_labels({"a": "apple", "b": ""})
    assert (len(data), data.labels.ids, data.labels.texts) == (0, ["a", "b"], ["apple", ""])
    assert data.Y.shape == (0, 2)
    assert data.fingerprint() == Dataset.from_labels(data.labels).fingerprint()
    assert data.fingerprint() != Dataset.from_labels({"a": "apple", "b": "x"}).fingerprint()
