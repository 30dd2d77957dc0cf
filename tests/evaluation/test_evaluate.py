import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.evaluation import Report, evaluate
from longtail.evaluation.evaluate import frequency_curve
from longtail.metrics import propensity, topk
from longtail.types import TopK
from tests.evaluation.cases import dataset, pairs, ranking, zipf_case, zipf_report


def run(predictions, data, **options):
    options = {"train_counts": np.array([9, 3, 1]), "n_train": 20, "k": (1, 2)} | options
    return evaluate(predictions, data, **options)


def test_perfect_predictions_give_a_hundred():
    rows = [[0, 2], [1, 3], [2, 3]]
    report = run(ranking([[2, 0], [3, 1], [3, 2]], 2), dataset(rows, 4))
    assert list(report.metrics) == [
        "P@1",
        "P@2",
        "nDCG@1",
        "nDCG@2",
        "PSP@1",
        "PSP@2",
        "PSnDCG@1",
        "PSnDCG@2",
        "R@1",
        "R@2",
    ]
    for name, metric in report.metrics.items():
        if name != "R@1":
            assert metric == pytest.approx({"value": 100, "low": 100, "high": 100}), name
    assert report.metrics["R@1"]["value"] == pytest.approx(50)


def test_values_are_those_of_longtail_metrics_and_lie_in_their_intervals():
    predictions, data, counts = zipf_case()
    report = evaluate(predictions, data, train_counts=counts, n_train=900)
    q = propensity.inverse_propensity(counts, 900)
    expected = {f"R@{k}": topk.recall(predictions.indices, data.Y, k) for k in (1, 3, 5, 10)}
    for k in (1, 3, 5):
        expected |= {
            f"P@{k}": topk.precision(predictions.indices, data.Y, k),
            f"nDCG@{k}": topk.ndcg(predictions.indices, data.Y, k),
            f"PSP@{k}": propensity.psp(predictions.indices, data.Y, q, k),
            f"PSnDCG@{k}": propensity.psndcg(predictions.indices, data.Y, q, k),
        }
    assert set(report.metrics) == set(expected)
    for name, value in expected.items():
        metric = report.metrics[name]
        assert metric["value"] == pytest.approx(100 * value)
        assert 0 <= metric["low"] < metric["value"] < metric["high"] <= 100
    for table in (report.bins, report.equal_bins):
        assert sum(row["P"] for row in table) == pytest.approx(report.metrics["P@5"]["value"])
        assert sum(row["PSP"] for row in table) == pytest.approx(report.metrics["PSP@5"]["value"])
    assert report.bins_k == 5
    assert list(report.precision_parts) == ["P@1", "P@3", "P@5"]
    for name, parts in report.precision_parts.items():
        assert sum(parts) == pytest.approx(report.metrics[name]["value"])
    assert report.precision_parts["P@5"] == pytest.approx([row["P"] for row in report.equal_bins])
    assert report.insights == []


def test_labels_unknown_in_training_are_in_bin_zero():
    report = run(ranking([[4], [0]], 1), dataset([[4], [0]], 5), k=(1,))
    zero = report.bins[0]
    assert (zero["name"], zero["labels"], zero["assignments"], zero["hits"]) == ("0", 2, 1, 1)
    assert report.counts["cold_labels"] == 2


def test_filtered_pairs_leave_predictions_and_truth():
    data = dataset([[0, 1], [2]], 3, filtered=[[0], []])
    report = run(ranking([[0, 1], [2, 0]], 2), data, k=(1,))
    assert report.metrics["P@1"]["value"] == 100
    assert report.metrics["R@1"]["value"] == 100
    assert report.counts["unscored_pairs"] == 1
    assert report.counts["assignments"] == 2


def test_revealed_pairs_are_left_out_likewise():
    predictions, rows = ranking([[0, 1], [2, 0]], 2), [[0, 1], [2]]
    revealed = run(predictions, dataset(rows, 3), k=(1,), revealed=pairs([[0], []], 3))
    filtered = run(predictions, dataset(rows, 3, filtered=[[0], []]), k=(1,))
    assert revealed.metrics == filtered.metrics
    both = run(predictions, dataset(rows, 3, filtered=[[0], []]), k=(1,), revealed=pairs([[0], []], 3))
    assert both.metrics == filtered.metrics
    carried = run(predictions, replace(dataset(rows, 3), revealed=pairs([[0], []], 3)), k=(1,))
    assert carried.metrics == filtered.metrics
    assert carried.counts["unscored_pairs"] == 1
    assert both.counts["unscored_pairs"] == 1


