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
    data = datasets.Dataset.from_dict(COLUMNS)
    check(dataset_of(data, text="heading", labels="subject"))
    check(dataset_of(data.to_iterable_dataset(), text="heading", labels="subject"))
    with pytest.raises(UsageError, match="a dict of the parts test"):
        dataset_of(datasets.DatasetDict(test=data), text="heading", labels="subject")


def test_classes_of_hugging_face_datasets():
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["red", "fox", "sea"])
    features = datasets.Features({"text": datasets.Value("string"), "labels": datasets.List(names)})
    data = datasets.Dataset.from_dict({"text": TEXTS, "labels": [[0, 1], [2], [0]]}, features=features)
    for kind in (data, data.with_format("numpy"), data.to_iterable_dataset()):
        check(dataset_of(kind))


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


def test_named_columns_leave_no_doubt():
    frame = pd.DataFrame({"title": TEXTS, "titel": TEXTS, "codes": TAGS, "tags": TAGS, "subject": TAGS})
    check(dataset_of(frame, text="title", labels="codes"))
    assert remembered_columns(frame, "title", "codes", None) == {
        "title": None,
        "texts": ["title"],
        "labels": "codes",
        "separator": None,
    }
    with pytest.raises(UsageError, match="'title' and 'titel' may each be the title"):
        dataset_of(frame, labels="codes")
    with pytest.raises(UsageError, match="'title' and 'titel' may each be the title"):
        remembered_columns(frame, None, "codes", None)


def test_the_columns_of_training_are_used_where_none_are_named():
    trained = {"title": None, "texts": ["abstract"], "labels": "codes", "separator": None}
    frame = pd.DataFrame({"title": ["x", "y", "z"], "abstract": TEXTS, "codes": TAGS, "tags": [["z"]] * 3})
    check(dataset_of(frame, trained=trained))
    check(dataset_of(frame.rename(columns={"abstract": "body"}), text="body", trained=trained))
    with pytest.raises(
        UsageError, match="'abstract': the model was trained on abstract, the data have title"
    ):
        dataset_of(frame.drop(columns="abstract"), trained=trained)
    with pytest.raises(
        UsageError, match="'codes': the model was trained with the labels there, the data have"
    ):
        dataset_of(frame.drop(columns="codes"), trained=trained)


def test_parts_are_no_columns():
    part = pd.DataFrame(COLUMNS)
    for parts in (
        {"train": part, "test": part},
        {"test": dataset_of(part, text="heading", labels="subject")},
    ):
        with pytest.raises(UsageError, match=r"a dict of the parts .*test is given.*as in data\['test'\]"):
            dataset_of(parts, text="heading", labels="subject")


def test_two_columns_of_one_name():
    frame = pd.DataFrame([["a", "b", "x"]], columns=["text", "text", "labels"])
    with pytest.raises(UsageError, match="there are two columns 'text'; rename one"):
        dataset_of(frame)


def test_rows_of_a_matrix_are_no_labels():
    rows = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    for tags in (
        rows,
        [[float(value) for value in row] for row in rows],
        [[bool(v) for v in row] for row in rows],
    ):
        with pytest.raises(UsageError, match=r"document 0: .* are a row of a 0/1 matrix"):
            dataset_of(TEXTS, tags)
        with pytest.raises(UsageError, match="are a row of a 0/1 matrix"):
            dataset_of({"text": TEXTS, "labels": tags})
    assert dataset_of(TEXTS, [[0, 1], [1], [2, 1, 0]]).labels.ids == ["0", "1", "2"]


def test_labels_of_a_set_are_in_one_order():
    assert dataset_of(TEXTS, [{"c", "a", "b"}, {"d"}, set()]).labels.ids == ["a", "b", "c", "d"]
    assert dataset_of({"text": TEXTS, "labels": [{"c", "a"}, {"b"}, set()]}).labels.ids == ["a", "c", "b"]


@pytest.mark.parametrize("tags", [b"ab", bytearray(b"ab")])
def test_bytes_are_no_labels(tags):
    with pytest.raises(UsageError, match=r"document 0: the labels are .* and not a list of label ids"):
        dataset_of(TEXTS, [tags, ["b"], ["c"]])
    with pytest.raises(UsageError, match=r"the labels are .* and not a list of label ids"):
        dataset_of({"text": TEXTS, "labels": [tags, ["b"], ["c"]]})


def test_a_string_that_is_no_list_beside_lists():
    with pytest.raises(UsageError, match="document 1: expected a JSON list of labels"):
        dataset_of(TEXTS, ['["a"]', "[b", '["c"]'])


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
