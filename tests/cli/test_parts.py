import pytest

from longtail.cli.parts import choose
from longtail.errors import UsageError
from longtail.types import Dataset

ONE, OTHER = Dataset.from_texts(["a"], [["x"]]), Dataset.from_texts(["b"], [["y"]])


@pytest.mark.parametrize(("wanted", "expected"), [("train", ONE), ("test", OTHER)])
def test_the_part_of_that_name(wanted, expected):
    assert choose({"train": ONE, "test": OTHER}, wanted, "data") is expected


def test_a_single_file_is_whatever_part_is_wanted():
    assert choose({"train": ONE}, "test", "data.jsonl") is ONE


def test_a_part_that_is_not_there_is_never_replaced_by_one_of_several():
    with pytest.raises(UsageError, match=r"^data has no part 'valid', only train, test$"):
        choose({"train": ONE, "test": OTHER}, "valid", "data")
    with pytest.raises(UsageError, match=r"^data has no part 'test', only nothing$"):
        choose({}, "test", "data")
