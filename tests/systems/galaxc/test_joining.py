"""Documents that are added to a trained graph; similar documents and labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import UsageError
from longtail.systems.galaxc.predict import FEATURES
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Document, Documents
from tests.planted import Parts
from tests.systems.galaxc.worlds import encoded_of, every_label, same, settings, vectors_of

# --- documents that are added ---------------------------------------------------------------------------------


def newcomers(trained: Galaxc, label: int = 38, n: int = 3) -> Dataset:
    """Documents of a word of training that no label has, all with one rare label."""
    data = Dataset.from_texts(
        [f"{noise_word(trained)} thing" for _ in range(n)],
        [[trained.labels_.ids[label], "a label that is new"]] * n,
    )
    documents = Documents.of(
        [Document(f"joined-{i}", text=text) for i, text in enumerate(data.documents.texts)]
    )
    return replace(data, documents=documents)


def noise_word(trained: Galaxc) -> str:
    """A word of training documents that is in no label's text."""
    in_labels = {word for text in trained.labels_.texts for word in text.split()}
    assert trained.features_ is not None
    train = [word for word in KNOWN_WORDS if word not in in_labels]
    return next(word for word in train if trained.features_.transform([word]).nnz)


KNOWN_WORDS: list[str] = []


@pytest.fixture(autouse=True)
def _words(tiny: Parts) -> None:
    KNOWN_WORDS[:] = sorted({word for text in tiny.train.documents.joined() for word in text.split()})


def test_a_document_that_joins_becomes_a_neighbour_and_votes(
    trained: Galaxc, saved: Path, tiny: Parts, tmp_path: Path
) -> None:
    model = Galaxc.load(saved)
    word, label = noise_word(trained), 38
    before = model.predict([word], k=40)
    n_nodes = model.predictor_.nodes.graph.n_nodes
    assert model.add_documents(newcomers(trained)) is model
    nodes = model.predictor_.nodes
    assert nodes.graph.n_nodes == n_nodes + 3
    vectors = vectors_of(model, [word])
    near, _ = nodes.near(vectors, 4, np.array([-1]))
    assert set(near[0, :3].tolist()) == {n_nodes, n_nodes + 1, n_nodes + 2}
    votes = FEATURES.index("votes")
    found = encoded_of(model, [word]).features(every_label(1, 40))[:, votes]
    assert np.exp(found[label]) == pytest.approx(3.01, abs=0.1)
    assert found[label] > encoded_of(trained, [word]).features(every_label(1, 40))[label, votes]
    after = model.predict([word], k=40)
    assert not same(after, before)
    assert [id_ for id_, _ in model.similar_documents([word], k=3)[0]] == ["joined-0", "joined-1", "joined-2"]
    # The one that was saved is as it was; what joined is there after the next round trip.
    assert same(Galaxc.load(saved).predict([word], k=40), before)
    model.save(tmp_path / "more")
    again = Galaxc.load(tmp_path / "more")
    assert same(again.predict([word], k=40), after)
    assert same(again.predict(tiny.test), model.predict(tiny.test))
    again.add_documents([Document("one more", text=word)])
    assert again.predictor_.nodes.graph.n_nodes == n_nodes + 4
    again.save(tmp_path / "most")
    assert same(Galaxc.load(tmp_path / "most").predict([word], k=40), again.predict([word], k=40))


def test_a_label_that_is_found_by_votes_alone(trained: Galaxc, tiny: Parts) -> None:
    few = {"size": 1, "voters": 4, "ef_search": 10}
    model = Galaxc(**settings(epochs=1, shortlist=few)).fit(tiny.train)
    word = noise_word(trained)
    before = model.predict([word], k=40).indices[0].tolist()
    assert 38 not in before
    model.add_documents(newcomers(trained, n=4))
    after = [label for label in model.predict([word], k=40).indices[0].tolist() if label >= 0]
    # All four voters are new: their label and the nearest one are all candidates.
    assert 38 in after
    assert len(after) == 2


def test_how_much_a_label_counts_is_not_what_joins_it(trained: Galaxc, saved: Path, tmp_path: Path) -> None:
    heavy = newcomers(trained)
    heavy.Y.data[:] = 7
    ones, sevens = Galaxc.load(saved), Galaxc.load(saved)
    ones.add_documents(newcomers(trained))
    sevens.add_documents(heavy)
    word = noise_word(trained)
    assert same(ones.predict([word], k=40), sevens.predict([word], k=40))
    sevens.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict([word], k=40), sevens.predict([word], k=40))


