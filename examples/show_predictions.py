"""Show what a model says about a few texts: python examples/show_predictions.py MODEL DATA."""

import sys

from rich.console import Console
from rich.table import Table

import longtail
from longtail.data import read

SHOWN = 6


def main(model_path: str, data_path: str) -> None:
    """Tag the first documents of the test part and mark the labels that a person gave them too."""
    model = longtail.load(model_path)
    test = read(data_path, part="test", labels=model.labels_)
    documents = test.documents[:SHOWN]
    answer = model.predict(documents, k=3)

    table = Table(title="Predictions (✓: the document really has this label)", show_lines=True)
    for heading in ("text", "label", "score", "documents seen in training"):
        table.add_column(heading, justify="left" if heading in ("text", "label") else "right")
    for i, text in enumerate(documents.joined(model.config.fields)):
        true = set(test.Y[[i]].indices)
        best = [(label, score) for label, score in zip(answer.labels[i], answer.scores[i], strict=True) if label >= 0]
        names = [model.labels_.texts[label] or model.labels_.ids[label] for label, _ in best]
        table.add_row(
            text.replace("\n", " ")[:100],
            "\n".join(
                f"{'✓' if label in true else ' '} {name}" for (label, _), name in zip(best, names, strict=True)
            ),
            "\n".join(f"{score:.2f}" for _, score in best),
            "\n".join(str(model.label_counts_[label]) for label, _ in best),
        )
    Console().print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
