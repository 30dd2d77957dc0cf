"""Labels that are known already: never given again, and used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from scipy.sparse import csr_array

from longtail import threads
from longtail.cli.main import main
from longtail.data import warm_start
from longtail.data.writing import write
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset, Document, Documents
from tests.systems.galaxc.worlds import p_at_1, settings


def pairs_of_labels(n: int = 60) -> Dataset:
    """Labels come in pairs, a3 with b3, and no word of a document tells which pair it is."""
    words = ["alpha", "beta", "gamma"]
    texts = [f"{words[i % 3]} {words[(i // 3) % 3]}" for i in range(n)]
    tags = [[f"a{i % 6}", f"b{i % 6}"] for i in range(n)]
    names = {f"{kind}{i}": f"{kind}{i} name{i}" for kind in "ab" for i in range(6)}
    return Dataset.from_texts(texts, tags, names)


SETTINGS = settings(
    neighbourhood={"near": 0.0, "mask_positive": 0.5, "fill": False},
    negatives={"hard": 0},
    initial={"clusters": 4},
    stages={"joint": {"epochs": 60}},
)


@pytest.fixture(scope="module")
def paired() -> Galaxc:
    with threads.limit(1):
        return Galaxc(**SETTINGS).fit(pairs_of_labels())


def test_a_revealed_label_decides(paired: Galaxc) -> None:
    pairs = [(f"{one}{i}", f"{two}{i}") for i in range(6) for one, two in ("ab", "ba")]
    texts = ["alpha beta"] * len(pairs)
    cold = paired.predict(texts, k=1)
    assert len(set(cold.indices[:, 0].tolist())) == 1
    warm = paired.predict(texts, k=1, revealed=[[one] for one, _ in pairs])
    found = [paired.labels_.ids[label] for label in warm.indices[:, 0]]
    hits = sum(label == two for label, (_, two) in zip(found, pairs, strict=True))
    assert hits >= 10
    assert all(label != one for label, (one, _) in zip(found, pairs, strict=True))


def test_a_document_without_a_known_word_but_with_a_label(paired: Galaxc) -> None:
    answer = paired.predict(["", ""], k=1, revealed=[["a2"], ["b4"]])
    found = [paired.labels_.ids[label] for label in answer.indices[:, 0]]
    assert found == ["b2", "a4"]


def test_revealed_labels_in_a_file_count_in_prediction_and_evaluation(tmp_path: Path) -> None:
    data = pairs_of_labels()
    config = tmp_path / "settings.toml"
    config.write_text(
        """system = "galaxc"
width = 16
text.kind = "word"
initial.source = "surrogate"
initial.clusters = 4
initial.surrogate = {epochs = 2, lr = 0.02, batch_size = 64}
negatives = {hard = 0, random = 20}
neighbourhood = {near = 0.0, fill = false, leave_out = false}
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
    warm = float(loaded.evaluate(test).metrics["P@1"]["value"])
    cold = float(loaded.evaluate(replace(test, revealed=None)).metrics["P@1"]["value"])
    assert warm >= 80
    assert cold <= 40


def test_known_labels_help_where_training_never_saw_the_documents() -> None:
    data = pairs_of_labels()
    train = data.take(range(48))
    warm = warm_start.protocol(train, data.take(range(48, 60)), seed=0, inductive=True).test
    model = Galaxc(**SETTINGS).fit(train)
    assert p_at_1(model, warm) > 90
    assert p_at_1(model, replace(warm, revealed=None, filtered=warm.revealed)) < 50
