"""GalaXC as a system: settings, known labels, links, documents that join, folders, awkward data."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from scipy.sparse import csr_array

import longtail
from longtail import threads
from longtail.cli.main import main
from longtail.data import warm_start
from longtail.data.writing import write
from longtail.errors import UsageError
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Document, Documents, Edges, LabelSet
from tests.planted import Parts
from tests.storage.processes import run as run_alone
from tests.systems.galaxc.worlds import folder_bytes, same, settings, small_set


def p_at_1(model: Galaxc, test: Dataset) -> float:
    return float(model.evaluate(test).figures["P@1"]["value"])


# --- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        {"initial": {"source": "eclare"}},
        {"score": "ann"},
        {"score": "ann", "shortlist": {"embedding": "transformed"}},
        {"score": "ann", "shortlist": {"embedding": "raw"}},
        {"score": "classifier", "shortlist": {"lexical": 0, "voters": 0}},
        {"score": "classifier", "negatives": {"hard": 0, "random": None}, "loss": "bce"},
        {"graph": {"encoder": "gin"}, "classifier": {"node": False}},
        {"graph": {"encoder": "graphsage", "fanouts": (3, 3)}, "classifier": {"node": False}},
        {"graph": {"transductive": True, "head_above": 10, "samples": 1}},
        {"graph": {"own": False, "same_text": True}, "transform": {"batch_norm": True, "unit": False}},
        {"neighbourhood": {"near": 0.0, "mask_positive": 0.0, "ask_visible": True, "fill": False}},
    ],
    ids=str,
)
def test_every_setting_trains_predicts_and_comes_back(
    tiny: Parts, other: dict[str, Any], tmp_path: Path
) -> None:
    model = Galaxc(**settings(epochs=4, **other)).fit(tiny.train, valid=tiny.valid)
    # The classifiers of so few documents alone are no experts.
    assert p_at_1(model, tiny.test) > (80 if model.config.score == "learnt" else 40)
    model.save(tmp_path / "model")
    again = Galaxc.load(tmp_path / "model")
    assert same(model.predict(tiny.test, k=40), again.predict(tiny.test, k=40))
    again.save(tmp_path / "copy")
    assert folder_bytes(tmp_path / "model") == folder_bytes(tmp_path / "copy")


def test_damaged_weights_of_a_graph_encoder_are_refused(tiny: Parts, tmp_path: Path) -> None:
    from longtail.errors import ModelIntegrityError
    from longtail.storage import read_arrays, write_arrays
    from tests.systems.damage import fit_manifest, refused

    gin = {"graph": {"encoder": "gin", "fanouts": (2, 2)}, "classifier": {"node": False}}
    Galaxc(**settings(epochs=1, **gin)).fit(tiny.train).save(tmp_path / "model")
    path = tmp_path / "model" / "encoder.safetensors"
    arrays = {name: np.array(array) for name, array in read_arrays(path).items()}
    for change in (
        {"eps": arrays["eps"][:1]},
        {"inner": arrays["inner"] * np.nan},
        {name: array[:1].copy() for name, array in arrays.items()},
    ):
        write_arrays(path, {**arrays, **change})
        fit_manifest(tmp_path / "model")
        assert "encoder.safetensors" in refused(tmp_path / "model", ModelIntegrityError)


def matrix_parts(tiny: Parts, features: bool) -> tuple[Dataset, Dataset]:
    """Documents and (perhaps) labels as points: a document is where its labels are."""
    rng = np.random.default_rng(0)
    places = rng.standard_normal((40, 24)).astype(np.float32)

    def part(data: Dataset) -> Dataset:
        X = data.Y @ places + 0.1 * rng.standard_normal((len(data), 24))
        labels = LabelSet(data.labels.ids, [""] * 40, features=csr_array(places) if features else None)
        return replace(data, documents=Documents.from_features(X, data.documents.ids), labels=labels)

    return part(tiny.train), part(tiny.test)


@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("source", ["given", "surrogate", "eclare"])
def test_feature_rows(tiny: Parts, tmp_path: Path, features: bool, source: str) -> None:
    train, test = matrix_parts(tiny, features)
    model = Galaxc(**settings(epochs=4, initial={"source": source})).fit(train, valid=test)
    assert model.folded_.space.vectors.shape[1] == (24 if source == "given" else 16)
    assert p_at_1(model, test) > (80 if source == "given" else 50)
    model.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict(test), model.predict(test))
    with pytest.raises(UsageError, match="24"):
        model.predict(Documents.from_features(np.ones((1, 3))))
    with pytest.raises(UsageError, match="trained on feature rows"):
        model.predict(["text"])


def test_feature_rows_of_few_columns_come_back_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4)).astype(np.float32)
    Y = csr_array(np.eye(6, dtype=np.float32)[rng.integers(0, 6, 600)])
    data = Dataset.from_matrix(X, Y)
    model = Galaxc(**settings(epochs=1, initial={"source": "given"}, score="classifier")).fit(data)
    model.save(tmp_path / "model")
    again = Galaxc.load(tmp_path / "model")
    assert np.array_equal(again.folded_.space.vectors, model.folded_.space.vectors)
    assert same(again.predict(data, k=6), model.predict(data, k=6))


@pytest.mark.parametrize("which", ["learnt", "plain"])
def test_alone_as_in_a_batch(which: str, request: pytest.FixtureRequest, tiny: Parts) -> None:
    model: Galaxc = request.getfixturevalue(which)
    known = warm_start.protocol(tiny.train, tiny.test, seed=0, inductive=True).test
    together = model.predict(known, k=8)
    for i in range(len(known)):
        alone = model.predict(known.take([i]), k=8)
        assert np.array_equal(alone.labels[0], together.labels[i])
        assert np.array_equal(alone.scores[0], together.scores[i])


def test_numbered_texts_are_nobody_in_particular(tiny: Parts) -> None:
    """Plain texts have the numbers of training documents as ids, one alone that of the first."""
    texts = tiny.train.documents.joined()
    names = tiny.train.labels.ids
    tags = [[names[label] for label in tiny.train.Y[[row]].indices] for row in range(len(texts))]
    model = Galaxc(**settings(epochs=1)).fit(Dataset.from_texts(texts, tags))
    together = model.predict(texts[:30], k=5)
    for i in range(30):
        alone = model.predict(texts[i], k=5)
        assert np.array_equal(alone.labels[0], together.labels[i])
        assert np.array_equal(alone.scores[0], together.scores[i])
    assert [id_ for id_, _ in model.similar_documents(Documents.of(texts).take([7]), k=3)[0]].count("7") == 0


# --- warm start ---------------------------------------------------------------------------------------------------


def friends(n: int = 60) -> Dataset:
    """Labels come in pairs, a3 with b3, and no word of a document says which pair it is."""
    words = ["alpha", "beta", "gamma"]
    texts = [f"{words[i % 3]} {words[(i // 3) % 3]}" for i in range(n)]
    tags = [[f"a{i % 6}", f"b{i % 6}"] for i in range(n)]
    names = {f"{kind}{i}": f"{kind}{i} name{i}" for kind in "ab" for i in range(6)}
    return Dataset.from_texts(texts, tags, names)


@pytest.fixture(scope="module")
def befriended() -> Galaxc:
    with threads.limit(1):
        near = {"near": 0.0, "mask_positive": 0.5, "fill": False}
        return Galaxc(
            **settings(
                neighbourhood=near,
                negatives={"hard": 0},
                initial={"clusters": 4},
                stages={"joint": {"epochs": 60}},
                score="classifier",
            )
        ).fit(friends())


def test_a_revealed_label_decides(befriended: Galaxc) -> None:
    pairs = [(f"{one}{i}", f"{two}{i}") for i in range(6) for one, two in ("ab", "ba")]
    texts = ["alpha beta"] * len(pairs)
    cold = befriended.predict(texts, k=1)
    assert len(set(cold.labels[:, 0].tolist())) == 1
    warm = befriended.predict(texts, k=1, revealed=[[one] for one, _ in pairs])
    found = [befriended.labels_.ids[label] for label in warm.labels[:, 0]]
    hits = sum(label == two for label, (_, two) in zip(found, pairs, strict=True))
    assert hits >= 10
    assert all(label != one for label, (one, _) in zip(found, pairs, strict=True))


def test_a_document_without_a_known_word_but_with_a_label(befriended: Galaxc) -> None:
    answer = befriended.predict(["", ""], k=1, revealed=[["a2"], ["b4"]])
    found = [befriended.labels_.ids[label] for label in answer.labels[:, 0]]
    assert found == ["b2", "a4"]


def test_revealed_labels_in_a_file_count_in_prediction_and_evaluation(tmp_path: Path) -> None:
    data = friends()
    config = tmp_path / "settings.toml"
    config.write_text(
        """system = "galaxc"
