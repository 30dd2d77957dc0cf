"""What each part of GalaXC is worth, on validation documents: python -m benchmarks.galaxc_ablations --data DIR.

The rows of the paper's Tables 4, 7 and 8, and our additions. Each row has the recall of the 100 labels of nearest
embedding: by initial embeddings, and by the embeddings of the row's shortlist.
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
from longtail.systems.galaxc.predict import GraphDocuments
from longtail.systems.galaxc.system import Galaxc
from longtail.text.feature_store import FeatureStore
from longtail.types import Dataset

FREE = ["classifier.node=false"]
VARIANTS: Variants = {
    "default": [],
    "ANN alone": ["score=ann", "shortlist.embedding=transformed"],
    "ANN alone, raw": ["score=ann", "shortlist.embedding=raw"],
    "no voters": ["shortlist.voters=0"],
    "no attention": ["classifier.attention=false"],
    "2 hops": ["graph.fanouts=[4, 3]"],
    "1 hop": ["graph.fanouts=[4]"],
    "no hops": ["graph.fanouts=[]"],
    "hops alone": ["graph.include_initial=false"],
    "free classifiers": FREE,
    "free classifiers, GIN": [*FREE, "graph.encoder=gin"],
    "free classifiers, GraphSAGE": [*FREE, "graph.encoder=graphsage"],
    "surrogate embeddings": ["initial.source=surrogate"],
    "encoder embeddings": ["initial.source=encoder", "initial.encoder=minilm"],
    "own labels visible (paper)": [
        "neighbourhood.near=0",
        "neighbourhood.mask_positive=0",
        "neighbourhood.visible_in_loss=true",
    ],
    "own labels visible, half hidden": ["neighbourhood.near=0"],
    "nearest nodes": ["neighbourhood.near=1"],
    "hard negatives": ["negatives.hard=5"],
    "cross entropy": ["loss=bce"],
}


def recall_by_initial(model: System, valid: Dataset) -> str:
    """Percent of right labels among the 100 of nearest initial embedding."""
    Y, encoded = _encoded(model, valid)
    found, _ = AnnIndex.build(encoded.predictor.label_vectors).search(encoded.queries.vectors, 100)
    return f"{100 * pooled_recall(found, Y):.1f}"


def recall_by_shortlist(model: System, valid: Dataset) -> str:
    """Percent of right labels among 100 by the embeddings of the shortlist."""
    Y, encoded = _encoded(model, valid)
    found = encoded.predictor.nearest_labels(encoded.resolutions, 100).top_k(100).indices
    return f"{100 * pooled_recall(found, Y):.1f}"


def _encoded(model: System, valid: Dataset) -> tuple[csr_array, GraphDocuments]:
    """Labels and documents, without revealed labels and edges."""
    valid = valid.relabelled(model.labels_.extended(valid.labels.ids))
    documents = valid.documents
    encoded = cast(GraphDocuments, cast(Galaxc, model)._encode(documents, FeatureStore(documents)))
    return csr_array(valid.Y[:, : len(model.labels_)]), encoded


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
