"""What each part of GNN-XML is worth, on validation documents: python -m benchmarks.gnnxml_ablations --data DIR.

The versions v1 to v4 of the paper's Figure 3 and the clusters of its Figure 4.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

VARIANTS: Variants = {
    "v1: sum of vertices": ["network.layers=0", "network.branches=1"],
    "v2: + one GIN branch": ["network.branches=1", "network.concatenate=false"],
    "v3: + re-balance branch": ["network.concatenate=false"],
    "v4: + concatenated readout (default)": [],
    "v4 with one branch": ["network.branches=1"],
    "random clusters": ["clusters.method=random"],
    "k-means clusters": ["clusters.method=k-means"],
    "labels as TF-IDF": ["clusters.features=tfidf"],
    "20 clusters": ["clusters.number=20"],
    "200 clusters": ["clusters.number=200"],
    "rankers without embedding": ["ranker.embedding=false"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("gnnxml_ablations", __doc__, "gnnxml", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
