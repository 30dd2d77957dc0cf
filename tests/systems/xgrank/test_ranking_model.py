"""One exported model: vectors and matrices give what the network gives, also after a model folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError
from longtail.shortlist.candidates import Candidates
from longtail.storage import open_folder, read_arrays, write_arrays, writing_folder
from longtail.systems.xgrank.ranking_model import NOT_RETRIEVED, RankingModel
from longtail.systems.xgrank.system import Xgrank
from tests.planted import Parts
from tests.systems.xgrank.worlds import store, without_clusters

Arrays = dict[str, np.ndarray]


@pytest.fixture
def model(trained: Xgrank) -> RankingModel:
    return trained.predictor_.models[0]


def test_the_order_and_number_of_texts_do_not_matter(model: RankingModel, tiny: Parts) -> None:
    texts = tiny.test.documents.joined()
    together = model.encode(store(texts))
    assert (together.pooled[:, -1] == 1).all()
    for i in (0, 1, 7):
        alone = model.encode(store([texts[i]]))
        np.testing.assert_allclose(alone.ranked[0], together.ranked[i], atol=1e-5)
        np.testing.assert_allclose(alone.pooled[0], together.pooled[i], atol=1e-5)


def test_a_text_without_tokens_is_not_readable(model: RankingModel) -> None:
    vectors = model.encode(store(["bade", "", "  \n", "\x00", "fi go"]))
    assert vectors.readable.tolist() == [True, False, False, False, True]
    assert np.isfinite(vectors.ranked).all()


def test_encoding_leaves_the_mode_of_the_encoder(model: RankingModel) -> None:
    encoder = model.pooled.encoder
    encoder.train()
    model.encode(store(["bade"]))
    assert encoder.training
    encoder.eval()


def test_tokens_are_computed_once(model: RankingModel, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = store(["bade fi", "gogo"])
    first = model.encode(texts)
    monkeypatch.setattr(type(model.subwords), "__call__", None)
    assert (model.encode(texts).ranked == first.ranked).all()


def test_labels_of_the_best_clusters(model: RankingModel, tiny: Parts) -> None:
    assert model.retriever is not None
    vectors = model.encode(store(tiny.test.documents.joined()[:6]))
    clusters = model.retrieve(vectors, 2)
    found = model.labels_of(vectors, clusters)
    below = model.below_best_cluster(found, clusters)
    scores = vectors.pooled @ model.retriever.classifiers.T
    cluster_of = model.retriever.cluster_of
    for row in range(6):
        best = np.argsort(-scores[row])[:2]
        expected = np.flatnonzero(np.isin(cluster_of, best))
        some = slice(found.indptr[row], found.indptr[row + 1])
        assert found.ids[some].tolist() == expected.tolist()
        gap = scores[row][cluster_of[expected]] - scores[row].max()
        np.testing.assert_allclose(below[some], gap, atol=1e-4)
    assert np.array_equal(model.rank(vectors, found).scores, found.scores)
    by_hand = np.einsum("ed,ed->e", vectors.ranked[found.rows], model.ranker.labels[found.ids])
    np.testing.assert_allclose(found.scores, by_hand, atol=1e-4)


def test_known_scores_are_not_computed_again(model: RankingModel) -> None:
    vectors = model.encode(store(["bade fi"]))
    ids = np.array([1, 2, 5], np.int32)
    candidates = Candidates.from_counts(np.array([3]), ids, np.zeros(3, np.float32))
    known = Candidates.from_counts(np.array([1]), ids[1:2], np.array([7], np.float32))
    found = model.rank(vectors, candidates, known)
    assert found.scores[1] == 7
    assert np.array_equal(found.scores[[0, 2]], model.rank(vectors, candidates).scores[[0, 2]])


def test_labels_outside_the_beam_are_not_retrieved(model: RankingModel, tiny: Parts) -> None:
    assert model.retriever is not None
    vectors = model.encode(store(tiny.test.documents.joined()[:3]))
    clusters = model.retrieve(vectors, 1)
    n_labels = len(model.ranker.labels)
    every = model.all_labels(vectors.ranked)
    below = model.below_best_cluster(every, clusters).reshape(3, n_labels)
    inside = model.retriever.cluster_of[None, :] == clusters.ids[:, None]
    assert (below[inside] == 0).all()
    assert (below[~inside] == NOT_RETRIEVED).all()


def test_all_labels(model: RankingModel) -> None:
    flat = without_clusters(model)
    assert flat.clusters is None
    vectors = flat.encode(store(["bade", ""]))
    found = flat.all_labels(vectors.ranked)
    assert found.counts.tolist() == [len(model.ranker.labels)] * 2
    np.testing.assert_allclose(found.scores, flat.rank(vectors, found).scores, atol=1e-5)


# --- model folders ------------------------------------------------------------------------------------------


def saved(
    model: RankingModel,
    place: Path,
    file: str = "ranker",
    change: Callable[[Arrays], object] = lambda _arrays: None,
) -> RankingModel:
    with writing_folder(place) as folder:
        model.save(folder / "model")
        path = folder / "model" / f"{file}.safetensors"
        arrays = {name: array.copy() for name, array in read_arrays(path).items()}
        change(arrays)
        write_arrays(path, arrays)
    return RankingModel.load(
        open_folder(place).sub("model"), model.config, len(model.ranker.labels), model.pooled.pooling
    )


def test_there_and_back(model: RankingModel, tmp_path: Path) -> None:
    again = saved(model, tmp_path / "model")
    texts = store(["bade fi", "", "gogo"])
    one, other = model.encode(texts), again.encode(texts)
    assert (one.ranked == other.ranked).all()
    assert (one.pooled == other.pooled).all()
    assert (model.ranker.labels == again.ranker.labels).all()
    names = {file.name for file in (tmp_path / "model" / "model" / "encoder").iterdir()}
    assert "model.safetensors" not in names


def test_large_matrices_take_two_bytes_per_number(model: RankingModel, tmp_path: Path) -> None:
    saved(model, tmp_path / "model")
    folder = tmp_path / "model" / "model"
    assert read_arrays(folder / "ranker.safetensors")["labels"].dtype == np.float16
    assert read_arrays(folder / "tokens.safetensors")["table"].dtype == np.float16
    encoder = read_arrays(folder / "encoder.safetensors")
    assert {array.dtype for array in encoder.values()} == {np.dtype(np.float16)}


DAMAGE: dict[str, tuple[str, Callable[[Arrays], object]]] = {
    "labels": ("ranker", lambda a: a.update(labels=a["labels"][:-1])),
    "projection": ("ranker", lambda a: a.update(project=a["project"][:, :-1])),
    "bias": ("ranker", lambda a: a.update(bias=a["bias"][:-1])),
    "not finite": ("ranker", lambda a: a["labels"].fill(np.nan)),
    "missing": ("ranker", lambda a: a.pop("bias")),
    "more": ("ranker", lambda a: a.update(more=a["bias"])),
    "classifiers": ("retriever", lambda a: a.update(classifiers=a["classifiers"][:, :-1])),
    "clusters": ("retriever", lambda a: a.update(cluster_of=a["cluster_of"] + 100)),
    "negative clusters": ("retriever", lambda a: a.update(cluster_of=a["cluster_of"] - 1)),
    "clusters of fewer labels": ("retriever", lambda a: a.update(cluster_of=a["cluster_of"][:-1])),
    "tokens": ("tokens", lambda a: a.update({name: array[:-1] for name, array in a.items()})),
    "width of tokens": ("tokens", lambda a: a.update(table=a["table"][:, :-1].copy())),
    "idf": ("tokens", lambda a: a.update(idf=-a["idf"])),
    "word embeddings": ("encoder", lambda a: a.update(words=a["words"][:-1])),
    "encoder": ("encoder", lambda a: a.update(more=np.zeros(2, np.float32))),
    "encoder not finite": ("encoder", lambda a: a["words"].fill(np.inf)),
}


@pytest.mark.parametrize("part", sorted(DAMAGE))
def test_arrays_that_do_not_fit_are_refused(model: RankingModel, tmp_path: Path, part: str) -> None:
    file, change = DAMAGE[part]
    with pytest.raises(ModelIntegrityError, match=rf"{file}\.safetensors: "):
        saved(model, tmp_path / "model", file, change)


def test_narrow_label_vectors_are_refused(model: RankingModel, tmp_path: Path) -> None:
    def narrow(arrays: Arrays) -> None:
        arrays.update(
            project=arrays["project"][:8], bias=arrays["bias"][:8], labels=arrays["labels"][:, :8].copy()
        )

    with pytest.raises(ModelIntegrityError, match="narrower than token embeddings"):
        saved(model, tmp_path / "model", "ranker", narrow)


def test_a_missing_model_is_said(trained: Xgrank) -> None:
    with pytest.raises(ModelIntegrityError, match="is missing"):
        RankingModel.load(None, trained.config, 3, "cls")