width = 16
text.kind = "word"
score = "classifier"
initial.source = "surrogate"
initial.clusters = 4
initial.surrogate = {epochs = 2, lr = 0.02, batch_size = 64}
negatives = {hard = 0, random = 20}
neighbourhood = {near = 0.0, fill = false}
stages.joint = {epochs = 60, lr = 0.02, batch_size = 64}
"""
    )
    test = replace(
        data.take(range(12)),
        Y=csr_array(np.array([[f"b{i % 6}" == x for x in data.labels.ids] for i in range(12)], np.float32)),
        revealed=csr_array(
            np.array([[f"a{i % 6}" == x for x in data.labels.ids] for i in range(12)], np.float32)
        ),
        documents=Documents.of([Document(f"new-{i}", text="beta gamma") for i in range(12)]),
    )
    write({"train": data, "test": test}, tmp_path / "data", format="jsonl")
    model = tmp_path / "model"
    options = ["--config", str(config), "-o", str(model), "--jobs", "1", "-q"]
    assert main(["train", str(tmp_path / "data"), *options]) == 0
    lines = (
        {"id": "x", "text": "alpha beta", "revealed": ["a3"]},
        {"id": "y", "text": "alpha beta", "revealed": ["b5"]},
        {"id": "z", "text": "alpha beta"},
    )
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(orjson.dumps(line) for line in lines))
    out = tmp_path / "out.jsonl"
    assert main(["predict", str(model), str(tmp_path / "in.jsonl"), "-o", str(out), "-k", "12", "-q"]) == 0
    found = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    first = [str(line["labels"][0]) for line in found]
    assert "b3" in first[0]
    assert "a5" in first[1]
    assert len(found[2]["labels"]) == 12
    assert len(found[0]["labels"]) == len(found[1]["labels"]) == 11
    loaded = Galaxc.load(model)
    warm = float(loaded.evaluate(test).figures["P@1"]["value"])
    cold = float(loaded.evaluate(replace(test, revealed=None)).figures["P@1"]["value"])
    assert warm >= 80
    assert cold <= 40


def test_known_labels_help_where_training_never_saw_the_documents(learnt: Galaxc, tiny: Parts) -> None:
    warm = warm_start.protocol(tiny.train, tiny.test, seed=0, inductive=True).test
    assert p_at_1(learnt, warm) > 90


# --- links --------------------------------------------------------------------------------------------------------


def wordless() -> tuple[Dataset, Dataset]:
    """Documents of one and the same word, of which links alone say what they are about."""
    topics = [f"topic{i}" for i in range(5)]
    texts = [*(f"{topic} plain" for topic in topics for _ in range(4)), *(["common"] * 20)]
    tags = [*([topic] for topic in topics for _ in range(4)), *([topics[i % 5]] for i in range(20))]
    data = Dataset.from_texts(texts, tags, {topic: topic for topic in topics})
    ids = data.documents.ids
    # Each common document is linked with the first two of its topic.
    links = [(ids[20 + i], ids[4 * (i % 5) + j]) for i in range(20) for j in range(2)]
    edges = Edges([a for a, _ in links], [b for _, b in links], np.ones(len(links), np.float32))
    new = Dataset(
        Documents.of([Document(f"new-{i}", text="common") for i in range(5)]),
        data.labels,
        csr_array(np.eye(5, dtype=np.float32)),
        edges=Edges(
            [f"new-{i}" for i in range(5) for _ in range(2)] + ["?", "new-0"],
            [ids[4 * i + j] for i in range(5) for j in range(2)] + [ids[0], "nowhere"],
            np.ones(12, np.float32),
        ),
    )
    return replace(data, edges=edges), new


@pytest.fixture(scope="module")
def by_links() -> dict[str, Galaxc]:
    """Models that use links nowhere, for new documents, and in training too."""
    train, _ = wordless()
    with threads.limit(1):
        return {
            auxiliary: Galaxc(
                **settings(
                    epochs=40,
                    graph={"auxiliary": auxiliary},
                    neighbourhood={"near": 1.0},
                    negatives={"hard": 0},
                    initial={"clusters": 4},
                    score="classifier",
                )
            ).fit(train)
            for auxiliary in ("none", "predict", "train")
        }


def test_links_matter_where_they_are_used(by_links: dict[str, Galaxc]) -> None:
    _, new = wordless()
    found = {name: p_at_1(model, new) for name, model in by_links.items()}
    assert found["none"] == 20
    assert found["train"] == 100
    assert found["predict"] >= 80
    cold = {name: model.predict(new.documents, k=5) for name, model in by_links.items()}
    assert same(cold["none"], by_links["none"].predict(new, k=5))
    # Links change nothing in training unless they are asked for.
    assert same(cold["none"], cold["predict"])
    assert not same(cold["train"], cold["predict"])


def test_unknown_ends_of_links_are_ignored(by_links: dict[str, Galaxc]) -> None:
    _, new = wordless()
    model = by_links["train"]
    assert new.edges is not None
    clean = Edges(*(side[:10] for side in new.edges))
    assert same(model.predict(new), model.predict(replace(new, edges=clean)))
    assert same(model.predict(new), model.predict(new.documents, edges=clean))


def test_a_linked_document_without_a_known_word_is_no_unknown_one(by_links: dict[str, Galaxc]) -> None:
    train, _ = wordless()
    edges = Edges(["x", "x"], train.documents.ids[12:14], np.ones(2, np.float32))
    answer = by_links["train"].predict([Document("x", text="unheard")], k=1, edges=edges)
    assert answer.labels[0, 0] == 3


def test_a_link_to_a_document_that_joined_later_leads_there(
    by_links: dict[str, Galaxc], tmp_path: Path
) -> None:
    by_links["train"].save(tmp_path / "model")
    model = Galaxc.load(tmp_path / "model")
    added = Dataset.from_texts(["topic4 plain"], [["topic4"]])
    model.add_documents(replace(added, documents=Documents.of([Document("late", text="topic4 plain")])))
    edges = Edges(["x", "17"], ["late", "x"], np.array([2, 1], np.float32))
    linked = model.folded_.space.links(edges, model.labels_.ids).table(["x"], 4)
    assert linked.tolist() == [[model.folded_.space.graph.n_nodes - 1, 17, -1, -1]]
    assert model.predict([Document("x", text="common")], k=1, edges=edges).labels[0, 0] == 4


# --- transduction -------------------------------------------------------------------------------------------------


def test_answers_depend_on_the_others_only_where_that_is_asked_for(tiny: Parts, tmp_path: Path) -> None:
    for transductive in (True, False):
        model = Galaxc(**settings(epochs=1, graph={"transductive": transductive})).fit(tiny.train)
        together = model.predict(tiny.test, k=5)
        alone = model.predict(tiny.test.take([0]), k=5)
        assert np.array_equal(together.scores[0], alone.scores[0]) != transductive
        # Nobody stays in the graph.
        assert same(model.predict(tiny.test, k=5), together)


# --- documents that join ------------------------------------------------------------------------------------------


def newcomers(learnt: Galaxc, label: int = 38, n: int = 3) -> Dataset:
    """Documents of a word of training that no label has, all with one rare label."""
    data = Dataset.from_texts(
        [f"{noise_word(learnt)} thing" for _ in range(n)],
        [[learnt.labels_.ids[label], "a label that is new"]] * n,
    )
    documents = Documents.of(
        [Document(f"joined-{i}", text=text) for i, text in enumerate(data.documents.texts)]
    )
    return replace(data, documents=documents)


def noise_word(learnt: Galaxc) -> str:
    """A word of training documents that is in no label's text."""
    in_labels = {word for text in learnt.labels_.texts for word in text.split()}
    assert learnt.features_ is not None
    train = [word for word in KNOWN_WORDS if word not in in_labels]
    return next(word for word in train if learnt.features_.transform([word]).nnz)


