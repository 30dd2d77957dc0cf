import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError, OutputError, UsageError
from longtail.storage import read_json, read_jsonl, write_json, write_jsonl

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@settings(max_examples=40, deadline=None)
@given(values)
def test_json_round_trip(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "value.json"
    write_json(path, value)
    assert read_json(path) == value


@settings(max_examples=40, deadline=None)
@given(st.lists(values, max_size=5))
def test_jsonl_round_trip(tmp_path_factory, records):
    path = tmp_path_factory.getbasetemp() / "records.jsonl"
    write_jsonl(path, iter(records))
    assert list(read_jsonl(path)) == records


def test_keys_are_sorted_and_numpy_is_taken(tmp_path):
    write_json(tmp_path / "a", {"b": np.float32(0.5), "a": np.arange(2)})
    write_json(tmp_path / "b", {"a": [0, 1], "b": 0.5})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), [{"a": (1, -float("inf"))}], np.array([np.nan]), np.float64("nan")]
)
def test_numbers_that_json_does_not_have_are_refused(tmp_path, bad):
    with pytest.raises(UsageError, match="not finite"):
        write_json(tmp_path / "a", {"none": None, "x": bad})
    with pytest.raises(UsageError, match="not finite"):
        write_jsonl(tmp_path / "b", [bad])
    assert not (tmp_path / "a").exists()


def test_what_is_not_json_is_refused(tmp_path):
    with pytest.raises(UsageError, match="as JSON"):
        write_json(tmp_path / "a", {"x": object()})
    write_json(tmp_path / "a", None)
    assert read_json(tmp_path / "a") is None


@pytest.mark.parametrize("text", [b"", b"{", b"nan", b"\xff", b"[" * 100_000, b'{"a": 1} x'])
def test_damaged_json_names_the_file(tmp_path, text):
    (tmp_path / "bad.json").write_bytes(text)
    with pytest.raises(ModelIntegrityError, match=r"bad\.json"):
        read_json(tmp_path / "bad.json")


def test_damaged_lines_are_numbered(tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(b"{}\n{}\n{\n")
    with pytest.raises(ModelIntegrityError, match=r"bad\.jsonl, line 3"):
        list(read_jsonl(tmp_path / "bad.jsonl"))


def test_reading_is_bounded(tmp_path):
    (tmp_path / "big").write_bytes(b"[" + b"1," * 1000 + b"1]")
    with pytest.raises(ModelIntegrityError, match="more than 100 bytes"):
        read_json(tmp_path / "big", max_bytes=100)
    with pytest.raises(ModelIntegrityError, match="line 1: more than 100 bytes"):
        list(read_jsonl(tmp_path / "big", max_line_bytes=100))


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, message in (
        ("pipe", "regular"),
        ("none", "missing"),
        (".", "regular"),
        ("a\0b", "cannot read"),
    ):
        with pytest.raises(ModelIntegrityError, match=message):
            read_json(f"{tmp_path}/{name}")


def test_a_failed_write_is_one_sentence():
    with pytest.raises(OutputError, match="the disk is full"):
        write_json("/dev/full", list(range(10)))
    with pytest.raises(OutputError, match="the disk is full"):
        write_jsonl("/dev/full", range(10))
