"""Show the predictions of a model for a few texts, and why: python examples/show_predictions.py MODEL DATA."""

import sys
import textwrap

from rich.console import Console
from rich.table import Table

import longtail
from longtail.data import read
from longtail.systems.base import System
from longtail.types import Dataset

SHOWN = 6
WORDS = 3


def main(model_path: str, data_path: str) -> None:
    """Predict documents of the test part; mark the labels that they have, and name the words that raised them."""
    model = longtail.load(model_path)
    test = read(data_path, part="test", labels=model.labels_)
    table = Table(
        title="Predictions for test documents (✓: right)", caption="n: training documents of the label"
    )
    table.add_column("text")
    table.add_column("label", no_wrap=True)
    table.add_column("score", justify="right")
    table.add_column("n", justify="right")
    table.add_column("because of")
    for row in range(0, len(test), max(1, len(test) // SHOWN))[:SHOWN]:
        add_document(table, model, test, row)
    Console().print(table)


def add_document(table: Table, model: System, test: Dataset, row: int) -> None:
    """The three best labels of a document, each with the words that raised its score most."""
    document = test.documents[row]
    names = [test.labels.ids[label] for label in test.Y[[row]].indices]
    text = textwrap.wrap(test.documents[row : row + 1].joined(model.config.fields)[0], 34, max_lines=3)
    for rank, why in enumerate(model.explain(document, k=3).labels):
        table.add_row(
            text[rank] if rank < len(text) else "",
            f"{'✓' if why.id in names else ' '} {why.id}",
            f"{why.score or 0:.2f}",
            str(model.label_counts_[model.labels_.index[why.id]]),
            ", ".join(why.top_words(WORDS)),
        )
    table.add_section()


if __name__ == "__main__":
    main(*sys.argv[1:])
