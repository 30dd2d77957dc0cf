"""Nearest neighbours against exact search, and files that are not what they should be."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longtail import threads
from longtail.errors import ModelError, ModelIntegrityError, UsageError
from longtail.run import Run
from longtail.shortlist import ann
from longtail.shortlist.ann import AnnIndex
from longtail.storage import open_folder, read_arrays, write_arrays, writing_folder

WIDTH = 24


def clustered(n: int, seed: int) -> np.ndarray:
    """Rows around 60 centres, some of them much more popular than others."""
    centres = np.random.default_rng(0).normal(size=(60, WIDTH))
    rng = np.random.default_rng(seed)
    chosen = centres[np.minimum(rng.zipf(1.4, size=n), 60) - 1]
    return (chosen + 0.5 * rng.normal(size=(n, WIDTH))).astype(np.float32)


ROWS = clustered(3_000, 1)
QUERIES = clustered(60, 2)


@pytest.fixture(scope="module")
def index() -> AnnIndex:
    with threads.limit(1):
        return AnnIndex.build(ROWS)


def cosines_of(queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Each query with each row, in double precision; -inf for rows of zeros."""
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    table = queries.astype(np.float64) @ rows.T.astype(np.float64)
    table /= np.linalg.norm(queries.astype(np.float64), axis=1)[:, None] * np.where(lengths > 0, lengths, 1)
    return np.where(lengths > 0, table, -np.inf)


def answer_or_error(path: Path) -> np.ndarray | ModelIntegrityError:
    try:
        return AnnIndex.load(path, n=3_000, width=WIDTH).search(QUERIES[:3], 5)[0]
    except ModelIntegrityError as error:
        return error


def recall(found: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> float:
    best = np.argsort(-cosines_of(queries, rows), axis=1)[:, : found.shape[1]]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(found, best, strict=True)]))


@pytest.mark.parametrize("k", [1, 10, 100, 300])
def test_a_graph_finds_nearly_all(index: AnnIndex, k: int) -> None:
    assert not index.exact
    ids, cosines = index.search(QUERIES, k)
    assert ids.dtype == np.int32
    assert cosines.dtype == np.float32
    assert recall(ids, QUERIES, ROWS) >= 0.95
    assert np.allclose(cosines, np.take_along_axis(cosines_of(QUERIES, ROWS), ids, axis=1), atol=1e-5)
    assert (np.diff(cosines, axis=1) <= 0).all()


def test_a_larger_ef_search_finds_no_less(index: AnnIndex) -> None:
    little = recall(index.search(QUERIES, 10, ef_search=10)[0], QUERIES, ROWS)
    assert little <= recall(index.search(QUERIES, 10, ef_search=500)[0], QUERIES, ROWS)


def test_few_rows_are_compared_exactly() -> None:
    few = AnnIndex.build(ROWS[:500])
    assert few.exact
    assert recall(few.search(QUERIES, 20)[0], QUERIES, ROWS[:500]) == 1


@given(
    arrays(np.int8, st.tuples(st.integers(0, 12), st.just(3)), elements=st.integers(-2, 2)),
    arrays(np.int8, (2, 3), elements=st.integers(-2, 2)),
    st.integers(1, 15),
)
def test_small_tables_in_order_with_ties_by_id(rows: np.ndarray, queries: np.ndarray, k: int) -> None:
    ids, cosines = AnnIndex.build(rows).search(queries, k)
    for query, found, scores in zip(queries, ids, cosines, strict=True):
        there = np.flatnonzero(rows.any(axis=1)) if query.any() else np.empty(0, int)
        assert (found >= 0).sum() == min(k, len(there))
        real = found[found >= 0]
        assert len(set(real)) == len(real)
        assert np.isin(real, there).all()
        assert (found[len(real) :] == -1).all()
        assert (scores[len(real) :] == 0).all()
        assert list(zip(-scores[: len(real)], real, strict=True)) == sorted(
            zip(-scores[: len(real)], real, strict=True)
        )
        if len(real):
            expected = np.sort(cosines_of(query[None], rows)[0])[::-1][: len(real)]
            assert np.allclose(scores[: len(real)], expected, atol=1e-6)


