import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from longtail.data.splits import (
    group_split,
    hold_out_labels,
    random_split,
    split_dataset,
    stratified_split,
    time_split,
)
from longtail.errors import DataError, UsageError
from longtail.types import Dataset, Document, Documents, LabelSet, label_matrix

THREE = [0.8, 0.1, 0.1]
fractions = st.lists(st.integers(1, 20), min_size=2, max_size=5).map(lambda w: [x / sum(w) for x in w])


def power_law(n=2000, n_labels=1500, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(3, n)
    columns = (n_labels ** rng.random(lengths.sum())).astype(int) - 1
    Y = csr_array(
        (np.ones(len(columns), np.float32), columns, np.concatenate([[0], np.cumsum(lengths)])),
        shape=(n, n_labels),
    )
    Y.sum_duplicates()
    return Y


def per_label(Y, parts, n_parts):
    rows = np.repeat(parts, np.diff(Y.indptr))
    return np.stack([np.bincount(Y.indices[rows == p], minlength=Y.shape[1]) for p in range(n_parts)])


@given(st.integers(5, 300), fractions, st.integers(0, 10))
def test_random_parts_have_their_sizes(n, shares, seed):
    parts = random_split(n, shares, seed)
    assert parts.dtype == np.int8
    sizes = np.bincount(parts, minlength=len(shares))
    assert sizes.sum() == n
    assert (sizes > 0).all()
    wanted = np.array(shares) * n
    assert (np.abs(sizes - wanted) < 1 + np.maximum(1 - wanted, 0).sum()).all()
    assert np.array_equal(parts, random_split(n, shares, seed))


def test_another_seed_gives_other_parts():
    assert not np.array_equal(random_split(100, THREE, 0), random_split(100, THREE, 1))
    Y = power_law()
    assert not np.array_equal(stratified_split(Y, THREE, 0), stratified_split(Y, THREE, 1))
    assert np.array_equal(stratified_split(Y, THREE, 0), stratified_split(Y, THREE, 0))


@pytest.mark.parametrize(
    "bad", [[0.5, 0.4], [1.0], [], [1.2, -0.2], [1.0, 0.0], [float("nan"), 0.5], [0.5, 0.6], [1 / 200] * 200]
)
def test_fractions_are_checked(bad):
    for split in (
        lambda: random_split(1000, bad),
        lambda: stratified_split(power_law(100), bad),
        lambda: group_split([1, 2, 3], bad),
        lambda: time_split([1, 2, 3], bad),
    ):
        with pytest.raises(UsageError, match=r"sum to 1|parts"):
            split()


def test_too_few_documents_is_an_error():
    with pytest.raises(UsageError, match="2 documents are too few for 3 parts"):
        random_split(2, THREE)
    assert sorted(random_split(3, THREE)) == [0, 1, 2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 15), max_size=4), min_size=40, max_size=80), fractions, st.integers(0, 3)
)
def test_every_label_is_seen_in_training(rows, shares, seed):
    indices = [label for row in rows for label in sorted(row)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    Y = csr_array((np.ones(len(indices), np.float32), np.array(indices, int), indptr), shape=(len(rows), 16))
    try:
        parts = stratified_split(Y, shares, seed)
    except UsageError:
        with pytest.raises(UsageError, match="would be empty: the labels leave no document for it"):
            stratified_split(Y, shares, seed)
        return
    assert len(parts) == len(rows)
    assert set(parts) == set(range(len(shares)))
    counts = per_label(Y, parts, len(shares))
    assert (counts[0][counts.sum(axis=0) > 0] > 0).all()


def test_stratified_is_nearer_to_the_fractions_than_random():
    Y = power_law()
    stratified, chance = stratified_split(Y, THREE, 0), random_split(Y.shape[0], THREE, 0)
    assert np.abs(np.bincount(stratified) - [1600, 200, 200]).max() <= 20
    total = np.bincount(Y.indices, minlength=Y.shape[1])
    for low, high in ((1, 1), (2, 4), (5, 20), (21, 10_000)):
        chosen = (total >= low) & (total <= high)
        off = [
            np.abs(per_label(Y, parts, 3)[:, chosen] - np.outer(THREE, total[chosen])).mean()
            for parts in (stratified, chance)
        ]
        assert off[0] < off[1]


def test_rare_labels_reach_the_test_part_too():
    Y = power_law()
    total = np.bincount(Y.indices, minlength=Y.shape[1])
    rare = (total >= 2) & (total <= 4)
    shares = per_label(Y, stratified_split(Y, THREE, 0), 3)[:, rare].sum(axis=1) / total[rare].sum()
    assert (np.abs(shares - THREE) < 0.05).all()


def test_documents_without_labels_keep_the_sizes():
    parts = stratified_split(csr_array((100, 3), dtype=np.float32), THREE, 0)
    assert np.bincount(parts).tolist() == [80, 10, 10]


def test_when_every_document_is_the_only_one_of_a_label_nothing_can_be_tested():
    with pytest.raises(UsageError, match="random split"):
        stratified_split(csr_array(np.eye(20, dtype=np.float32)), THREE, 0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=60, max_size=150), st.integers(0, 3))
