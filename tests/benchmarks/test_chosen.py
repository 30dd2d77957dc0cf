import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.chosen import best_threshold, choose_labels
from benchmarks.contest_data import ContestData, Part
from benchmarks.contestant import Source
from longtail.evaluation.measures import Case


def sparse(rows):
    return csr_array(np.array(rows, dtype=np.float32))


def case(labels, scores, truth):
    return Case.of(np.array(labels), np.array(scores, dtype=np.float32), sparse(truth), [None])


def test_the_threshold_is_the_score_of_the_last_label_worth_taking():
    found = best_threshold(case([[0, 1], [1, 0]], [[0.9, 0.3], [0.8, 0.6]], [[1, 0], [0, 1]]))
    assert found == pytest.approx(0.8)


def test_equal_scores_are_taken_together():
    # Right ones first by chance of the order: 0.5 cannot be had without the two wrong ones.
    found = best_threshold(case([[0], [0], [1], [1]], [[0.9], [0.5], [0.5], [0.5]], [[1, 0]] * 4))
    assert found == pytest.approx(0.5)
    found = best_threshold(
        case([[0], [0], [1], [1], [1], [1]], [[0.9]] + [[0.5]] * 5, [[1, 0]] * 2 + [[0, 0]] * 4)
    )
    assert found == pytest.approx(0.9)


def data(valid, test, filtered=None):
    return ContestData(
        "", Source("", 0, ()), sparse(test), None, np.array([3, 3]), 6, {}, Part(sparse(valid), filtered)
    )


def predictions(valid_scores, scores):
    labels = np.array([[0, 1], [1, 0]])
    return {
        "valid_labels": labels,
        "valid_scores": np.array(valid_scores, np.float32),
        "labels": labels,
        "scores": np.array(scores, np.float32),
    }


def test_test_labels_are_chosen_by_the_threshold_of_the_validation_part():
    found = choose_labels(
        predictions([[0.9, 0.3], [0.8, 0.6]], [[0.85, 0.1], [0.7, 0.2]]),
        data([[1, 0], [0, 1]], [[1, 0], [0, 1]]),
    )
    assert found["chosen"]["threshold"] == pytest.approx(0.8)
    # One of two right labels is above it, and nothing wrong.
    assert found["chosen"]["micro F1"] == pytest.approx(100 * 2 / 3)
    assert found["chosen"]["labels_per_document"] == 0.5
    assert found["calibration_error"] == pytest.approx(100 * (0.15 + 0.3 + 0.1 + 0.2) / 4, abs=0.01)


def test_scores_that_are_no_probabilities_have_no_calibration_error():
    found = choose_labels(
        predictions([[9, 3], [8, 6]], [[9, 1], [8, 2]]), data([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    )
    assert found["calibration_error"] is None
    assert found["chosen"]["micro F1"] == 100


def test_filtered_pairs_do_not_count():
    filtered = sparse([[1, 0], [0, 1]])
    found = choose_labels(
        predictions([[0.9, 0.3], [0.8, 0.6]], [[0.9, 0.3], [0.8, 0.6]]),
        data([[0, 1], [1, 0]], [[0, 1], [1, 0]], filtered),
    )
    assert found["chosen"]["threshold"] == pytest.approx(0.3)
