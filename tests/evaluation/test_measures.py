import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail.evaluation.measures import (
    Case,
    bin_table,
    calibration,
    calibration_of_bins,
    coverages,
    equal_volume_bins,
    frequency_bins,
    metrics,
    of_chosen,
    precision_parts,
)
from tests.evaluation.cases import pairs, ranking

N_LABELS = 6
ONES = np.ones(N_LABELS)


def case(predicted, truth, *out, k=3) -> Case:
    answer = ranking(predicted, k)
    unscored = [None if rows is None else pairs(rows, N_LABELS) for rows in out]
    return Case.of(answer.indices, answer.scores, pairs(truth, N_LABELS), unscored)


def test_a_case_knows_hits_and_sizes():
    found = case([[0, 1, 2], [3]], [[1, 4], []])
    assert found.hit.tolist() == [[False, True, False], [False] * 3]
    assert found.sizes.tolist() == [2, 0]
    assert found.unscored == 0


def test_unscored_pairs_are_in_neither_predictions_nor_truth():
    found = case([[0, 1], [3, 2]], [[0, 1], [2]], [[0], []], None, [[0], [3]])
    assert found.labels.tolist() == [[1, -1, -1], [2, -1, -1]]
    assert found.truth.toarray().nonzero()[1].tolist() == [1, 2]
    assert found.sizes.tolist() == [1, 1]
    assert found.hit[:, 0].tolist() == [True, True]
    assert found.unscored == 2, "a pair that is left out twice counts once"


def test_scores_move_with_their_labels():
    answer = ranking([[0, 1, 2]], 3)
    found = case([[0, 1, 2]], [[1]], [[0]])
    assert found.labels.tolist() == [[1, 2]]
    assert found.scores.tolist() == [answer.scores[0, 1:].tolist()]


def test_a_full_ranking_that_lost_labels_is_known_less_far():
    assert case([[0, 1, 2], [3, 4, 5]], [[1], [3]], [[0, 2], []]).labels.shape == (2, 1)
    assert case([[0, 1], [3, 4, 5]], [[1], [3]], [[0], []]).labels.shape == (2, 3)
    assert case([[0, 1, 2]], [[1]], [[0, 1, 2]]).labels.tolist() == [[-1]]


def test_metrics_by_hand():
    found = case([[0, 1, 2], [3, 4, 5]], [[0, 2], [4]])
    q = np.array([1, 1, 2, 1, 4, 1.0])
    values = {name: metric["value"] for name, metric in metrics(found, q, [1, 3], seed=0).items()}
    second, third = 1 / np.log2(3), 1 / np.log2(4)
    assert values == pytest.approx(
        {
            "P@1": 50,
            "P@3": 100 * 3 / 6,
            "nDCG@1": 50,
            "nDCG@3": 100 * ((1 + third) / (1 + second) + second) / 2,
            "PSP@1": 100 * (1 + 0) / (2 + 4),
            "PSP@3": 100 * (3 + 4) / (3 + 4),
            "PSnDCG@1": 100 * 1 / (2 + 4),
            "PSnDCG@3": 100
            * ((1 + 2 * third) / (1 + second) + 4 * second)
            / ((2 + second) / (1 + second) + 4),
            "R@1": 25,
            "R@3": 100,
        }
    )


def test_recall_at_ten_is_there_when_ten_are_predicted():
    assert "R@10" not in metrics(case([[0]], [[0]], k=9), ONES, [1], seed=0)
    wide = metrics(case([[0]], [[0]], k=10), ONES, [1, 3], seed=0)
    assert list(wide)[-3:] == ["R@1", "R@3", "R@10"]


@given(
    st.lists(st.tuples(st.permutations(range(N_LABELS)), st.sets(st.integers(0, 5))), min_size=1, max_size=6),
    st.integers(0, 3),
)
def test_every_metric_is_a_percentage_with_an_interval(rows, seed):
    found = case([ranked[:3] for ranked, _ in rows], [sorted(truth) for _, truth in rows])
    for name, metric in metrics(found, ONES, [1, 3], seed).items():
        assert 0 <= metric["low"] <= metric["high"] <= 100 + 1e-9, name
        assert -1e-9 <= metric["value"] <= 100 + 1e-9, name
    if all(truth and set(ranked[: len(truth)]) == truth and len(truth) <= 3 for ranked, truth in rows):
        assert metrics(found, ONES, [3], seed)["R@3"]["value"] == pytest.approx(100)