def test_documents_without_labels_join_what_is_near(saved: Path, tiny: Parts) -> None:
    model = Galaxc.load(saved)
    nodes = model.predictor_.nodes
    some = [Document("near", text=tiny.test.documents.joined()[0]), Document("empty", text="")]
    near, _ = nodes.near(vectors_of(model, some), 4, np.full(2, -1))
    model.add_documents(some)
    graph = model.predictor_.nodes.graph
    rows = [
        graph.indices[graph.indptr[n] : graph.indptr[n + 1]].tolist() for n in graph.node_of_document[-2:]
    ]
    assert rows == [sorted(near[0].tolist()), []]
    assert np.isfinite(model.predict(tiny.test).scores).all()


def test_ids_that_are_there_already_are_refused_and_change_nothing(
    trained: Galaxc, saved: Path, tiny: Parts
) -> None:
    model = Galaxc.load(saved)
    before = model.predictor_
    name = tiny.train.documents.ids[4]
    with pytest.raises(UsageError, match=f"a document with the id '{name}' is in the graph already"):
        model.add_documents([Document("fresh", text="a"), Document(name, text="b")])
    with pytest.raises(UsageError, match="two documents have the id 'x'"):
        model.add_documents([Document("x", text="a"), Document("x", text="b")])
    assert model.predictor_ is before
    assert model.add_documents([]).predictor_ is before
    model.add_documents(newcomers(trained))
    with pytest.raises(UsageError, match="the id 'joined-0' is in the graph already"):
        model.add_documents(newcomers(trained))
    with pytest.raises(UsageError, match="trained on text"):
        model.add_documents(Documents.from_features(np.ones((1, 3))))


# --- similarity -----------------------------------------------------------------------------------------------


def test_similar_documents_share_labels_and_are_never_the_document_itself(
    trained: Galaxc, tiny: Parts
) -> None:
    Y = tiny.train.Y.toarray() > 0
    row = {id_: i for i, id_ in enumerate(tiny.train.documents.ids)}
    some = tiny.train.take(range(3, 60))
    found = trained.similar_documents(some, k=5)
    shares = []
    for i, answer in enumerate(found):
        ids = [id_ for id_, _ in answer]
        assert len(set(ids)) == 5
        assert some.documents.ids[i] not in ids
        cosines = [cosine for _, cosine in answer]
        assert cosines == sorted(cosines, reverse=True)
        shares += [bool((Y[i + 3] & Y[row[id_]]).any()) for id_ in ids]
    any_two = np.mean((Y[3:60].astype(int) @ Y.T.astype(int)) > 0)
    assert np.mean(shares) > 2 * any_two
    assert trained.similar_documents([""], k=2) == [[]]
    every = trained.similar_documents([tiny.test.documents.joined()[0]], k=1000)[0]
    assert len(every) == vectors_of(trained, tiny.train.documents).any(axis=1).sum()
    with pytest.raises(UsageError, match="k must be at least 1"):
        trained.similar_documents(["a"], k=0)


@pytest.fixture(scope="module")
def twins() -> Dataset:
    """Labels x-i and y-i are about the same words."""
    words = ["stone", "water", "fire", "wind", "wood", "metal", "glass", "paper"]
    texts = [f"{words[i % 8]} {words[i % 8]}ish thing" for i in range(64)]
    tags = [[f"x-{words[i % 8]}", f"y-{words[i % 8]}"][: 2 - (i // 8) % 2] for i in range(64)]
    names = {f"{kind}-{word}": f"{kind} {word}" for kind in "xy" for word in words}
    return Dataset.from_texts(texts, tags, names)


@pytest.mark.parametrize("embedding", ["transformed", "raw", "classifier"])
def test_similar_labels_are_about_the_same(twins: Dataset, embedding: str) -> None:
    model = Galaxc(**settings(epochs=30, shortlist={"embedding": embedding}, negatives={"hard": 0})).fit(
        twins
    )
    answer = model.similar_labels(twins.labels.ids, k=3)
    first = [row[0][0] for row in answer]
    assert all(len(row) == 3 for row in answer)
    assert all(one not in [id_ for id_, _ in row] for one, row in zip(twins.labels.ids, answer, strict=True))
    alike = [one.split("-")[1] == two.split("-")[1] for one, two in zip(twins.labels.ids, first, strict=True)]
    assert np.mean(alike) >= 0.9
    assert len(model.similar_labels(["x-fire"], k=1000)[0]) == 15
    assert model.similar_labels([]) == []


def test_similar_labels_of_an_unknown_one_is_an_error(trained: Galaxc) -> None:
    with pytest.raises(UsageError, match="the model has no label 'unheard of'"):
        trained.similar_labels(["label-1", "unheard of"])
    with pytest.raises(UsageError, match="k must be at least 1"):
        trained.similar_labels(["label-1"], k=-1)