def test_groups_stay_together_and_sizes_are_near(groups, seed):
    if len(set(groups)) < 10:
        return
    parts = group_split(groups, [0.6, 0.4], seed)
    assert len({(g, p) for g, p in zip(groups, parts, strict=True)}) == len(set(groups))
    largest = max(groups.count(g) for g in set(groups))
    assert abs((parts == 0).sum() - 0.6 * len(groups)) <= largest + 1
    names = [f"g{g}" for g in groups]
    assert np.array_equal(parts, group_split(names, [0.6, 0.4], seed))
    assert np.array_equal(parts, group_split(np.array(groups), [0.6, 0.4], seed))


def test_groups_of_one_give_exact_sizes():
    assert np.bincount(group_split(np.arange(1000), THREE)).tolist() == [800, 100, 100]


@pytest.mark.parametrize("bad", [None, 1.5, True, ["a"]])
def test_a_wrong_group_names_the_document(bad):
    with pytest.raises(DataError, match="document 'second'"):
        group_split(["a", bad], [0.5, 0.5], ids=["first", "second"])
    with pytest.raises(DataError, match="document 1"):
        group_split(["a", bad], [0.5, 0.5])


def test_one_group_cannot_be_parted():
    with pytest.raises(UsageError, match="would be empty"):
        group_split(["a"] * 10, [0.5, 0.5])


@given(st.lists(st.integers(0, 30), min_size=10, max_size=80), st.randoms(use_true_random=False))
def test_time_parts_are_in_order_and_ties_stay_together(times, random):
    random.shuffle(times)
    try:
        parts = time_split(times, [0.5, 0.3, 0.2])
    except UsageError:
        return
    order = np.argsort(times, kind="stable")
    assert (np.diff(parts[order]) >= 0).all()
    assert set(parts) == {0, 1, 2}
    assert len(set(zip(times, parts, strict=True))) == len(set(times))


def test_distinct_times_give_exact_sizes():
    times = np.random.default_rng(0).permutation(1000)
    assert np.bincount(time_split(times, THREE)).tolist() == [800, 100, 100]


def test_times_may_be_written_in_many_ways():
    same = (
        ["2019", "2020-05", "2020-06-01", "2021-01-01T10:00:00Z", "2021-01-01T10:00:01+00:00"],
        [datetime.date(2019, 1, 1), datetime.date(2020, 5, 1), datetime.datetime(2020, 6, 1), "2021", "2022"],
        np.array(["2019-01-01", "2020-05-01", "2020-06-01", "2021-01-01", "2022-01-01"], "datetime64[D]"),
        [2019, 2020.4, 2020.5, 2021, 2022],
    )
    for times in same:
        assert time_split(times, [0.6, 0.2, 0.2]).tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    "bad", [None, "yesterday", float("nan"), "2021-13-01", True, [1], 2020, np.datetime64("NaT")]
)
def test_a_wrong_time_names_the_document(bad):
    with pytest.raises(DataError, match="document 'second'"):
        time_split(["2020-01-01", bad], [0.5, 0.5], ids=["first", "second"])


def test_one_time_cannot_be_parted():
    with pytest.raises(UsageError, match="1 distinct times"):
        time_split([5] * 10, [0.5, 0.5])
    with pytest.raises(UsageError, match="2 distinct times"):
        time_split([5, 6] * 10, THREE)


def test_held_out_labels_are_unseen_in_training():
    Y = power_law()
    parts = hold_out_labels(Y, 0.1, 3)
    counts = per_label(Y, parts, 2)
    total = counts.sum(axis=0)
    unseen = (counts[0] == 0) & (total > 0)
    assert unseen.sum() >= 0.1 * (total > 0).sum() - 1
    assert (total[unseen] <= 0.05 * Y.shape[0]).all()
    chosen = hold_out_labels(Y, np.array([0, 7]))
    assert np.array_equal(chosen == 1, (Y[:, [0, 7]].sum(axis=1) > 0))


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.5, [-1], [5000], ["a"], [1499.5], []])
def test_labels_that_cannot_be_held_out(bad):
    with pytest.raises(UsageError):
        hold_out_labels(power_law(), bad)