def test_same_rows_same_bytes_and_answers(index: AnnIndex, tmp_path: Path) -> None:
    run = Run()
    with threads.limit(2):
        again = AnnIndex.build(ROWS, run=run)
    assert set(run.seconds) == {"index"}
    index.save(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with threads.limit(2):
        both = again.search(QUERIES, 50)
    with threads.limit(1):
        one = index.search(QUERIES, 50)
    assert all((a == b).all() for a, b in zip(both, one, strict=True))


@pytest.mark.parametrize("n", [500, 3_000])
def test_alone_and_among_others_the_same_bits(n: int) -> None:
    some = AnnIndex.build(ROWS[:n])
    together = some.search(QUERIES, 20)
    for i in (0, 7, 59):
        alone = some.search(QUERIES[[i]], 20)
        assert all((a[0] == b[i]).all() for a, b in zip(alone, together, strict=True))


def test_the_length_of_a_vector_does_not_matter(index: AnnIndex) -> None:
    tall = AnnIndex.build(ROWS * np.float32(2) ** 40)
    assert (tall.search(QUERIES * np.float32(2) ** -100, 10)[0] == index.search(QUERIES, 10)[0]).all()
    extreme = np.array([[3e38, 3e38], [1e-45, 0]], np.float32)
    assert AnnIndex.build(extreme).search(extreme, 1)[0].tolist() == [[0], [1]]


@pytest.mark.parametrize("n", [300, 2_500])
def test_added_rows_go_on_and_old_ids_stay(n: int) -> None:
    before = AnnIndex.build(ROWS[:n])
    after = before.add(ROWS[n:])
    assert len(before) == n
    assert len(after) == 3_000
    assert not after.exact
    assert recall(after.search(QUERIES, 50)[0], QUERIES, ROWS) >= 0.95
    assert (after.search(ROWS, 1)[0].ravel() == np.arange(3_000)).mean() > 0.99


def test_adding_before_and_after_saving_is_the_same(index: AnnIndex, tmp_path: Path) -> None:
    more = clustered(50, 3)
    index.save(tmp_path / "index")
    loaded = AnnIndex.load(tmp_path / "index", n=3_000, width=WIDTH)
    index.add(more).save(tmp_path / "one")
    loaded.add(more).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_zeros_are_never_found_and_find_nothing(index: AnnIndex) -> None:
    rows = np.concatenate([np.zeros((40, WIDTH), np.float32), ROWS, np.zeros((5, WIDTH), np.float32)])
    holed = AnnIndex.build(rows)
    ids, cosines = holed.search(np.concatenate([QUERIES, np.zeros((1, WIDTH))]), 30)
    assert (ids[-1] == -1).all()
    assert not cosines[-1].any()
    assert (ids[:-1] == index.search(QUERIES, 30)[0] + 40).all()
    nothing = AnnIndex.build(np.zeros((3, WIDTH)))
    assert (nothing.search(QUERIES, 2)[0] == -1).all()
    assert len(nothing.add(np.zeros((2, WIDTH)))) == 5


def test_many_copies_do_not_cut_the_graph_apart(index: AnnIndex) -> None:
    copies = index.add(np.repeat(ROWS[:2], 700, axis=0))
    assert not copies.exact
    ids, cosines = copies.search(ROWS[:2], 600)
    assert ids[0].tolist() == [0, *range(3_000, 3_599)]
    assert ids[1].tolist() == [1, *range(3_700, 4_299)]
    assert np.allclose(cosines, 1)
    again = AnnIndex.build(np.concatenate([ROWS, np.repeat(ROWS[:2], 700, axis=0)]))
    assert (again.search(QUERIES, 20)[0] == copies.search(QUERIES, 20)[0]).all()


def test_different_rows_of_one_key_stay_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "_keys", lambda rows: np.zeros(len(rows), np.uint64))
    rows = ROWS[[0, 1, 0, 2]]
    index = AnnIndex.build(rows).add(ROWS[[3, 0]])
    assert index.node.tolist() == [0, 1, 0, 2, 3, 0]
    assert index.search(ROWS[[3, 0]], 1)[0].tolist() == [[4], [0]]


def test_one_row_no_row_and_k_above_n(index: AnnIndex) -> None:
    ids, cosines = AnnIndex.build(ROWS[:1]).search(ROWS[:1], 3)
    assert ids.tolist() == [[0, -1, -1]]
    assert np.allclose(cosines, [[1, 0, 0]])
    assert AnnIndex.build(ROWS[:0]).search(QUERIES, 2)[0].tolist() == [[-1, -1]] * 60
    assert index.search(QUERIES[:0], 5)[0].shape == (0, 5)
    ids = index.search(QUERIES[:2], 3_010)[0]
    assert (ids[:, 3_000:] == -1).all()
    assert (np.sort(ids[:, :2_900]) >= 0).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(index: AnnIndex, wrong: float) -> None:
    bad = ROWS[:5].copy()
    bad[3, 2] = wrong
    for call in (AnnIndex.build, index.add, lambda rows: index.search(rows, 3)):
        with pytest.raises(UsageError, match="row 3 has a number"):
            call(bad)
    with pytest.raises(UsageError, match="row 0"):
        index.search(np.full((1, WIDTH), 1e300), 3)