KNOWN_WORDS: list[str] = []


@pytest.fixture(autouse=True)
def _words(tiny: Parts) -> None:
    KNOWN_WORDS[:] = sorted({word for text in tiny.train.documents.joined() for word in text.split()})


def test_a_document_that_joins_becomes_a_neighbour_and_votes(
    learnt: Galaxc, saved: Path, tiny: Parts, tmp_path: Path
) -> None:
    model = Galaxc.load(saved)
    word, label = noise_word(learnt), 38
    before = model.predict([word], k=40)
    n_nodes = model.folded_.space.graph.n_nodes
    assert model.add_documents(newcomers(learnt)) is model
    space = model.folded_.space
    assert space.graph.n_nodes == n_nodes + 3
    _, vectors = model._embedded(Documents.of([word]))
    near, _ = space.near(vectors, 4, np.array([-1]))
    assert set(near[0, :3].tolist()) == {n_nodes, n_nodes + 1, n_nodes + 2}
    seen = model.folded_.look(model._queries(Documents.of([word]), None, None))
    assert seen.votes.toarray()[0, label] == pytest.approx(3, abs=0.1)
    after = model.predict([word], k=40)

    def rank(answer: Any) -> int:
        return int(np.flatnonzero(answer.labels[0] == label)[0])

    assert rank(after) < rank(before)
    assert [id_ for id_, _ in model.similar_documents([word], k=3)[0]] == ["joined-0", "joined-1", "joined-2"]
    # The one that was saved is as it was; what joined is there after the next round trip.
    assert same(Galaxc.load(saved).predict([word], k=40), before)
    model.save(tmp_path / "more")
    again = Galaxc.load(tmp_path / "more")
    assert same(again.predict([word], k=40), after)
    assert same(again.predict(tiny.test), model.predict(tiny.test))
    again.add_documents([Document("one more", text=word)])
    assert again.folded_.space.graph.n_nodes == n_nodes + 4
    again.save(tmp_path / "most")
    assert same(Galaxc.load(tmp_path / "most").predict([word], k=40), again.predict([word], k=40))


