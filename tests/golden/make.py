"""Make the golden models of the current format: python -m tests.golden.make (once per format, then never again)."""

import os
import sys
import tempfile
from pathlib import Path

import orjson

from longtail import threads
from longtail.systems import REGISTRY, create
from longtail.systems.model_folder import FORMAT
from tests.contract.test_systems import FASTEST, with_encoder
from tests.planted import parts_of, planted
from tests.tiny_encoders import write_planted

HERE = Path(__file__).parent
K, N_LABELS = 5, 20


def main() -> None:
    """Train every system on planted data, save the model and its predictions for the test texts."""
    data = parts_of(planted(n_documents=120, n_labels=N_LABELS))
    texts = data.test.documents.joined()
    names = sys.argv[1:] or sorted(REGISTRY)
    with tempfile.TemporaryDirectory() as folder, threads.limit(1):
        # A model keeps the name of its encoder: one that says nothing of this machine.
        os.chdir(folder)
        write_planted(Path("encoder"), n_labels=N_LABELS)
        for name in names:
            settings = with_encoder(FASTEST.get(name, {}), "encoder")
            model = create(name, settings).fit(data.train, valid=data.valid)
            model.save(HERE / f"{name}-format-{FORMAT}", force=True)
            answer = model.predict(texts, k=K)
            expected = {"texts": texts, "labels": answer.indices.tolist(), "scores": answer.scores.tolist()}
            (HERE / f"{name}-format-{FORMAT}.json").write_bytes(orjson.dumps(expected))


if __name__ == "__main__":
    main()
