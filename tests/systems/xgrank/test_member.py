"""A folded model: its reader and matrices give what the network gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from longtail.shortlist.candidates import Candidates
from longtail.systems.xgrank import member as member_module
from longtail.systems.xgrank.member import FAR, Member, Vectors
from longtail.systems.xgrank.system import Xgrank
from tests.planted import Parts


def test_the_order_and_number_of_texts_do_not_matter(trained: Xgrank, tiny: Parts) -> None:
    reader = trained.folded_.members[0].reader
    texts = tiny.test.documents.joined()
    together = reader(texts)
    assert (together.pooled[:, -1] == 1).all()
    for i in (0, 1, 7):
        alone = reader([texts[i]])
        np.testing.assert_allclose(alone.document[0], together.document[i], atol=1e-5)
        np.testing.assert_allclose(alone.pooled[0], together.pooled[i], atol=1e-5)


def test_reading_leaves_the_mode_of_the_network(trained: Xgrank) -> None:
    network = trained.folded_.members[0].reader.network
    network.train()
    trained.folded_.members[0].reader(["bade"])
    assert network.training
    network.eval()


def test_labels_of_the_best_clusters(trained: Xgrank, tiny: Parts) -> None:
    member = trained.folded_.members[0]
    read = member.reader(tiny.test.documents.joined()[:6])
    clusters = member.clusters(read, 2)
    found = member.best(read, clusters, None)
    below = member.below_best(found, clusters, found)
    scores = read.pooled @ member.vectors.clusters.T
    for row in range(6):
        best = np.argsort(-scores[row])[:2]
        expected = np.flatnonzero(np.isin(member.vectors.codes, best))
        some = slice(found.indptr[row], found.indptr[row + 1])
        assert found.ids[some].tolist() == expected.tolist()
        far = scores[row][member.vectors.codes[expected]] - scores[row].max()
        np.testing.assert_allclose(below[some], far, atol=1e-4)
    assert np.array_equal(member.rank(read, found).scores, found.scores)
    by_hand = np.einsum("ed,ed->e", read.document[found.rows], member.vectors.labels[found.ids])
    np.testing.assert_allclose(found.scores, by_hand, atol=1e-4)
    few = member.best(read, clusters, 3)
    assert few.top_k(3).labels.tolist() == found.top_k(3).labels.tolist()
    assert (few.counts <= 3).all()


def test_all_labels_without_clusters(trained: Xgrank) -> None:
    member = trained.folded_.members[0]
    vectors = member.vectors
    flat = Member(member.reader, Vectors(vectors.labels, vectors.clusters[:0], vectors.codes * 0))
    read = flat.reader(["bade", ""])
    assert flat.clusters(read, 3) is None
    found = flat.best(read, None, None)
    assert found.counts.tolist() == [len(vectors.labels)] * 2


def test_of_all_labels_the_best_stay(trained: Xgrank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_module, "STAY", 3)
    member = trained.folded_.members[0]
    vectors = member.vectors
    flat = Member(member.reader, Vectors(vectors.labels, vectors.clusters[:0], vectors.codes * 0))
    read = flat.reader(["bade fi", "gogo"])
    found = flat.best(read, None, 7)
    best = np.sort(np.argsort(-(read.document @ vectors.labels.T), axis=1)[:, :3], axis=1)
    assert found.ids.reshape(2, 3).tolist() == best.tolist()
    assert found.ids.reshape(2, 3).tolist() == flat.best(read, None, None).ids.reshape(2, 3).tolist()
    assert (flat.best(read, None, 2).counts == 2).all()
    others = Candidates.from_counts(np.array([1, 1]), best[:, 0].astype(np.int32), np.zeros(2, np.float32))
    assert (flat.below_best(others, None, found) == 0).all()
    far = Candidates.from_counts(
        np.array([1, 1]),
        np.argmin(read.document @ vectors.labels.T, axis=1).astype(np.int32),
        np.zeros(2, np.float32),
    )
    assert (flat.below_best(far, None, found) == FAR).all()


def test_the_retrievers_bias_is_a_column(trained: Xgrank) -> None:
    network = trained.folded_.members[0].reader.network
    found = Vectors.of(network, np.zeros((3, 4), np.float32), np.zeros(3, np.int64))
    assert network.retrieve is not None
    torch.testing.assert_close(torch.from_numpy(found.clusters[:, -1]), network.retrieve.bias.detach())
