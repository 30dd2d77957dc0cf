"""What Python users have, as a data set: the same pairs from every container."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from longtail.data.python_data import columns_of, dataset_of, remembered_columns
from longtail.errors import UsageError
from longtail.types import Dataset

TEXTS = ["red fox", "blue sea", ""]
TAGS = [["red", "fox"], ["sea"], ["red"]]
COLUMNS = {"heading": TEXTS, "subject": TAGS, "year": [1, 2, 3]}


def check(data: Dataset) -> None:
    assert data.documents.joined() == TEXTS
    assert data.labels.ids == ["red", "fox", "sea"]
    assert data.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]


def records() -> list[dict]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pa.table, lambda _: records(), lambda _: iter(records())]
)
def test_named_columns(make):
    check(dataset_of(make(COLUMNS), text="heading", labels="subject"))


def test_polars():
    polars = pytest.importorskip("polars")
    check(dataset_of(polars.DataFrame(COLUMNS), text="heading", labels="subject"))
    check(dataset_of(polars.LazyFrame(COLUMNS), text="heading", labels="subject"))


def test_hugging_face_datasets():
    datasets = pytest.importorskip("datasets")
    check(dataset_of(datasets.Dataset.from_dict(COLUMNS), text="heading", labels="subject"))


class Classes:
    """Stands for ``datasets.ClassLabel``: numbers in the column, names beside it."""

    names = ("red", "fox", "sea")


class Lists:
    feature = Classes()


class Hub:
    """Stands for a Hugging Face data set: names of columns, columns by name, and their features."""

    def __init__(self, classes, feature):
        self.columns = {"text": TEXTS, "label": classes}
        self.column_names = list(self.columns)
        self.features = {"text": None, "label": feature}

    def __getitem__(self, name):
        return tuple(self.columns[name])


def test_class_numbers_become_names():
    check(dataset_of(Hub([[0, 1], [2], [0]], Lists()), labels="label"))
    one = dataset_of(Hub([2, 0, -1], Classes()), labels="label")
    assert one.labels.ids == ["sea", "red"]
    assert one.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]], "-1 is no class, and not the last one"


def test_columns_are_guessed_where_their_names_say_it():
    frame = pd.DataFrame({"title": TEXTS, "tags": TAGS})
    check(dataset_of(frame))
    check(dataset_of(frame, text="title"))
    check(dataset_of(frame.rename(columns={"tags": "codes"}), labels="codes"))


def test_the_named_column_alone_is_the_text():
    frame = pd.DataFrame(
        {"id": ["x", "y", "z"], "title": ["t"] * 3, "text": ["u"] * 3, "body": TEXTS, "tags": TAGS}
    )
    data = dataset_of(frame, text="body", labels="tags")
    check(data)
    assert data.documents.ids == ["x", "y", "z"]


def test_pairs_and_generators():
    check(dataset_of(zip(TEXTS, TAGS, strict=True)))
    check(dataset_of((text for text in TEXTS), (tags for tags in TAGS)))
    check(dataset_of(pd.Series(TEXTS), pd.Series(TAGS)))
    check(dataset_of(COLUMNS, TAGS, text="heading"))


def test_label_texts_come_with_any_container():
    data = Dataset.from_texts(TEXTS, TAGS)
    assert dataset_of(data) is data
    more = dataset_of(data, label_texts={"fox": "Fox", "new": "New"})
    assert (more.labels.ids, more.labels.texts) == (["red", "fox", "sea", "new"], ["", "Fox", "", "New"])
    assert (
        dataset_of(COLUMNS, text="heading", labels="subject", label_texts={"red": "R"}).labels.texts[0] == "R"
    )
    with pytest.raises(UsageError, match="must be a mapping"):
        dataset_of(data, label_texts=["a"])


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        ("a text", {}, "is one string: give a list of texts"),
        (TEXTS, {}, r"tags are missing: .* \(document 0 is a str\)"),
        (csr_array(np.eye(2)), {}, "tags are missing"),
        (3, {}, "tags are missing"),
        ([], {}, "the data are empty"),
        (COLUMNS, {"text": "no"}, "there is no column 'no'; the columns are heading, subject, year"),
        (
            {"heading": TEXTS, "year": [1, 2, 3]},
            {"text": "heading"},
            "name the one with the labels, as in labels='tags'",
        ),
        (COLUMNS, {"tags": TAGS, "labels": "subject"}, "either tags or the column of the labels"),
        (Dataset.from_texts(TEXTS, TAGS), {"tags": TAGS}, "has its labels already"),
        (Dataset.from_texts(TEXTS, TAGS), {"text": "x"}, "leave out text= and labels="),
        ({"text": TEXTS, "labels": TAGS[:2]}, {}, "different lengths"),
        ({"text": "red", "labels": TAGS}, {}, "a column must be a list of values, not 'red'"),
    ],
)
def test_errors_say_what_to_do(source, more, message):
    with pytest.raises(UsageError, match=message):
        dataset_of(source, **more)


def test_what_has_no_columns():
    assert columns_of(TEXTS) is None
    assert columns_of(pd.Series(TEXTS)) is None
    assert columns_of(np.array(TEXTS)) is None


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table])
def test_columns_that_a_model_keeps(make):
    kept = {"title": None, "texts": ["heading"], "labels": "subject", "separator": None}
    assert remembered_columns(make(COLUMNS), "heading", None, None) == kept
    guessed = remembered_columns(make(COLUMNS), None, None, ";")
    assert guessed == {"title": "heading", "texts": [], "labels": "subject", "separator": ";"}


def test_texts_have_no_columns():
    assert remembered_columns(TEXTS, None, None, None) == {}
    assert remembered_columns(TEXTS, None, None, ",") == {"separator": ","}
    assert remembered_columns(iter(records()), "heading", "subject", None)["texts"] == ["heading"]


def test_a_frame_without_a_text_names_its_columns():
    with pytest.raises(
        UsageError, match=r"none of the columns foo, tags is known as the text: .* text='title'"
    ):
        dataset_of({"foo": TEXTS, "tags": TAGS})


def test_a_separator():
    for tags in (["red,fox", "sea", "red"], ["red , fox", "sea", "red"]):
        check(dataset_of(TEXTS, tags, label_separator=","))
        check(dataset_of({"text": TEXTS, "tags": tags}, label_separator=","))
        check(dataset_of(zip(TEXTS, tags, strict=True), label_separator=","))
