"""What each part of GalaXC is worth, on validation documents: python -m benchmarks.galaxc_ablations --data DIR.

The rows of the paper's Tables 4, 7 and 8, and our additions. The linear tree is left out of all rows but the first,
so that it does not cover what a part does. Each row has the shares of right labels among the 100 of nearest
embedding: by initial embeddings, and by what the row's shortlist uses.
"""

import argparse
import time
from collections.abc import Sequence
from typing import cast

import numpy as np
from scipy.sparse import csr_array

from benchmarks.variants import FIGURES, Variants
from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.metrics.topk import recall
from longtail.shortlist.ann import AnnIndex
from longtail.systems import create
from longtail.systems.galaxc.folded import Queries
from longtail.systems.galaxc.system import Galaxc
from longtail.types import Dataset

ALONE = ["linear=false"]
FREE = [*ALONE, "classifier.node=false"]
VARIANTS: Variants = {
    "default": [],
    "no linear witness": ALONE,
    "classifier alone": [*ALONE, "score=classifier"],
    "ANN alone": [*ALONE, "score=ann", "shortlist.embedding=transformed"],
    "ANN alone, raw": [*ALONE, "score=ann", "shortlist.embedding=raw"],
    "no attention": [*ALONE, "classifier.attention=false"],
    "2 hops": [*ALONE, "graph.fanouts=[4, 3]"],
    "1 hop": [*ALONE, "graph.fanouts=[4]"],
    "hops alone": [*ALONE, "graph.own=false"],
    "free classifiers": FREE,
    "free classifiers, GIN": [*FREE, "graph.encoder=gin"],
    "free classifiers, GraphSAGE": [*FREE, "graph.encoder=graphsage"],
    "surrogate embeddings": [*ALONE, "initial.source=surrogate"],
    "own labels seen (paper)": [
        *ALONE,
        "neighbourhood.near=0",
        "neighbourhood.mask_positive=0",
        "neighbourhood.ask_visible=true",
    ],
    "own labels seen, half hidden": [*ALONE, "neighbourhood.near=0"],
    "nearest nodes seen": [*ALONE, "neighbourhood.near=1"],
    "hard negatives": [*ALONE, "negatives.hard=5"],
    "cross entropy": [*ALONE, "loss=bce"],
}


def recall_at_100(model: Galaxc, valid: Dataset) -> tuple[float, float]:
    """Percent of right labels among 100 by initial embeddings, and by the embeddings of the shortlist."""
    valid = valid.relabelled(model.labels_.extended(valid.labels.ids))
    Y = csr_array(valid.Y[:, : len(model.labels_)])
    X, vectors = model._embedded(valid.documents)
    folded = model.folded_
    first, _ = AnnIndex.build(folded.label_vectors).search(vectors, 100)
    seen = folded.look(Queries(X, vectors, np.full(len(vectors), -1)))
    second, _ = folded.labels.search(folded.query(seen), 100)
    return 100 * pooled_recall(first, Y), 100 * pooled_recall(second, Y)


def pooled_recall(labels: np.ndarray, Y: csr_array) -> float:
    """The share of all pairs that are found: documents of many labels count as many times."""
    sizes = np.diff(Y.indptr)
    some = np.flatnonzero(sizes)
    each = np.array([recall(labels[i : i + 1], Y[[i]], labels.shape[1]) for i in some])
    return float((each * sizes[some]).sum() / sizes.sum())


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.galaxc_ablations", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument(
        "--variants", default=";".join(VARIANTS), help="names of variants, with ; between them"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of them all"
    )
    options = parser.parse_args(arguments)
    parts = read_folder(options.data, parts=("train", "valid"))
    headings = ["variant", *FIGURES, "initial recall@100", "recall@100", "train s"]
    print("| " + " | ".join(headings) + " |\n" + "|---" * len(headings) + "|", flush=True)
    for name in options.variants.split(";"):
        settings = parse_overrides([*options.set, *VARIANTS[name]])
        model = cast(Galaxc, create("galaxc", merge({"fields": options.fields.split(",")}, settings)))
        start = time.perf_counter()
        model.fit(parts["train"], valid=parts["valid"])
        seconds = time.perf_counter() - start
        figures = model.evaluate(parts["valid"]).figures
        cells = [f"{figures[figure]['value']:.2f}" for figure in FIGURES]
        cells += [f"{share:.1f}" for share in recall_at_100(model, parts["valid"])]
        print(f"| {name} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
