"""Make the golden model of the current format: python -m tests.golden.make (once a format, then never again)."""

from pathlib import Path

import orjson

from longtail.systems.linear.system import LinearTree
from longtail.systems.model_folder import FORMAT
from tests.planted import parts_of, planted

HERE = Path(__file__).parent
K = 5


def main() -> None:
    """Train on planted data, save the model and what it says about the test texts."""
    data = parts_of(planted(n_documents=120, n_labels=20))
    model = LinearTree(tree={"leaf_size": 4, "arity": 4, "trees": 2}).fit(data.train, valid=data.valid)
    model.save(HERE / f"linear-format-{FORMAT}", force=True)
    texts = data.test.documents.joined()
    answer = model.predict(texts, k=K)
    expected = {"texts": texts, "labels": answer.labels.tolist(), "scores": answer.scores.tolist()}
    (HERE / f"linear-format-{FORMAT}.json").write_bytes(orjson.dumps(expected))


if __name__ == "__main__":
    main()
