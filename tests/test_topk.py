"""Predictions as Python users read them: lists of names and scores, tables, matrices."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import topk
from longtail.errors import MissingPackageError, UsageError
from longtail.topk import TopK

IDS = ["cats", "dogs", "fish"]


def answers() -> TopK:
    indices = np.array([[2, 0], [1, -1], [-1, -1]], np.int32)
    return TopK(indices, np.array([[0.75, 0.5], [0.25, 0], [0, 0]], np.float32), IDS)


class TestLists:
    def test_documents_and_their_labels_are_iterated(self):
        seen = [[(label, score) for label, score in document] for document in answers()]
        assert seen == [[("fish", 0.75), ("cats", 0.5)], [("dogs", 0.25)], []]

    def test_one_document_and_slices(self):
        best = answers()
        assert best[0] == [("fish", 0.75), ("cats", 0.5)]
        assert best[np.int64(1)] == best[-2] == [("dogs", 0.25)]
        assert best[-1] == []
        assert list(best[1:]) == [best[1], best[2]]
        assert (len(best), len(best[:0]), best.k) == (3, 0, 2)

    def test_padding_names_no_label(self):
        assert answers().labels == [["fish", "cats"], ["dogs"], []]

    def test_names_are_looked_up_once(self):
        best = answers()
        assert best.labels is best.labels

    @pytest.mark.parametrize("row", [3, -4])
    def test_a_document_that_is_not_there(self, row):
        with pytest.raises(IndexError, match=f"there is no document {row}: there are 3"):
            answers()[row]

    @pytest.mark.parametrize("row", [(0, 0), "cats", True, 1.0])
    def test_other_keys_are_refused(self, row):
        with pytest.raises(TypeError, match=r"documents are numbered: best\[0\]"):
            answers()[row]

    def test_without_names_there_are_numbers_only(self):
        best = TopK(np.array([[1]], np.int32), np.ones((1, 1), np.float32))
        for read in (lambda: best.labels, lambda: best[0], lambda: list(best), best.to_dicts):
            with pytest.raises(UsageError, match="label numbers only"):
                read()
        assert best.named(IDS)[0] == [("dogs", 1.0)]

    def test_to_dicts(self):
        assert answers().to_dicts()[:2] == [
            [{"label": "fish", "score": 0.75}, {"label": "cats", "score": 0.5}],
            [{"label": "dogs", "score": 0.25}],
        ]


class TestTables:
    def test_to_frame_has_a_row_per_prediction(self):
        frame = answers().to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert frame.to_dict("list") == {
            "document": [0, 0, 1],
            "rank": [1, 2, 1],
            "label": ["fish", "cats", "dogs"],
            "score": [0.75, 0.5, 0.25],
        }

    def test_to_frame_says_what_to_install(self, monkeypatch):
        def missing(name):
            raise ImportError(name)

        monkeypatch.setattr(topk, "import_module", missing)
        with pytest.raises(MissingPackageError, match=r"to_frame\(\) needs the package 'pandas'"):
            answers().to_frame()

    def test_to_csr_leaves_out_the_padding_and_sorts_columns(self):
        best = TopK(np.array([[2, 0], [1, -1], [-1, -1]], np.int32), np.array([[0.9, 0.5], [0.7, 0], [0, 0]]))
        matrix = best.to_csr(3)
        assert matrix.toarray().tolist() == [[0.5, 0, 0.9], [0, 0.7, 0], [0, 0, 0]]
        assert matrix.nnz == 3
        assert matrix.has_canonical_format

    def test_to_csr_knows_the_number_of_named_labels(self):
        assert answers().to_csr().shape == (3, 3)
        with pytest.raises(UsageError, match=r"to_csr\(n_labels\)"):
            TopK.empty(1, 1).to_csr()

    @given(st.lists(st.permutations(range(5)), max_size=6), st.integers(0, 5))
    def test_to_csr_holds_every_prediction(self, orders, k):
        chosen = np.array(orders, np.int32).reshape(-1, 5)[:, :k]
        scores = np.tile(np.linspace(1, 0.5, 5, dtype=np.float32)[:k], (len(chosen), 1))
        dense = TopK(chosen, scores).to_csr(5).toarray()
        assert (np.take_along_axis(dense, chosen.astype(np.int64), axis=1) == scores).all()
        assert np.count_nonzero(dense) == scores.size


class TestMade:
    def test_above_leaves_out_low_scores(self):
        kept = answers().above(0.5)
        assert kept.labels == [["fish", "cats"], [], []]
        assert kept.indices.tolist() == [[2, 0], [-1, -1], [-1, -1]]
        assert kept.scores.tolist() == [[0.75, 0.5], [0, 0], [0, 0]]

    def test_empty_and_stack(self):
        empty = TopK.empty(2, 3)
        assert (len(empty), empty.k) == (2, 3)
        assert empty.to_csr(4).nnz == 0
        stacked = TopK.stack([empty.named(IDS), TopK(np.array([[1, 0, -1]]), np.ones((1, 3)))])
        assert stacked.indices.tolist() == [[-1, -1, -1], [-1, -1, -1], [1, 0, -1]]
        assert stacked.labels == [[], [], ["dogs", "cats"]]

    def test_shapes_must_agree(self):
        with pytest.raises(UsageError, match=r"must be one \[n, k\] shape"):
            TopK(np.zeros((1, 2)), np.zeros((2, 1)))
        with pytest.raises(UsageError, match=r"must be one \[n, k\] shape"):
            TopK(np.zeros(2), np.zeros(2))


class TestShown:
    def test_the_first_answers_are_printed(self):
        assert repr(answers()) == (
            "TopK(3 documents, k=2)\n  [0] fish 0.75, cats 0.50\n  [1] dogs 0.25\n  [2] no label"
        )

    def test_numbers_stand_for_labels_without_names(self):
        best = answers().named(None)
        assert repr(best).splitlines()[1] == "  [0] 2 0.75, 0 0.50"

    def test_many_documents_are_cut(self):
        lines = repr(TopK.empty(1000, 5)).splitlines()
        assert lines[0] == "TopK(1,000 documents, k=5)"
        assert len(lines) == 12
        assert lines[-1] == "  ..."

    def test_notebooks_get_a_table(self):
        html = answers().named(["<b>", "dogs", "fish"])._repr_html_()
        assert "<td>fish 0.75, &lt;b&gt; 0.50</td>" in html


def test_above_keeps_a_score_that_is_the_threshold() -> None:
    best = TopK(
        np.array([[3, 1, -1]], np.int32), np.array([[0.5, 0.25, 0]], np.float32), ["a", "b", "c", "d"]
    )
    kept = best.above(0.5)
    assert kept.indices.tolist() == [[3, -1, -1]]
    assert kept.scores.tolist() == [[0.5, 0, 0]]
    assert kept.labels == [["d"]]


def test_what_is_not_kept_is_padding_at_the_end() -> None:
    best = TopK(np.array([[3, 1, 0], [2, 0, -1]], np.int32), np.array([[3, 2, 1], [2, 1, 0]], np.float32))
    kept = best.where(np.array([[False, True, True], [False, True, True]]))
    assert kept.indices.tolist() == [[1, 0, -1], [0, -1, -1]]
    assert kept.scores.tolist() == [[2, 1, 0], [1, 0, 0]]
    assert kept.scores.dtype == np.float32
    assert best.first(2).indices.tolist() == [[3, 1], [2, 0]]