def test_what_does_not_fit_is_refused(index: AnnIndex) -> None:
    for call in (index.add, lambda rows: index.search(rows, 3)):
        for rows in (ROWS[:, :5], ROWS[0], ROWS.astype(str)):
            with pytest.raises(UsageError, match=r"must be numbers \[n, 24\]"):
                call(rows)
    with pytest.raises(UsageError, match="table"):
        AnnIndex.build(ROWS[0])
    with pytest.raises(UsageError, match="m must be 2 to 512"):
        AnnIndex.build(ROWS, m=1)
    with pytest.raises(UsageError, match="k must"):
        index.search(QUERIES, 0)
    with pytest.raises(UsageError, match="ef_search"):
        index.search(QUERIES, 1, ef_search=0)


@pytest.mark.parametrize("n", [0, 500, 3_000])
def test_a_saved_index_is_read_into_memory_and_answers_the_same(n: int, tmp_path: Path) -> None:
    index = AnnIndex.build(ROWS[:n])
    with writing_folder(tmp_path / "model") as folder:
        index.save(folder / "labels.ann")
    loaded = AnnIndex.load(open_folder(tmp_path / "model").path("labels.ann"), n=n, width=WIDTH)
    assert not isinstance(loaded.vectors.base, np.memmap)
    assert loaded.vectors.flags.aligned
    assert loaded.exact == index.exact
    for a, b in zip(loaded.search(QUERIES, 20), index.search(QUERIES, 20), strict=True):
        assert (a == b).all()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model/labels.ann").read_bytes()


@pytest.mark.parametrize("n", [0, 500, 3_000])
def test_half_of_the_bytes_and_the_same_answers(n: int, tmp_path: Path) -> None:
    full, half = AnnIndex.build(ROWS[:n]), AnnIndex.build(ROWS[:n], stored="float16")
    assert half.vectors.dtype == np.float32
    full.save(tmp_path / "full")
    half.save(tmp_path / "half")
    saved = (tmp_path / "full").stat().st_size - (tmp_path / "half").stat().st_size
    assert saved == pytest.approx(full.vectors.nbytes / 2, abs=200)
    loaded = AnnIndex.load(tmp_path / "half", n=n, width=WIDTH)
    assert (loaded.stored, loaded.exact) == ("float16", n <= 2_000)
    # What was rounded when it was added is not rounded again.
    for a, b in zip(loaded.search(QUERIES, 20), half.search(QUERIES, 20), strict=True):
        assert (a == b).all()
    more = clustered(40, 3)
    loaded.add(more).save(tmp_path / "one")
    half.add(more).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    if n:
        ids, cosines = half.search(QUERIES, 20)
        assert recall(ids, QUERIES, ROWS[:n]) >= 0.95
        assert np.allclose(cosines, np.take_along_axis(cosines_of(QUERIES, ROWS[:n]), ids, axis=1), atol=1e-3)


def test_rows_that_half_precision_makes_equal_are_one_node() -> None:
    row = np.array([[1, 2, 3]], np.float32)
    near = row * np.array([[1, 1 + 1e-6, 1]], np.float32)
    rows = np.concatenate([row, near, -row, row - [[0, 2, 0]], row * [[1, -1e-9, 1]]])
    assert AnnIndex.build(rows).node.tolist() == [0, 1, 2, 3, 4]
    index = AnnIndex.build(rows, stored="float16")
    assert index.node.tolist() == [0, 0, 1, 2, 2]
    assert index.search(row, 2)[0].tolist() == [[0, 1]]


@pytest.mark.parametrize("n", [500, 3_000])
def test_damaged_half_vectors_are_errors(n: int, tmp_path: Path) -> None:
    AnnIndex.build(ROWS[:n], stored="float16").save(tmp_path / "index")
    good = {name: np.array(array) for name, array in read_arrays(tmp_path / "index").items()}
    vectors = good["vectors"]
    infinite = vectors.copy()
    infinite[-1, -1] = np.inf
    wrong: dict[str, dict[str, np.ndarray]] = {
        "rows": {"vectors": vectors[:-1]},
        "width": {"vectors": vectors[:, :-1].copy()},
        "type": {"vectors": vectors.astype(np.float64)},
        "finite": {"vectors": infinite},
    }
    if n > 2_000:
        wrong["short"] = {"links": good["links"][:-4]}
        wrong["altered"] = {"links": np.append(good["links"][1:], good["links"][:1])}
    for name, parts in wrong.items():
        write_arrays(tmp_path / name, {**good, **parts})
        with pytest.raises(ModelIntegrityError, match=name):
            AnnIndex.load(tmp_path / name, n=n, width=WIDTH)
    if n > 2_000:
        write_arrays(tmp_path / "missing", {name: good[name] for name in ("node", "settings", "links")})
        with pytest.raises(ModelIntegrityError, match="missing"):
            AnnIndex.load(tmp_path / "missing", n=n, width=WIDTH)