def test_a_label_that_is_found_by_votes_alone(learnt: Galaxc, tiny: Parts) -> None:
    few = {"size": 1, "lexical": 0, "voters": 4, "effort": 10}
    model = Galaxc(**settings(epochs=1, score="classifier", shortlist=few)).fit(tiny.train)
    word = noise_word(learnt)
    before = model.predict([word], k=40).labels[0].tolist()
    assert 38 not in before
    model.add_documents(newcomers(learnt, n=4))
    after = [label for label in model.predict([word], k=40).labels[0].tolist() if label >= 0]
    # All four voters are new: what they say and the nearest label are all candidates.
    assert 38 in after
    assert len(after) == 2


def test_how_much_a_label_counts_is_not_what_joins_it(learnt: Galaxc, saved: Path, tmp_path: Path) -> None:
    heavy = newcomers(learnt)
    heavy.Y.data[:] = 7
    ones, sevens = Galaxc.load(saved), Galaxc.load(saved)
    ones.add_documents(newcomers(learnt))
    sevens.add_documents(heavy)
    word = noise_word(learnt)
    assert same(ones.predict([word], k=40), sevens.predict([word], k=40))
    sevens.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict([word], k=40), sevens.predict([word], k=40))


def test_documents_without_labels_join_what_is_near(saved: Path, tiny: Parts) -> None:
    model = Galaxc.load(saved)
    space = model.folded_.space
    some = [Document("near", text=tiny.test.documents.joined()[0]), Document("empty", text="")]
    _, vectors = model._embedded(Documents.of(some))
    near, _ = space.near(vectors, 4, np.full(2, -1))
    model.add_documents(some)
    graph = model.folded_.space.graph
    rows = [
        graph.indices[graph.indptr[n] : graph.indptr[n + 1]].tolist() for n in graph.node_of_document[-2:]
    ]
    assert rows == [sorted(near[0].tolist()), []]
    assert np.isfinite(model.predict(tiny.test).scores).all()