def test_coverage_and_f1():
    found = case([[0, 1], [0, 2]], [[0, 3], [2]])
    assert coverages(found, [1, 2]) == pytest.approx({"coverage@1": 100 / 3, "coverage@2": 200 / 3})
    # Label 0 is chosen for both documents, and right for the first.
    metrics_of_chosen, per_document = of_chosen(found.labels[:, :1], found.truth)
    assert per_document == 1
    assert metrics_of_chosen == pytest.approx(
        {
            "precision": 50,
            "recall": 100 / 3,
            "micro F1": 100 * 2 / (2 + 3),
            "macro F1": 100 * (2 / 3) / 3,
            "sample F1": 100 * (2 / 3) / 2,
        }
    )


def test_a_bin_has_its_contribution_and_its_own_recall():
    found = case([[0, 1], [0, 2]], [[0, 1], [2, 3]])
    table = bin_table(found, ONES, frequency_bins(np.array([200, 3, 3, 0, 0, 7])), 2)
    assert [row["name"] for row in table] == ["0", "1–5", "6–20", "21–100", ">100"]
    assert [row["labels"] for row in table] == [2, 2, 1, 0, 1]
    assert [row["assignments"] for row in table] == [1, 2, 0, 0, 1]
    assert [row["hits"] for row in table] == [0, 2, 0, 0, 1]
    assert [row["P"] for row in table] == pytest.approx([0, 50, 0, 0, 25])
    assert [row["R"] for row in table] == pytest.approx([0, 100, 0, 0, 100])
    assert [row["PSP"] for row in table] == pytest.approx([0, 50, 0, 0, 25])


def test_parts_of_precision_by_hand():
    found = case([[0, 1], [0, 2]], [[0, 1], [2, 3]])
    parts = precision_parts(found, frequency_bins(np.array([200, 3, 3, 0, 0, 7])), [1, 2])
    assert list(parts) == ["P@1", "P@2"]
    assert parts["P@1"] == pytest.approx([0, 0, 0, 0, 50])
    assert parts["P@2"] == pytest.approx([0, 50, 0, 0, 25])


@given(
    st.lists(st.tuples(st.permutations(range(N_LABELS)), st.sets(st.integers(0, 5))), max_size=6),
    st.lists(st.integers(0, 50), min_size=N_LABELS, max_size=N_LABELS),
)
def test_parts_of_precision_add_up(rows, counts):
    found = case([ranked[:3] for ranked, _ in rows], [sorted(truth) for _, truth in rows])
    bins, whole = equal_volume_bins(np.array(counts)), metrics(found, ONES, [1, 2, 3], seed=0)
    parts = precision_parts(found, bins, [1, 2, 3])
    for name, values in parts.items():
        assert len(values) == 5
        assert sum(values) == pytest.approx(whole[name]["value"])
    assert parts["P@3"] == pytest.approx([row["P"] for row in bin_table(found, ONES, bins, 3)])


def test_calibration_of_the_first_k():
    found = case([[0, 1], [0, 2]], [[0, 1], [2]], k=2)
    whole = calibration(found, 2)
    assert whole["k"] == 2
    assert [(p["low"], p["high"], p["count"], p["accuracy"]) for p in whole["points"]] == [
        (0.0, 0.1, 2, 1.0),
        (0.9, 1.0, 2, 0.5),
    ]
    assert [p["score"] for p in whole["points"]] == pytest.approx([0.05, 0.95])
    assert whole["ece"] == pytest.approx(100 * (0.95 + 0.45) / 2)
    by_bin = calibration_of_bins(found, 2, frequency_bins(np.array([200, 3, 3, 0, 0, 7])))
    assert [row["name"] for row in by_bin] == ["0", "1–5", "6–20", "21–100", ">100"]
    assert [row["count"] for row in by_bin] == [0, 2, 0, 0, 2]
    assert [row["ece"] for row in by_bin] == pytest.approx([0, 95, 0, 0, 45])
    first = calibration(found, 1)
    assert [p["count"] for p in first["points"]] == [2]
    assert first["ece"] == pytest.approx(45)
