"""Shares of members add up, and context is that of all members."""

import numpy as np
import pytest

from longtail.systems import create
from longtail.systems.ensemble.explain import logits, member_shares
from longtail.systems.ensemble.reranker import DEPTH, LEAVES, N_GROUPS, Reranker
from tests.planted import parts_of, planted

PARTS = parts_of(planted(400, 30))


def random_reranker(seed: int, features: int = 6, trees: int = 4) -> Reranker:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    return Reranker(
        normal(N_GROUPS, features),
        normal(N_GROUPS),
        random.integers(0, features + 1, (trees, DEPTH), np.int32),
        normal(trees, DEPTH),
        normal(trees, LEAVES),
    )


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x, x0, labels and their groups."""
    random = np.random.default_rng(seed)
    x, x0 = random.normal(size=(2, 20, 6)).astype(np.float32)
    return x, x0, random.integers(0, 30, 20), random.integers(0, N_GROUPS, 30).astype(np.int8)


@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_to_the_difference_of_the_score(seed):
    reranker, (x, x0, labels, group) = random_reranker(seed), random_case(seed)
    ends = np.array([2, 3, 6])
    shares = member_shares(reranker, x, x0, labels, group, ends)
    expected = logits(reranker, x, labels, group) - logits(reranker, x0, labels, group)
    assert np.allclose(shares.sum(axis=1), expected, atol=1e-5)
    assert (member_shares(reranker, x, x, labels, group, ends) == 0).all()


def test_of_two_members_a_share_is_the_mean_over_both_orders():
    reranker, (x, x0, labels, group) = random_reranker(0), random_case(0)
    found = member_shares(reranker, x, x0, labels, group, np.array([4, 6]))

    def score(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return logits(reranker, np.concatenate([first[:, :4], second[:, 4:]], axis=1), labels, group)

    expected = (score(x, x0) - score(x0, x0) + score(x, x) - score(x0, x)) / 2
    assert np.allclose(found[:, 0], expected, atol=1e-5)


@pytest.fixture(scope="module")
def system():
    settings = {"members": ["linear", "lexical", "knn"], "linear": {"tree": {"leaf_size": 8, "arity": 4}}}
    return create("ensemble", settings).fit(PARTS.train, valid=PARTS.valid)


def test_members_add_up_and_the_value_is_that_of_the_probability(system):
    for document in PARTS.test.documents[:8]:
        found = system.candidates(document, k=3).candidates
        own = dict(zip(found.ids.tolist(), found.scores.tolist(), strict=True))
        for label in system.explain(document, k=3).labels:
            assert [member.name for member in label.members] == ["linear", "lexical", "knn"]
            assert np.isclose(sum(m.share for m in label.members), label.value - label.base, atol=1e-4)
            assert np.isclose(1 / (1 + np.exp(-label.value)), own[system.labels_.index[label.id]], atol=1e-4)


def test_a_member_says_its_own_score_and_rank(system):
    document = PARTS.test.documents[0]
    label = system.explain(document, k=1).labels[0]
    for share, member in zip(label.members, system.members_, strict=True):
        ranked = member.system.predict(document, k=20)[0]
        ids = [id_ for id_, _ in ranked]
        assert share.rank == ids.index(label.id) + 1
        assert np.isclose(share.score, ranked[ids.index(label.id)][1], atol=1e-6)
    unlikely = system.explain(document, system.labels_.ids[len(system.labels_) - 1]).labels[0]
    knn = next(member for member in unlikely.members if member.name == "knn")
    assert (knn.score, knn.rank) == (0.0, None)


def test_context_is_that_of_all_members(system):
    document = PARTS.test.documents[0]
    label = system.explain(document, k=1).labels[0]
    assert label.documents
    assert label.names


def test_labels_that_came_later_are_explained():
    system = create("ensemble", {"members": ["linear", "lexical"]}).fit(PARTS.train, valid=PARTS.valid)
    first, second = (system.labels_.texts[column].split()[0] for column in (1, 2))
    system.add_labels({"new": f"{first} {second}"})
    label = system.explain(f"a {first} {second}", "new").labels[0]
    assert {first, second} & set(label.top_words())
    assert [name.name for name in label.names] == [f"{first} {second}"]