def test_ids_that_are_there_already_are_refused_and_change_nothing(
    learnt: Galaxc, saved: Path, tiny: Parts
) -> None:
    model = Galaxc.load(saved)
    before = model.folded_
    name = tiny.train.documents.ids[4]
    with pytest.raises(UsageError, match=f"a document with the id '{name}' is in the graph already"):
        model.add_documents([Document("fresh", text="a"), Document(name, text="b")])
    with pytest.raises(UsageError, match="two documents have the id 'x'"):
        model.add_documents([Document("x", text="a"), Document("x", text="b")])
    assert model.folded_ is before
    assert model.add_documents([]).folded_ is before
    model.add_documents(newcomers(learnt))
    with pytest.raises(UsageError, match="the id 'joined-0' is in the graph already"):
        model.add_documents(newcomers(learnt))
    with pytest.raises(UsageError, match="trained on text"):
        model.add_documents(Documents.from_features(np.ones((1, 3))))


# --- what is alike ------------------------------------------------------------------------------------------------


def test_similar_documents_share_labels_and_are_never_the_document_itself(
    learnt: Galaxc, tiny: Parts
) -> None:
    Y = tiny.train.Y.toarray() > 0
    row = {id_: i for i, id_ in enumerate(tiny.train.documents.ids)}
    some = tiny.train.take(range(3, 60))
    found = learnt.similar_documents(some, k=5)
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
    assert learnt.similar_documents([""], k=2) == [[]]
    every = learnt.similar_documents([tiny.test.documents.joined()[0]], k=1000)[0]
    words = np.diff(learnt._embedded(tiny.train.documents)[0].indptr) > 0
    assert len(every) == words.sum()
    with pytest.raises(UsageError, match="k must be at least 1"):
        learnt.similar_documents(["a"], k=0)


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
    model = Galaxc(
        **settings(epochs=30, shortlist={"embedding": embedding}, negatives={"hard": 0}, score="classifier")
    ).fit(twins)
    answer = model.similar_labels(twins.labels.ids, k=3)
    first = [row[0][0] for row in answer]
    assert all(len(row) == 3 for row in answer)
    assert all(own not in [id_ for id_, _ in row] for own, row in zip(twins.labels.ids, answer, strict=True))
    alike = [one.split("-")[1] == two.split("-")[1] for one, two in zip(twins.labels.ids, first, strict=True)]
    assert np.mean(alike) >= 0.9
    assert len(model.similar_labels(["x-fire"], k=1000)[0]) == 15
    assert model.similar_labels([]) == []


