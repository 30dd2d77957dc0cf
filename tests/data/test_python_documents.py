"""Documents to tag: the same texts from every container, by the columns of training."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from longtail.data.python_documents import documents_of
from longtail.errors import UsageError
from longtail.types import Dataset, Document

TEXTS = ["red fox", "blue sea", ""]
TRAINED = {"title": None, "texts": ["abstract"], "labels": "codes"}
COLUMNS = {"title": ["x", "y", "z"], "abstract": TEXTS, "tags": [["a"], [], ["b"]]}


def records() -> list[dict]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pa.table, lambda _: records(), lambda _: iter(records())]
)
def test_frames_and_records(make):
    assert documents_of(make(COLUMNS), TRAINED).joined() == TEXTS
    assert documents_of(make(COLUMNS), {}).joined() == ["x\nred fox", "y\nblue sea", "z"], "by usual names"


def test_polars():
    polars = pytest.importorskip("polars")
    assert documents_of(polars.DataFrame(COLUMNS), TRAINED).joined() == TEXTS
    assert documents_of(polars.LazyFrame(COLUMNS), TRAINED).joined() == TEXTS
    assert documents_of(polars.Series(TEXTS), TRAINED).joined() == TEXTS


def test_hugging_face_datasets():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict(COLUMNS)
    for kind in (data, data[:], data.to_iterable_dataset(), data["abstract"]):
        assert documents_of(kind, TRAINED).joined() == TEXTS
    assert documents_of(data[0], TRAINED).joined() == TEXTS[:1]
    with pytest.raises(UsageError, match="a dict of the parts train, test"):
        documents_of(datasets.DatasetDict(train=data, test=data), TRAINED)


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        np.array,
        pd.Series,
        lambda texts: [Document(str(i), text=t) for i, t in enumerate(texts)],
    ],
)
def test_texts(make):
    assert documents_of(make(TEXTS), TRAINED).joined() == TEXTS


def test_one_document():
    assert documents_of("a fox", TRAINED).joined() == ["a fox"]
    assert documents_of({"title": "x", "abstract": "a fox", "tags": ["a"]}, TRAINED).joined() == ["a fox"]


def test_what_has_its_documents_already():
    data = Dataset.from_texts(TEXTS, [["a"], [], ["b"]])
    assert documents_of(data, TRAINED) is data.documents
    assert documents_of(data.documents, TRAINED) is data.documents
    assert documents_of(csr_array(np.eye(2)), {}).features.shape == (2, 2)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"title": ["x"]}, "no column 'abstract': the model was trained on abstract, the data have title"),
        ({"train": COLUMNS, "test": COLUMNS}, "a dict of the parts train, test"),
        (np.eye(2), "documents must be texts or a sparse matrix"),
        (3, "documents must be texts or a sparse matrix"),
        ([{"abstract": "x"}, "y"], "document 0 is a dict"),
        ({"abstract": ["x", "y"], "title": ["z"]}, "different lengths"),
    ],
)
def test_what_has_no_texts(source, problem):
    with pytest.raises(UsageError, match=problem):
        documents_of(source, TRAINED)


def test_columns_of_unknown_names():
    with pytest.raises(UsageError, match=r"none of the columns foo is the text.*predict\(data\['title'\]\)"):
        documents_of({"foo": ["x"]}, {})
