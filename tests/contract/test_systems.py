"""What every system must do, on planted data with known answers. A new system joins by being in the registry."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import longtail
from longtail import threads
from longtail.data import warm_start
from longtail.errors import NotFittedError, UsageError
from longtail.systems import get
from longtail.systems.base import System
from longtail.types import Dataset, Document, Documents, Edges, TopK

TINY_ENCODER = "the folder of a tiny transformer"
"""Stands for a folder that is made when it is needed."""

FASTEST: dict[str, dict[str, object]] = {
    "linear": {"tree": {"leaf_size": 8, "arity": 4}},
    "eclare": {
        "width": 16,
        "text": {"kind": "word"},
        "shortlist": {"exact_below": 0, "labels_per_cluster": 4, "beam": 4},
        "classifier": {"combine": "attention"},
        "negatives": {"source": "shortlist"},
        "stages": {
            stage: {"epochs": 5, "lr": 0.02, "batch_size": 64} for stage in ("embed", "shortlist", "rank")
        },
    },
    "galaxc": {
        "width": 16,
        "text": {"kind": "word"},
        "initial": {stage: {"epochs": 3, "lr": 0.02, "batch_size": 64} for stage in ("embed", "rank")},
        "graph": {"fanouts": (4, 3, 2)},
        "negatives": {"hard": 3, "random": 20},
        "stages": {stage: {"epochs": 3, "lr": 0.02, "batch_size": 64} for stage in ("joint", "refine")},
    },
    "gnnxml": {
        "text": {"kind": "word"},
        "documents": {"width": 16},
        "network": {"width": 16},
        "clusters": {"number": 4},
        "ranker": {"beam": 3},
        "match": {"epochs": 3, "lr": 0.02, "batch_size": 64},
    },
    "xgrank": {
        "encoder": {"names": [TINY_ENCODER], "tokens": 24},
        "text": {"kind": "word"},
        "clusters": {"size": 4, "beam": 6},
        "labels": {"width": 32},
        "train": {"epochs": 5, "lr": 0.001, "row_lr": 0.05, "batch_size": 32, "watch": "overall"},
    },
    "gudn": {
        "encoder": {"name": TINY_ENCODER, "tokens": 24, "feature_dropout": 0.0, "frozen": None},
        "text": {"kind": "word"},
        "width": 32,
        "clusters": {"above": 20, "size": 4, "beam": 4, "training_beam": 2, "negatives": 20},
        "head_rate": 1.0,
        "train": {
            "epochs": 16,
            "lr": 0.01,
            "row_lr": 0.05,
            "batch_size": 16,
            "clip_norm": None,
            "patience": 0,
            "watch": "overall",
        },
    },
    "dual": {
        "encoder": {
            "name": TINY_ENCODER,
            "tokens": 24,
            "hard": 1,
            "self_pairs": "cold",
            "temperature": 0.1,
            "train": {"epochs": 20, "lr": 0.01, "batch_size": 16, "clip_norm": None},
        },
        "labels": {"hard": 3, "random": 20, "train": {"epochs": 5, "lr": 0.01, "batch_size": 32}},
    },
}
"""Settings that make a system exercise all its parts on small data."""

FASTEST["ensemble"] = {
    "members": ["linear", "lexical", "eclare"],
    **{name: FASTEST[name] for name in ("linear", "eclare")},
}

for _transformer in ("xgrank", "gudn", "dual"):
    # A curve of few documents is steep: it would enlarge the last digits, which depend on the batch here.
    FASTEST[_transformer]["calibrate"] = "none"

CLOSE: dict[str, float] = {"xgrank": 1e-5, "gudn": 1e-5, "dual": 1e-4}
"""How much a score may differ with the documents that are read together, where a transformer reads them."""


def with_encoder(settings: Any, folder: str) -> Any:
    """The settings with the folder of a real encoder in its place."""
    if isinstance(settings, dict):
        return {key: with_encoder(value, folder) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [with_encoder(value, folder) for value in settings]
    return folder if settings == TINY_ENCODER else settings


def untrained(system: System) -> System:
    return type(system)(system.config)


def same(one: TopK, other: TopK) -> bool:
    return bool((one.indices == other.indices).all() and (one.scores == other.scores).all())


def alike(system: System, one: TopK, other: TopK) -> bool:
    """The same answers, whatever else was read with the documents: to the last bit, but for a system in CLOSE."""
    if system.name not in CLOSE:
        return same(one, other)
    # Labels of (nearly) the same score may change places.
    near = np.abs(one.scores - other.scores) <= CLOSE[system.name]
    return bool(near.all() and (one.indices == other.indices).mean() > 0.99)


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_its_name_is_its_registry_name(system: System) -> None:
    assert get(system.name) is type(system)


def test_the_planted_labels_are_found(system: System, data: dict[str, Dataset]) -> None:
    p_at_1 = system.evaluate(data["test"]).metrics["P@1"]["value"]
    floor = 100 * data["test"].Y[:, [int(data["train"].label_counts.argmax())]].sum() / len(data["test"])
    assert p_at_1 >= (floor if system.name == "dummy" else max(80, floor))


def test_the_answer_has_the_shape_and_order_that_topk_promises(
    system: System, data: dict[str, Dataset]
) -> None:
    answer = system.predict(data["test"], k=7)
    assert answer.indices.shape == answer.scores.shape == (len(data["test"]), 7)
    assert answer.indices.dtype == np.int32
    assert answer.scores.dtype == np.float32
    assert np.isfinite(answer.scores).all()
    assert (answer.scores[:, 1:] <= answer.scores[:, :-1]).all()
    assert answer.indices.max() < len(data["train"].labels)
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in answer.indices)


def test_alone_or_in_a_batch_the_answer_is_the_same(system: System, data: dict[str, Dataset]) -> None:
    together = system.predict(data["test"], k=5)
    alone = TopK.stack(
        [system.predict(data["test"].documents[i : i + 1], k=5) for i in range(len(data["test"]))]
    )
    assert alike(system, together, alone)


def test_the_order_of_documents_does_not_matter(system: System, data: dict[str, Dataset]) -> None:
    order = np.random.default_rng(0).permutation(len(data["test"]))
    forward, shuffled = system.predict(data["test"]), system.predict(data["test"].take(order))
    assert alike(system, TopK(forward.indices[order], forward.scores[order]), shuffled)


def test_batches_join_seamlessly(
    system: System, data: dict[str, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = system.predict(data["test"])
    monkeypatch.setattr("longtail.systems.batches.BATCH_SIZE", 7)
    assert alike(system, whole, system.predict(data["test"]))


def test_a_smaller_k_is_the_head_of_a_larger_one(system: System, data: dict[str, Dataset]) -> None:
    many, few = system.predict(data["test"], k=8), system.predict(data["test"], k=3)
    assert same(TopK(many.indices[:, :3], many.scores[:, :3]), few)


def test_a_saved_model_gives_the_same_scores(
    system: System, data: dict[str, Dataset], tmp_path: Path
) -> None:
    system.save(tmp_path / "model")
    again = longtail.load(tmp_path / "model")
    assert same(system.predict(data["test"]), again.predict(data["test"]))
    assert again.config == system.config
    assert again.labels_.ids == system.labels_.ids
    assert again.labels_.texts == system.labels_.texts
    assert again.facts_ == system.facts_
    again.save(tmp_path / "copy")
    assert folder_bytes(tmp_path / "model") == folder_bytes(tmp_path / "copy")


def test_same_data_and_seed_same_bytes_with_one_and_two_threads(
    system: System, data: dict[str, Dataset], tmp_path: Path
) -> None:
    # How a transformer's gradients are added depends on the number of threads.
    for name, jobs in (("one", 1), ("two", 1 if system.name in CLOSE else 2)):
        with threads.limit(jobs):
            untrained(system).fit(data["train"], valid=data["valid"]).save(tmp_path / name)
    assert folder_bytes(tmp_path / "one") == folder_bytes(tmp_path / "two")


def test_k_above_the_number_of_labels_is_padded(system: System, data: dict[str, Dataset]) -> None:
    n_labels = len(data["train"].labels)
    answer = system.predict(data["test"].take([0]), k=n_labels + 10)
    assert answer.k == n_labels + 10
    assert (answer.indices[0, n_labels:] == -1).all()
    assert (answer.scores[answer.indices < 0] == 0).all()


@pytest.mark.parametrize(
    "text", ["", "   ", "\n", "zzzz qqqq unheardof", "\x00", "\ud800", "語", "w" * 100_000]
)
def test_any_text_gets_an_answer(system: System, text: str) -> None:
    answer = system.predict([text], k=3)
    assert answer.indices.shape == (1, 3)
    assert np.isfinite(answer.scores).all()


def test_no_documents_no_answers(system: System) -> None:
    assert system.predict([], k=4).indices.shape == (0, 4)


def test_a_string_a_document_and_a_title_are_all_taken(system: System, data: dict[str, Dataset]) -> None:
    text = data["test"].documents.joined()[0]
    answers = [system.predict(d) for d in (text, [text], Document("x", text=text), Documents.of([text]))]
    assert all(same(answers[0], other) for other in answers[1:])


def test_a_label_without_documents_and_a_document_without_labels_are_no_obstacle(system: System) -> None:
    train = Dataset.from_texts(
        ["red apple", "green pear", "nothing of note", "red pear"],
        [["r"], ["g"], [], ["r", "g"]],
        {"never": "seen"},
    )
    fitted = untrained(system).fit(train)
    answer = fitted.predict(["red"], k=3)
    assert (answer.indices >= -1).all()
    report = fitted.evaluate(train)
    assert report.counts["documents"] == 4


@pytest.mark.parametrize(
    ("texts", "tags"), [(["a"], [["x"]]), (["a", "b"], [["x"], ["x"]]), (["a", "b"], [["x"], ["y"]])]
)
def test_the_smallest_data_sets_train(
    system: System, data: dict[str, Dataset], texts: list[str], tags: list[list[str]]
) -> None:
    # Words that the encoder of the contract has: it cannot tell others apart.
    one, other = sorted(set(" ".join(data["train"].documents.joined()).split()))[:2]
    texts = [{"a": one, "b": other}[text] for text in texts]
    # A system that needs no documents needs the texts of labels; one is a member of the ensemble.
    label_texts = {"x": one} if system.capabilities.zero_shot or system.name == "ensemble" else None
    fitted = untrained(system).fit(Dataset.from_texts(texts, tags, label_texts))
    assert fitted.predict([one], k=1).indices[0, 0] == 0


def test_nothing_to_learn_from_is_said(system: System) -> None:
    if system.capabilities.zero_shot:
        with pytest.raises(UsageError, match="no label has a text"):
            untrained(system).fit(Dataset.from_texts(["a"], [["x"]]))
        for train in (Dataset.from_labels({"x": "a"}), Dataset.from_texts(["a"], [[]], {"x": "a"})):
            assert untrained(system).fit(train).predict(["a"], k=1).indices[0, 0] == 0
        return
    with pytest.raises(UsageError, match="no document"):
        untrained(system).fit(Dataset.from_texts([], []))
    with pytest.raises(UsageError, match="no document has a label"):
        untrained(system).fit(Dataset.from_texts(["a"], [[]]))


def test_labels_that_training_never_had_count_as_misses(system: System, data: dict[str, Dataset]) -> None:
    texts = data["test"].documents.joined()
    with pytest.raises(UsageError, match="no label of the documents is a label of the model"):
        system.evaluate(Dataset.from_texts(texts, [["unheard of"]] * len(texts)))
    # Only the first document can have a hit, for one of its two labels.
    tags = [["unheard of", system.labels_.ids[0]], *[["unheard of"]] * (len(texts) - 1)]
    report = system.evaluate(Dataset.from_texts(texts, tags))
    assert report.metrics["P@1"]["value"] <= 100 / len(texts)
    assert report.metrics["R@5"]["value"] <= 50 / len(texts)


def test_untrained_says_so(system: System, tmp_path: Path) -> None:
    fresh = untrained(system)
    with pytest.raises(NotFittedError, match="not trained"):
        fresh.predict(["a"])
    with pytest.raises(NotFittedError, match="not trained"):
        fresh.save(tmp_path / "model")


def test_a_wrong_k_and_a_wrong_document_are_refused(system: System) -> None:
    for k in (0, -1, 1.5, True, None):
        with pytest.raises(UsageError, match="k must be"):
            system.predict(["a"], k=cast(int, k))
    with pytest.raises(UsageError, match="document 1 is a int"):
        system.predict(cast("list[str]", ["a", 3]))


def test_revealed_labels_are_never_predicted(system: System, data: dict[str, Dataset]) -> None:
    test = data["test"]
    # What a system would say first is what it must not say: odd documents have their best three revealed.
    best = system.predict(test, k=3).to_csr(len(system.labels_))
    odd = np.repeat(np.arange(len(test)) % 2 == 1, np.diff(best.indptr))
    best.data[:] = odd
    best.eliminate_zeros()
    answer = system.predict(test, k=4, revealed=best)
    assert answer.indices.shape == (len(test), 4)
    assert answer.to_csr(len(system.labels_)).multiply(best).nnz == 0
    assert (answer.scores[answer.indices < 0] == 0).all()
    assert (answer.indices[:, 1:][answer.indices[:, :-1] < 0] == -1).all()
    # Other documents of the batch have nothing to do with it.
    plain = system.predict(test, k=4)
    assert same(TopK(answer.indices[::2], answer.scores[::2]), TopK(plain.indices[::2], plain.scores[::2]))
    if not system.capabilities.revealed_labels:
        wide = system.predict(test, k=7)
        kept = TopK(wide.indices[1::2, 3:], wide.scores[1::2, 3:])
        assert same(TopK(answer.indices[1::2], answer.scores[1::2]), kept)
    # Lists of ids and a data set that brings them say the same as a matrix.
    ids = [
        [system.labels_.ids[column] for column in best.indices[best.indptr[row] : best.indptr[row + 1]]]
        for row in range(len(test))
    ]
    assert same(answer, system.predict(test, k=4, revealed=ids))
    known = test.relabelled(system.labels_.extended(test.labels.ids))
    if known.labels is system.labels_:
        assert same(answer, system.predict(replace(known, revealed=best), k=4))


def test_all_labels_revealed_leave_no_answer(system: System) -> None:
    answer = system.predict(["a"], k=2, revealed=[system.labels_.ids])
    assert (answer.indices == -1).all()


def test_nothing_revealed_changes_nothing(system: System, data: dict[str, Dataset]) -> None:
    test = data["test"]
    assert same(system.predict(test), system.predict(test, revealed=[[] for _ in range(len(test))]))


def test_edges_that_lead_nowhere_change_nothing(system: System, data: dict[str, Dataset]) -> None:
    edges = Edges(["no such document"], ["no such label"], np.ones(1, np.float32))
    assert same(system.predict(data["test"]), system.predict(replace(data["test"], edges=edges)))


def test_evaluation_leaves_revealed_labels_out(system: System, data: dict[str, Dataset]) -> None:
    warm = warm_start.protocol(data["train"], data["test"], seed=0, inductive=True).test
    report = system.evaluate(warm)
    assert report.counts["assignments"] == warm.Y.nnz
    assert warm.revealed is not None
    # Truth that still has the revealed labels is measured alike.
    assert report.metrics == system.evaluate(replace(warm, Y=warm.Y + warm.revealed)).metrics


def test_unknown_or_misshapen_revealed_labels_are_refused(system: System) -> None:
    with pytest.raises(UsageError, match="the revealed label 'unheard of' is none of the model's"):
        system.predict(["a"], revealed=[["unheard of"]])
    with pytest.raises(UsageError, match="1 documents but 2 lists"):
        system.predict(["a"], revealed=[[], []])


def test_feature_matrices_are_taken_or_refused_as_declared(system: System, data: dict[str, Dataset]) -> None:
    rng = np.random.default_rng(0)
    Y = data["train"].Y
    X = rng.random((Y.shape[0], 12)).astype(np.float32)
    matrix = Dataset.from_matrix(X, Y)
    if not system.capabilities.features:
        with pytest.raises(UsageError, match="feature matrix"):
            untrained(system).fit(matrix)
        return
    fitted = untrained(system).fit(matrix)
    assert fitted.predict(matrix.documents, k=2).indices.shape == (len(matrix), 2)
    holes = np.where(X > 0.99, np.nan, X)
    with pytest.raises(UsageError, match="not finite"):
        untrained(system).fit(Dataset.from_matrix(holes, Y))
    with pytest.raises(UsageError, match="not finite"):
        fitted.predict(Documents.from_features(holes))
    with pytest.raises(UsageError, match="negative"):
        untrained(system).fit(Dataset.from_matrix(X, -Y))
