import contextlib

import hypothesis.extra.numpy as hnp
import numpy as np
import orjson
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail.errors import ModelIntegrityError, OutputError, UsageError
from longtail.storage import read_arrays, write_arrays

dtypes = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?")
)
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def same(a, b):
    return (
        a.shape == b.shape
        and a.dtype == b.dtype.newbyteorder("=")
        and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    )


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names, arrays, max_size=5))
def test_round_trip(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "arrays.safetensors"
    write_arrays(path, content)
    for mmap in (False, True):
        back = read_arrays(path, mmap=mmap)
        assert list(back) == sorted(content)
        assert all(same(back[name], content[name]) for name in content)
    assert all(array.flags.aligned for array in back.values())


def test_other_programs_read_the_files_and_the_other_way_round(tmp_path):
    content = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "i": np.arange(3), "flag": np.array([True])}
    write_arrays(tmp_path / "ours", content)
    theirs = safetensors.numpy.load_file(tmp_path / "ours")
    assert all(same(theirs[name], content[name]) for name in content)
    safetensors.numpy.save_file(content, tmp_path / "theirs", metadata={"made": "elsewhere"})
    for mmap in (False, True):
        ours = read_arrays(tmp_path / "theirs", mmap=mmap)
        assert all(same(ours[name], content[name]) for name in content)


def test_the_order_of_the_arguments_does_not_matter(tmp_path):
    a, b = np.arange(3), np.arange(4.0)
    write_arrays(tmp_path / "1", {"a": a, "b": b})
    write_arrays(tmp_path / "2", {"b": b, "a": a})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_strided_arrays_are_written_in_order(tmp_path):
    base = np.arange(12).reshape(3, 4)
    write_arrays(tmp_path / "a", {"t": base.T, "s": base[::2, 1::2], "r": base[::-1]})
    back = read_arrays(tmp_path / "a")
    assert np.array_equal(back["t"], base.T)
    assert np.array_equal(back["s"], base[::2, 1::2])
    assert np.array_equal(back["r"], base[::-1])


def test_mapped_arrays_cannot_be_written_to(tmp_path):
    write_arrays(tmp_path / "a", {"x": np.zeros(3)})
    with pytest.raises(ValueError, match="read-only"):
        read_arrays(tmp_path / "a", mmap=True)["x"][0] = 1


@pytest.mark.parametrize("bad", [np.array(["text"]), np.array([object()]), np.zeros(2, complex)])
def test_types_that_are_not_plain_numbers_are_refused(tmp_path, bad):
    with pytest.raises(UsageError, match="'x'"):
        write_arrays(tmp_path / "a", {"x": bad})
    with pytest.raises(UsageError, match="name of an array"):
        write_arrays(tmp_path / "a", {"__metadata__": np.zeros(1)})
    assert not (tmp_path / "a").exists()


def test_every_damage_to_the_header_is_an_error_or_reads_as_some_array(tmp_path):
    path = tmp_path / "a.safetensors"
    write_arrays(path, {"x": np.arange(4, dtype=np.float32), "y": np.arange(3, dtype=np.int64)})
    whole = path.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x21
        path.write_bytes(damaged)
        for mmap in (False, True):
            with contextlib.suppress(ModelIntegrityError):
                read_arrays(path, mmap=mmap)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        for mmap in (False, True):
            with pytest.raises(ModelIntegrityError):
                read_arrays(path, mmap=mmap)


def test_a_missing_file_and_a_full_disk_are_one_sentence(tmp_path):
    with pytest.raises(ModelIntegrityError, match="missing"):
        read_arrays(tmp_path / "none")
    with pytest.raises(OutputError, match="the disk is full"):
        write_arrays("/dev/full", {"x": np.zeros(10)})


def with_header(header, data=b""):
    text = orjson.dumps(header)
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2,), data_offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": data_offsets}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "does not fit"),
        ((2**63).to_bytes(8, "little") + b"{}", "does not fit"),
        (with_header([]), "not a table"),
        (with_header({"x": 3}), "'x' is not described"),
        (with_header({"x": entry(dtype="BF16")}, bytes(8)), "'x' has the type 'BF16'"),
        (with_header({"x": entry(dtype=["F32"])}, bytes(8)), "has the type"),
        (with_header({"x": entry(shape=[2**40])}, bytes(8)), "does not have 8 bytes"),
        (with_header({"x": entry(shape=[2**61, 8])}, bytes(8)), "does not have 8 bytes"),
        (with_header({"x": entry(shape=[-2])}, bytes(8)), "wrong shape or place"),
        (with_header({"x": entry(shape=[2.0])}, bytes(8)), "wrong shape or place"),
        (with_header({"x": entry(shape=[2] * 70)}, bytes(8)), "wrong shape or place"),
        (with_header({"x": entry(data_offsets=[8, 0])}, bytes(8)), "does not have -8 bytes"),
        (with_header({"x": entry(data_offsets=[4, 12])}, bytes(12)), "overlap or leave a gap"),
        (with_header({"x": entry(), "y": entry()}, bytes(8)), "overlap or leave a gap"),
        (with_header({"x": entry()}, bytes(9)), "take 8 bytes, but it has 9"),
        (with_header({"x": entry()}, bytes(7)), "take 8 bytes, but it has 7"),
    ],
)
@pytest.mark.parametrize("mmap", [False, True])
def test_a_crafted_header_is_refused(tmp_path, content, says, mmap):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ModelIntegrityError, match=f"not a usable safetensors file.*{says}"):
        read_arrays(tmp_path / "a", mmap=mmap)


def test_what_is_read_stays_when_the_file_is_changed_or_swapped(tmp_path):
    write_arrays(tmp_path / "a", {"x": np.arange(1000)})
    found = read_arrays(tmp_path / "a")["x"]
    (tmp_path / "a").write_bytes(b"")
    assert np.array_equal(found, np.arange(1000))
    assert found.flags.writeable
