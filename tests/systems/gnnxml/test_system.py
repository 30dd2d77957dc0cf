"""GNN-XML from outside: short and strange texts, tiny data, labels without text, prediction without torch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from longtail.errors import ModelIntegrityError, UnsupportedError
from longtail.storage import write_json
from longtail.systems.gnnxml.system import Gnnxml
from longtail.types import Dataset
from tests.planted import Parts
from tests.systems.damage import fit_manifest, refused


def test_planted_labels_are_found(trained: Gnnxml, tiny: Parts) -> None:
    assert trained.evaluate(tiny.test).metrics["P@1"]["value"] > 60


def test_scores_are_probabilities(trained: Gnnxml, tiny: Parts) -> None:
    scores = trained.predict(tiny.test).scores
    assert scores.min() >= 0
    assert scores.max() <= 1


@pytest.mark.parametrize("n_documents", [1, 2, 10])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_tiny_data(n_documents: int, n_labels: int) -> None:
    texts = [f"red apple number {i}" if i % 2 else f"green pear number {i}" for i in range(n_documents)]
    tags = [[str(i % n_labels)] for i in range(n_documents)]
    model = Gnnxml().fit(Dataset.from_texts(texts, tags))
    found = model.predict(texts, k=1).indices[:, 0]
    assert (found >= 0).all()
    if n_documents == 10:
        assert found.tolist() == [i % n_labels for i in range(10)]


def test_no_configuration_short_texts_any_language_no_label_text() -> None:
    words = {"猫": "猫 が 好き", "犬": "犬 が 走る", "chat": "un chat noir", "Hund": "der Hund schläft"}
    texts = [f"{text} {i}" for i in range(12) for text in words.values()]
    data = Dataset.from_texts(texts, [[label] for _ in range(12) for label in words])
    assert not data.labels.has_text
    model = Gnnxml().fit(data)
    found = model.predict(list(words.values()), k=1).indices[:, 0]
    assert [model.labels_.ids[label] for label in found] == list(words)


def test_a_text_without_a_known_word_gets_no_label(trained: Gnnxml, tiny: Parts) -> None:
    known = tiny.test.documents.joined()[0]
    found = trained.predict(["", "qqq", known], k=3)
    assert (found.indices[:2] == -1).all()
    assert (found.scores[:2] == 0).all()
    assert (found.indices[2] >= 0).all()


def test_candidates_have_their_named_features(trained: Gnnxml, tiny: Parts) -> None:
    found = trained.candidates(tiny.test.documents, k=5)
    assert found.names == ("product", "cluster", "ranker")
    assert found.features.shape == (5 * len(tiny.test), 3)
    assert (found.candidates.top_k(5).indices == trained.predict(tiny.test, k=5).indices).all()


def test_a_saved_model_gives_the_same_features(trained: Gnnxml, saved: Path, tiny: Parts) -> None:
    one, other = (model.candidates(tiny.test.documents, k=9) for model in (trained, Gnnxml.load(saved)))
    assert (one.candidates.ids == other.candidates.ids).all()
    assert (one.candidates.scores == other.candidates.scores).all()
    assert (one.features == other.features).all()


def test_parts_of_a_folder_that_are_missing_or_exchanged_are_refused(saved: Path, tmp_path: Path) -> None:
    names = ["clusters", "rankers", "network"]
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        model = Path(shutil.copytree(saved, tmp_path / one))
        shutil.copyfile(saved / f"{one}.safetensors", model / f"{other}.safetensors")
        fit_manifest(model)
        refused(model, ModelIntegrityError)
    for name in ("features", "documents", "gnnxml.json", "rankers.safetensors"):
        model = Path(shutil.copytree(saved, tmp_path / f"without {name}"))
        path = model / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        fit_manifest(model)
        refused(model, ModelIntegrityError)


@pytest.mark.parametrize("content", [[], {}, {"features": None}, {"features": "elsewhere"}, "text"])
def test_a_wrong_name_of_text_features_is_refused(saved: Path, tmp_path: Path, content: object) -> None:
    model = Path(shutil.copytree(saved, tmp_path / "model"))
    write_json(model / "gnnxml.json", content)
    fit_manifest(model)
    assert "features" in refused(model, ModelIntegrityError)


def test_a_feature_matrix_is_refused(tiny: Parts) -> None:
    with pytest.raises(UnsupportedError, match="learns from text"):
        Gnnxml().fit(Dataset.from_matrix(np.eye(3, dtype=np.float32), tiny.train.Y[:3]))


def test_prediction_needs_no_torch(saved: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['transformers'] = None; import longtail; "
        "print(longtail.load(sys.argv[1]).predict(['bababade'], k=2).indices.shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "(1, 2)", done.stderr
