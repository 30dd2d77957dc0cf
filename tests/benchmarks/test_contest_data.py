import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks.contest_data import prepare, rows_of_length_one
from benchmarks.contestant import Job, Source, load_matrix
from benchmarks.errors import BenchmarkError
from tests.benchmarks.worlds import LABELS, write_matrices, write_texts


def test_ready_matrices_get_rows_of_length_one(tmp_path):
    given = write_matrices(tmp_path / "given", filtered=True)
    data = prepare(Source(str(given), 0, ("title",)), tmp_path / "made", {})
    assert data.n_train == 90
    assert data.most_filtered == 1
    assert data.facts["features"]["kind"].startswith("given with the data")
    for split in ("trn", "tst"):
        for name in ("X", "Y"):
            before, after = (
                load_matrix(f / f"{name}.{split}.npz").toarray() for f in (given, tmp_path / "made")
            )
            lengths = np.linalg.norm(before, axis=1, keepdims=True) if name == "X" else 1
            np.testing.assert_allclose(after, before / lengths, rtol=1e-6)


def test_a_row_without_features_stays_empty():
    matrix = csr_array(np.array([[3, 4], [0, 0]], dtype=np.float32))
    np.testing.assert_allclose(rows_of_length_one(matrix).toarray(), [[0.6, 0.8], [0, 0]])
    assert matrix[0, 0] == 3


def test_texts_become_features_of_the_fields_asked_for(tmp_path):
    source = write_texts(tmp_path / "texts")
    words = {"ngrams": [1, 1], "char_ngrams": None}
    titles = prepare(Source(str(source), 0, ("title",)), tmp_path / "titles", words)
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