def test_similar_labels_of_an_unknown_one_is_an_error(learnt: Galaxc) -> None:
    with pytest.raises(UsageError, match="the model has no label 'unheard of'"):
        learnt.similar_labels(["label-1", "unheard of"])
    with pytest.raises(UsageError, match="k must be at least 1"):
        learnt.similar_labels(["label-1"], k=-1)


# --- what it tells about itself -----------------------------------------------------------------------------------


def test_insights_show_the_attention_by_frequency(learnt: Galaxc, plain: Galaxc) -> None:
    (insight,) = learnt.insights()
    assert list(insight.series) == ["hop 0", "hop 1", "hop 2", "hop 3"]
    sums = np.sum(list(insight.series.values()), axis=0)
    np.testing.assert_allclose(sums, 1, rtol=1e-5)
    assert list(plain.insights()[0].series) == ["hop 1", "hop 2", "hop 3"]


# --- awkward data -------------------------------------------------------------------------------------------------


def test_a_document_without_a_known_word_has_the_most_frequent_labels(learnt: Galaxc, tiny: Parts) -> None:
    counts = tiny.train.label_counts
    answer = learnt.predict(["", "unheard of", tiny.test.documents.joined()[0]], k=5)
    order = np.argsort(-counts, kind="stable")[:5]
    for row in (0, 1):
        assert answer.labels[row].tolist() == order.tolist()
        np.testing.assert_allclose(answer.scores[row], counts[order] / len(tiny.train), rtol=1e-6)
    assert answer.labels[2].tolist() != order.tolist()


