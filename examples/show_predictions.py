"""Show the predictions of a model for a few texts, and why: python examples/show_predictions.py MODEL DATA."""

import sys
import textwrap

import longtail
from longtail.data import read
from longtail.systems.base import System
from longtail.types import Dataset

SHOWN, LABELS, WORDS = 6, 3, 3
ENOUGH_WORDS = 8
"""Shorter texts say little to a person who does not know the data."""


def main(model_path: str, data_path: str) -> None:
    """Predict documents of the test part; mark the labels that they have, and name the words that raised them."""
    model = longtail.load(model_path)
    test = read(data_path, part="test", labels=model.labels_)
    texts = test.documents.joined(model.config.fields)
    rows = [row for row, text in enumerate(texts) if len(text.split()) >= ENOUGH_WORDS] or list(
        range(len(test))
    )
    print("Predictions for test documents (✓: right), and the words that raised their scores")
    for row in rows[:: max(1, len(rows) // SHOWN)][:SHOWN]:
        print("\n" + textwrap.fill(texts[row], 100, max_lines=3))
        show_labels(model, test, row)


def show_labels(model: System, test: Dataset, row: int) -> None:
    """The best labels of a document; pairs that are never scored, as a document as its own label, are left out."""
    right = {test.labels.ids[label] for label in test.Y[[row]].indices}
    filtered = set() if test.filtered is None else {test.labels.ids[i] for i in test.filtered[[row]].indices}
    found = model.explain(test.documents[row], k=LABELS + len(filtered)).labels
    for why in [why for why in found if why.id not in filtered][:LABELS]:
        documents = model.label_counts_[model.labels_.index[why.id]]
        print(
            f"  {'✓' if why.id in right else ' '} {why.id:<36} {why.score or 0:4.0%}"
            f"  {documents:>5,} training documents   {', '.join(why.top_words(WORDS))}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
