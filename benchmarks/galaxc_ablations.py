"""What each part of GalaXC is worth, on validation documents: python -m benchmarks.galaxc_ablations --data DIR.

The rows of the paper's Tables 4, 7 and 8, and our additions. The linear tree is left out of all rows but the first,
so that it does not cover what a part does. Each row has the shares of right labels among the 100 of nearest
embedding: by initial embeddings, and by what the row's shortlist uses.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
from scipy.sparse import csr_array

from benchmarks import variants
from benchmarks.variants import Variants
from longtail.metrics.topk import recall
from longtail.shortlist.ann import AnnIndex
from longtail.systems.base import System
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


def recall_by_initial(model: System, valid: Dataset) -> str:
    """Percent of right labels among the 100 of nearest initial embedding."""
    Y, queries = _asked(model, valid)
    found, _ = AnnIndex.build(cast(Galaxc, model).folded_.label_vectors).search(queries.vectors, 100)
    return f"{100 * pooled_recall(found, Y):.1f}"


def recall_by_shortlist(model: System, valid: Dataset) -> str:
    """Percent of right labels among 100 by the embeddings of the shortlist."""
    Y, queries = _asked(model, valid)
    folded = cast(Galaxc, model).folded_
    found, _ = folded.labels.search(folded.query(folded.look(queries)), 100)
    return f"{100 * pooled_recall(found, Y):.1f}"


def _asked(model: System, valid: Dataset) -> tuple[csr_array, Queries]:
    galaxc = cast(Galaxc, model)
    valid = valid.relabelled(galaxc.labels_.extended(valid.labels.ids))
    X, vectors = galaxc._embedded(valid.documents)
    return csr_array(valid.Y[:, : len(galaxc.labels_)]), Queries(X, vectors, np.full(len(vectors), -1))


def pooled_recall(labels: np.ndarray, Y: csr_array) -> float:
    """The share of all pairs that are found: documents of many labels count as many times."""
    sizes = np.diff(Y.indptr)
    some = np.flatnonzero(sizes)
    each = np.array([recall(labels[i : i + 1], Y[[i]], labels.shape[1]) for i in some])
    return float((each * sizes[some]).sum() / sizes.sum())


MEASURES: variants.Measures = {"initial recall@100": recall_by_initial, "recall@100": recall_by_shortlist}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("galaxc_ablations", __doc__, "galaxc", VARIANTS, measures=MEASURES, arguments=arguments)


if __name__ == "__main__":
    main()