def test_only_ranks_known_for_every_document_are_reported():
    data = dataset([[1], [2]], 3, filtered=[[0], []])
    full = run(ranking([[0, 1], [2, 0]], 2), data, k=(1, 2))
    assert "P@2" not in full.metrics, "the first document has only one candidate left of two"
    short = run(ranking([[0], [2, 0]], 2), data, k=(1, 2))
    assert "P@2" in short.metrics, "a ranking that was not full had nothing more to offer"
    with pytest.raises(UsageError, match="predict more candidates"):
        run(ranking([[0, 1], [2, 0]], 2), data, k=(2,))


def test_documents_without_gold_labels_count_zero_and_are_told():
    report = run(ranking([[0], [1]], 1), dataset([[0], []], 3), k=(1,))
    assert report.metrics["P@1"]["value"] == 50
    assert report.metrics["PSP@1"]["value"] == 100
    assert report.counts["documents_without_labels"] == 1


def test_calibration_and_f1_only_for_probabilities():
    predictions, data, counts = zipf_case()
    report = evaluate(predictions, data, train_counts=counts, n_train=900)
    assert report.calibration is not None
    assert sum(p["count"] for p in report.calibration["points"]) == (predictions.indices[:, :5] >= 0).sum()
    assert "micro F1" in report.other
    assert report.chosen["by"] == "threshold 0.5"
    assert "before" not in report.calibration
    raw = TopK(predictions.indices, predictions.scores * 10 - 3)
    report = evaluate(raw, data, train_counts=counts, n_train=900)
    assert report.calibration is None
    assert set(report.other) == {"coverage@1", "coverage@3", "coverage@5"}
    assert report.chosen == {}


def test_calibration_before_and_after_and_chosen_labels():
    predictions, data, counts = zipf_case()
    half = (predictions.scores / 2).astype(np.float32)
    report = evaluate(
        predictions,
        data,
        train_counts=counts,
        n_train=900,
        own_scores=half,
        choose=lambda best: best.first(1),
        chosen_by="the best label",
    )
    alone = evaluate(TopK(predictions.indices, half), data, train_counts=counts, n_train=900)
    assert report.calibration is not None
    assert report.calibration["before"] == alone.calibration
    assert report.calibration["every"]["k"] == predictions.k
    assert report.chosen == {"by": "the best label", "labels_per_document": 1}
    assert report.other["precision"] == pytest.approx(report.metrics["P@1"]["value"])
    assert Report.from_json(report.to_json()).chosen == report.chosen
    no_probabilities = evaluate(
        predictions, data, train_counts=counts, n_train=900, own_scores=predictions.scores * 10
    )
    assert no_probabilities.calibration is not None
    assert no_probabilities.calibration["before"] is None


def test_meta_says_what_was_measured():
    meta = zipf_report().meta
    assert meta["config"] == {"tree": {"leaf_size": 50}}
    assert len(meta["data_fingerprint"]) == 64
    assert {"python", "longtail", "numpy"} <= set(meta["versions"])
    assert set(meta["seconds"]) == {"train", "measure"}
    assert meta["peak_memory_bytes"] > 1_000_000


def test_the_callers_facts_are_left_alone():
    seconds = {"train": 1.0}
    run(ranking([[0]], 1), dataset([[0]], 3), k=(1,), extra={"seconds": seconds})
    assert seconds == {"train": 1.0}


def test_same_seed_same_report():
    first, second = zipf_report(), zipf_report()
    assert first.metrics == second.metrics


def test_no_documents_at_all():
    report = run(TopK.empty(0, 5), dataset([], 3), k=(1, 5))
    assert report.metrics["P@5"] == {"value": 0, "low": 0, "high": 0}


def test_frequency_curve_falls_and_is_short():
    curve = frequency_curve(np.random.default_rng(0).zipf(1.5, 5000))
    assert len(curve) <= 60
    assert curve[0][0] == 1
    assert curve[-1][0] == 5000
    assert all(a[0] < b[0] and a[1] >= b[1] for a, b in itertools.pairwise(curve))
    assert frequency_curve(np.array([0, 0])) == []
    assert frequency_curve(np.array([0, 7])) == [[1, 7]]


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        (ranking([[0]], 1), {}, "predictions for 1 documents, but 2"),
        (ranking([[0], [7]], 1), {}, "label column 7 is predicted"),
        (ranking([[0], [1]], 1), {"k": (5,)}, "predict more candidates"),
        (ranking([[0], [1]], 1), {"k": (0,)}, "at least 1"),
        (ranking([[0], [1]], 1), {"train_counts": np.ones(9)}, "relabel"),
    ],
)
def test_wrong_calls_say_what_is_wrong(predictions, options, message):
    with pytest.raises(UsageError, match=message):
        run(predictions, dataset([[0], [1]], 3), **options)


def test_importing_is_light():
    code = (
        "import sys; import longtail.evaluation, longtail.evaluation.html, longtail.evaluation.terminal; "
        "print([m for m in ('numba', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
