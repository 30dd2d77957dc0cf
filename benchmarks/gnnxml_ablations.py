"""What each part of GNN-XML is worth, on validation documents: python -m benchmarks.gnnxml_ablations --data DIR.

The versions v1 to v4 of the paper's Figure 3 and the clusters of its Figure 4, with the paper's score: without the
linear tree and the learnt score, which would cover what a part does.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

PAPER = ["score=product", "linear=false"]
VARIANTS: Variants = {
    "default": [],
    "no linear witness": ["linear=false"],
    "v1: sum of vertices": [*PAPER, "network.layers=0", "network.branches=1"],
    "v2: + one GIN branch": [*PAPER, "network.branches=1", "network.concatenate=false"],
    "v3: + re-balance branch": [*PAPER, "network.concatenate=false"],
    "v4: + concatenated readout": PAPER,
    "v4 with one branch": [*PAPER, "network.branches=1"],
    "random clusters": [*PAPER, "clusters.method=random"],
    "k-means clusters": [*PAPER, "clusters.method=k-means"],
    "labels as TF-IDF": [*PAPER, "clusters.features=tfidf"],
    "20 clusters": [*PAPER, "clusters.number=20"],
    "200 clusters": [*PAPER, "clusters.number=200"],
    "rankers without embedding": [*PAPER, "ranker.embedding=false"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("gnnxml_ablations", __doc__, "gnnxml", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