def test_labels_without_texts_are_learnt_from_their_documents(tiny: Parts) -> None:
    labels = LabelSet(tiny.train.labels.ids, [""] * 40)
    nameless = [replace(part, labels=labels) for part in tiny]
    model = Galaxc(**settings(epochs=4)).fit(nameless[0], valid=nameless[1])
    assert p_at_1(model, nameless[2]) > 80


@pytest.mark.parametrize("score", ["classifier", "learnt", "ann"])
@pytest.mark.parametrize("labels", [["x"], ["x", "y"]])
@pytest.mark.parametrize("source", ["surrogate", "eclare"])
def test_one_or_two_labels_and_two_documents(labels: list[str], score: str, source: str) -> None:
    texts = [f"about {labels[i % len(labels)]}" for i in range(2)]
    data = Dataset.from_texts(texts, [[labels[i % len(labels)]] for i in range(2)], {k: k for k in labels})
    small = settings(score=score, initial={"source": source, "clusters": None})
    model = Galaxc(**small).fit(data, valid=data)
    answer = model.predict([*texts, ""], k=3)
    assert np.isfinite(answer.scores).all()
    assert ((answer.labels >= 0).sum(axis=1) >= 1).all()
    assert model.similar_labels(labels, k=5)[0] == [] or len(labels) == 2


@pytest.mark.parametrize("valid", [[], [0], [1]])
def test_validation_data_that_say_nothing_are_no_obstacle(valid: list[int]) -> None:
    data = small_set(12)
    # Document 1 has no label, document 0 one that training does not have.
    held = Dataset.from_texts(["red apple", "nothing"], [["else"], []]).take(valid)
    model = Galaxc(**settings(epochs=1)).fit(data, valid=held)
    assert (model.predict(["red"], k=2).labels >= 0).all()


def test_documents_that_are_labels_share_a_node_and_never_see_themselves(tmp_path: Path) -> None:
    data = small_set(24)
    # Documents named like labels: the colours and fruits have documents of their own.
    ids = [data.labels.ids[i] if i < 5 else f"document-{i}" for i in range(24)]
    documents = Documents(ids, [""] * 24, data.documents.texts)
    Y = data.Y.toarray()
    Y[np.arange(5), np.arange(5)] = 0
    data = replace(data, documents=documents, Y=csr_array(Y))
    model = Galaxc(**settings(epochs=2)).fit(data)
    graph = model.folded_.space.graph
    assert graph.node_of_label[:5].tolist() == list(range(5))
    assert graph.n_nodes == 24 + 7 - 5
    assert np.isfinite(model.predict(data, k=3).scores).all()
    answer = model.predict(data.take([0]), k=3, revealed=[[data.labels.ids[0]]])
    assert 0 not in answer.labels[0]
    model.save(tmp_path / "model")
    assert same(Galaxc.load(tmp_path / "model").predict(data), model.predict(data))


PREDICTS = """
import sys
sys.modules["torch"] = None
import numpy as np
import longtail
import longtail.errors
from longtail.types import Document
model = longtail.load(sys.argv[1])
texts = open(sys.argv[2], encoding="utf-8").read().splitlines()
answer = model.predict(texts, k=20)
model.add_documents([Document("new", text=texts[0])])
model.predict(texts)
np.savez(sys.argv[3], labels=answer.labels, scores=answer.scores)
try:
    type(model)().fit(longtail.Dataset.from_texts(["a"], [["b"]]))
except longtail.errors.MissingPackageError as error:
    print(error)
"""


def test_prediction_needs_no_torch_and_training_says_that_it_does(
    learnt: Galaxc, saved: Path, tiny: Parts, tmp_path: Path
) -> None:
    texts = [" ".join(text.split()) for text in tiny.test.documents.joined()[:20]]
    (tmp_path / "texts").write_text("\n".join(texts), encoding="utf-8")
    said = run_alone(PREDICTS, saved, tmp_path / "texts", tmp_path / "out.npz")
    assert "training 'galaxc'" in said
    assert "torch" in said
    answer = learnt.predict(texts, k=20)
    with np.load(tmp_path / "out.npz") as found:
        assert (found["labels"] == answer.labels).all()
        assert (found["scores"] == answer.scores).all()
    assert "torch" in sys.modules
    assert same(longtail.load(saved).predict(texts, k=20), answer)
