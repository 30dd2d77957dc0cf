import pytest

from benchmarks.contest_data import prepare
from benchmarks.contestant import Job, Source, load_matrix
from benchmarks.errors import BenchmarkError
from tests.benchmarks.worlds import LABELS, write_matrices, write_texts


def test_ready_matrices_are_taken_as_they_are(tmp_path):
    given = write_matrices(tmp_path / "given", filtered=True)
    data = prepare(Source(str(given), 0, ("title",)), tmp_path / "made", {})
    assert data.n_train == 90
    assert data.most_filtered == 1
    assert data.facts["features"] == {"kind": "given with the data"}
    for name in ("X.trn", "Y.trn", "X.tst", "Y.tst"):
        assert (load_matrix(given / f"{name}.npz") != load_matrix(tmp_path / "made" / f"{name}.npz")).nnz == 0


def test_texts_become_features_of_the_fields_asked_for(tmp_path):
    source = write_texts(tmp_path / "texts")
    titles = prepare(Source(str(source), 0, ("title",)), tmp_path / "titles", {})
    both = prepare(Source(str(source), 0, ("title", "text")), tmp_path / "both", {"ngrams": [1, 2]})
    assert titles.facts["feature_columns"] == LABELS + 1
    assert both.facts["feature_columns"] > LABELS + 3
    assert both.facts["features"]["settings"]["ngrams"] == [1, 2]
    assert titles.facts["train_fingerprint"] == both.facts["train_fingerprint"]
    assert load_matrix(tmp_path / "titles" / "X.tst.npz").shape == (24, LABELS + 1)


def test_data_without_a_test_part_are_refused(tmp_path):
    source = write_texts(tmp_path / "texts")
    (source / "test.jsonl").unlink()
    with pytest.raises(BenchmarkError, match="no test part"):
        prepare(Source(str(source), 0, ("title",)), tmp_path / "made", {})


def test_a_job_comes_back_as_it_was_written(tmp_path):
    job = Job("a", "m", Source("p", 3, ("title", "text")), 10, 2, 7, {"leaf": 5})
    job.write(tmp_path)
    assert Job.read(tmp_path) == job
