import pytest

from benchmarks import results
from benchmarks.errors import BenchmarkError
from tests.benchmarks.worlds import contestant, result


def test_what_was_written_is_read(tmp_path):
    file = tmp_path / "new" / "a.json"
    results.write(result(contestant("a"), {"name": "b", "error": "no"}), file)
    assert results.read(file)["contestants"][0]["name"] == "a"


def test_a_missing_key_is_named(tmp_path):
    broken = contestant("a")
    del broken["train_seconds"]
    results.write(result(broken), tmp_path / "a.json")
    with pytest.raises(BenchmarkError, match="contestant a lacks 'train_seconds'"):
        results.read(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "words"), [("{", "not JSON"), ("[]", "not an object"), ("{}", "'format'")]
)
def test_other_files_are_refused(tmp_path, content, words):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(BenchmarkError, match=words):
        results.read(tmp_path / "a.json")


def test_no_file_and_another_format(tmp_path):
    with pytest.raises(BenchmarkError, match="cannot read"):
        results.read(tmp_path / "a.json")
    assert "format is 2" in str(results.what_is_wrong(result() | {"format": 2}))


def test_splits_are_averaged():
    mean = results.averaged([contestant("a", 40.0, 1.0), contestant("a", 60.0, 3.0)])
    assert mean["metrics"]["P@1"] == 50.0
    assert mean["train_seconds"] == 2.0
    assert mean["metrics_deviation"]["P@1"] == pytest.approx(200**0.5)
    assert [split["P@1"] for split in mean["splits"]] == [40.0, 60.0]
    assert mean["name"] == "a"
    assert mean["versions"] == {"python": "3.11"}


def test_one_failed_split_fails_the_contestant():
    assert results.averaged([contestant("a"), {"name": "a", "error": "no"}]) == {"name": "a", "error": "no"}
