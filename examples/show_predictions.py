"""Show the predictions of a model for a few texts: python examples/show_predictions.py MODEL DATA."""

import sys
import textwrap

from rich.console import Console
from rich.table import Table

import longtail
from longtail.data import read

SHOWN = 6


def main(model_path: str, data_path: str) -> None:
    """Predict the first documents of the test part and mark the labels that they have."""
    model = longtail.load(model_path)
    test = read(data_path, part="test", labels=model.labels_)
    documents = test.documents[:SHOWN]
    answer = model.predict(documents, k=3)

    table = Table(title="Predictions (✓: right)")
    table.add_column("text")
    table.add_column("label", no_wrap=True)
    table.add_column("score", justify="right")
    table.add_column("n", justify="right")
    for i, text in enumerate(documents.joined(model.config.fields)):
        true = set(test.Y[[i]].indices)
        shown = textwrap.wrap(text, 36, max_lines=3)
        for rank, (label, score) in enumerate(zip(answer.indices[i], answer.scores[i], strict=True)):
            if label >= 0:
                name = model.labels_.texts[label] or model.labels_.ids[label]
                mark = "✓" if label in true else " "
                line = shown[rank] if rank < len(shown) else ""
                table.add_row(line, f"{mark} {name}", f"{score:.2f}", str(model.label_counts_[label]))
        table.add_section()
    table.caption = "n: training documents of the label"
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