def records(n=200):
    rng = np.random.default_rng(0)
    labels = LabelSet([f"l{i}" for i in range(20)], [""] * 20)
    documents = Documents.of(
        [
            Document(f"d{i}", text=f"text {i}", extra={"source": f"s{i % 37}", "year": 1990 + i % 30})
            for i in range(n)
        ]
    )
    Y = label_matrix([[f"l{j}" for j in rng.integers(0, 20, 3)] for _ in range(n)], labels)
    return Dataset(documents, labels, Y)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("random", {}),
        ("stratified", {}),
        ("group", {"field": "source"}),
        ("time", {"field": "year"}),
        ("labels", {"hold_out": ["l3"]}),
        ("labels", {"hold_out": ["l3"], "fractions": {"train": 0.5, "test": 0.5}}),
    ],
)
def test_a_data_set_is_parted_whole(method, options):
    dataset = records()
    parts = split_dataset(dataset, method, **options)
    assert list(parts) == list(options.get("fractions", ["train", "valid", "test"]))
    found = [document for part in parts.values() for document in part.documents.ids]
    assert sorted(found) == sorted(dataset.documents.ids)
    assert all(part.labels is dataset.labels for part in parts.values())
    for part in parts.values():
        rows = [dataset.documents.ids.index(i) for i in part.documents.ids]
        assert (dataset.Y[rows] != part.Y).nnz == 0
    if method == "group":
        sources = [{e["source"] for e in part.documents.extra} for part in parts.values()]
        assert not sources[0] & sources[1]
        assert not sources[0] & sources[2]
    if method == "time":
        assert max(e["year"] for e in parts["train"].documents.extra) < min(
            e["year"] for e in parts["test"].documents.extra
        )
    if method == "labels":
        assert parts["train"].label_counts[3] == 0
        assert parts["test"].label_counts[3] == dataset.label_counts[3]


def test_a_data_set_without_the_field_names_the_document():
    with pytest.raises(DataError, match="document 'd0' has no field 'nothing'"):
        split_dataset(records(), "group", field="nothing")
    with pytest.raises(UsageError, match="needs the name of the field"):
        split_dataset(records(), "time")
    with pytest.raises(DataError, match="no field"):
        split_dataset(Dataset.from_texts(["a", "b", "c"], [["x"]] * 3), "time", field="year")
    with pytest.raises(UsageError, match="choose one of random"):
        split_dataset(records(), "alphabet")
    with pytest.raises(UsageError, match="'nope'"):
        split_dataset(records(), "labels", hold_out=["nope"])


@pytest.mark.parametrize("method", ["random", "stratified"])
def test_duplicates_stay_in_one_part(method) -> None:
    texts = [f"text number {number // 2}" + "!" * (number % 2) for number in range(60)]
    parts = split_dataset(Dataset.from_texts(texts, [[f"l{number % 3}"] for number in range(60)]), method)
    words = [{text.rstrip("!") for text in part.documents.texts} for part in parts.values()]
    assert all(words)
    assert sum(map(len, words)) == len(set().union(*words))


@pytest.mark.parametrize(
    ("method", "options"), [("random", {}), ("stratified", {}), ("labels", {"hold_out": ["l3"]})]
)
def test_near_duplicates_stay_in_one_part(method, options) -> None:
    rng = np.random.default_rng(3)
    words = [[f"w{word}" for word in rng.integers(0, 3000, 60)] for _ in range(80)]
    texts, tags = [], []
    for number, row in enumerate(words):
        for copy in range(1 + number % 3):
            texts.append(" ".join([*row, f"copy{copy}"]))
            tags.append([f"l{number % 4}"])
    parts = split_dataset(Dataset.from_texts(texts, tags), method, **options)
    starts = [{text.rpartition(" ")[0] for text in part.documents.texts} for part in parts.values()]
    assert sum(map(len, starts)) == len(set().union(*starts)) == 80
    sizes = [len(part) for part in parts.values()]
    if method == "random":
        assert np.abs(np.array(sizes) - np.array([0.8, 0.1, 0.1]) * len(texts)).max() <= 3


def test_a_few_large_groups_are_shared_out() -> None:
    texts = [f"the text of number {number % 5}" for number in range(40)]
    parts = split_dataset(Dataset.from_texts(texts, [["x"]] * 40))
    assert sorted(len(part) for part in parts.values()) == [8, 8, 24]


def test_labels_of_any_near_duplicate_count_in_a_stratified_split() -> None:
    rng = np.random.default_rng(4)
    words = [" ".join(f"w{word}" for word in rng.integers(0, 3000, 60)) for _ in range(20)]
    texts = [text for text in words for _ in range(2)]
    # The rare label is that of the second copy alone.
    tags = [["common"] if number != 1 else ["rare"] for number in range(40)]
    assert split_dataset(Dataset.from_texts(texts, tags), "stratified")["train"].label_counts.min() == 1