def test_another_size_is_an_error(index: AnnIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    AnnIndex.build(ROWS[:9]).save(tmp_path / "few")
    for n, width in ((2_999, WIDTH), (3_000, WIDTH - 1), (3_000, WIDTH + 1), (3_000, 10**9)):
        with pytest.raises(ModelIntegrityError):
            AnnIndex.load(tmp_path / "index", n=n, width=width)
    for n, width in ((8, WIDTH), (9, WIDTH + 1)):
        with pytest.raises(ModelIntegrityError):
            AnnIndex.load(tmp_path / "few", n=n, width=width)


@pytest.mark.parametrize("n", [500, 3_000])
def test_a_truncated_file_is_an_error(n: int, tmp_path: Path) -> None:
    AnnIndex.build(ROWS[:n]).save(tmp_path / "index")
    whole = (tmp_path / "index").read_bytes()
    for size in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "index").write_bytes(whole[:size])
        with pytest.raises(ModelIntegrityError, match="index"):
            AnnIndex.load(tmp_path / "index", n=n, width=WIDTH)
    (tmp_path / "index").write_bytes(b"something else entirely" * 100)
    with pytest.raises(ModelIntegrityError, match="index"):
        AnnIndex.load(tmp_path / "index", n=n, width=WIDTH)
    (tmp_path / "index").unlink()
    with pytest.raises(ModelError):
        AnnIndex.load(tmp_path / "index", n=n, width=WIDTH)


def test_flipped_bytes_are_an_error_or_harmless(index: AnnIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    whole = bytearray((tmp_path / "index").read_bytes())
    links_end = len(whole) - index.vectors.nbytes
    rng = np.random.default_rng(5)
    header = int.from_bytes(whole[:8], "little")
    at = [*range(0, 8 + header, 5), *rng.integers(8 + header, links_end, 100)]
    for place in at:
        changed = whole.copy()
        changed[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "index").write_bytes(changed)
        answer = answer_or_error(tmp_path / "index")
        # Only what leads nowhere may change unseen: which row has which of the nodes, the settings.
        in_place = isinstance(answer, np.ndarray) and ((answer >= -1) & (answer < 3_000)).all()
        assert in_place or str(tmp_path / "index") in str(answer)
    changed = whole.copy()
    changed[-4:] = np.float32(np.nan).tobytes()
    (tmp_path / "index").write_bytes(changed)
    with pytest.raises(ModelIntegrityError, match="finite"):
        AnnIndex.load(tmp_path / "index", n=3_000, width=WIDTH)


def test_parts_that_do_not_fit_each_other_are_errors(index: AnnIndex, tmp_path: Path) -> None:
    index.save(tmp_path / "index")
    good = read_arrays(tmp_path / "index")
    graph = good["graph"]
    wrong: dict[str, dict[str, np.ndarray]] = {
        "nodes": {**good, "node": good["node"][:-1]},
        "type": {**good, "node": good["node"].astype(np.int64)},
        "range": {**good, "node": good["node"] + 1},
        "settings": {**good, "settings": np.array([0, 0])},
        "foreign": {**good, "graph": graph[::-1].copy()},
        "digest": {**good, "digest": good["digest"][:5]},
        "short": {**good, "graph": graph[:100]},
        "no graph": {name: good[name] for name in ("node", "settings")},
        "no digest": {name: good[name] for name in ("node", "settings", "graph")},
        "unrelated": {"weights": graph},
    }
    for name, parts in wrong.items():
        write_arrays(tmp_path / name, parts)
        with pytest.raises(ModelIntegrityError, match=name):
            AnnIndex.load(tmp_path / name, n=3_000, width=WIDTH)


def test_importing_and_few_rows_need_no_faiss() -> None:
    program = (
        "import sys; sys.modules['faiss'] = None\n"
        "import numpy as np\n"
        "from longtail.errors import MissingPackageError\n"
        "from longtail.shortlist.ann import AnnIndex\n"
        "rows = np.random.default_rng(0).normal(size=(2001, 4))\n"
        "assert AnnIndex.build(rows[:2000]).search(rows[:1], 1)[0][0, 0] == 0\n"
        "try:\n    AnnIndex.build(rows)\n"
        "except MissingPackageError as error:\n    assert 'longtail[ann]' in str(error)\n"
        "else:\n    raise SystemExit('built')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_an_index_of_many_rows_is_built_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "MANY", 10)
    few = AnnIndex.build(np.eye(10, dtype=np.float32))
    many = AnnIndex.build(np.eye(11, dtype=np.float32))
    assert (few.m, few.ef_construction) == (ann.M, ann.EF_CONSTRUCTION)
    assert (many.m, many.ef_construction) == (ann.SMALL_M, ann.SMALL_EF_CONSTRUCTION)
    own = AnnIndex.build(np.eye(11, dtype=np.float32), m=7, ef_construction=9)
    assert (own.m, own.ef_construction) == (7, 9)
