"""What each part of GNN-XML is worth, on validation documents: python -m benchmarks.gnnxml_ablations --data DIR.

The versions v1 to v4 of the paper's Figure 3, the clusters of its Figure 4, and what this implementation adds.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

EVERY = 100_000
"""More clusters than there are: all of them."""

TEXT_ALONE = [
    "ranker.vectors=none",
    "ranker.cluster_weight=0",
    f"ranker.negatives={EVERY}",
    f"ranker.beam={EVERY}",
]
"""The rankers without the network: no vector, no cluster probability, all labels against all documents."""

PAPER = [
    "network.branches=2",
    "ranker.solver.loss=logistic",
    "ranker.negatives=0",
    "ranker.cluster_weight=1",
    "ranker.vectors=vertices",
]
"""The network and the score of the paper, on light vectors."""

VARIANTS: Variants = {
    "default": [],
    "rankers without the network": TEXT_ALONE,
    "rankers with its readout": ["ranker.vectors=readout"],
    "rankers with the sum of vertices": ["ranker.vectors=vertices"],
    "vectors of words not trained": ["documents.train_words=false"],
    "the same, rankers with its readout": ["documents.train_words=false", "ranker.vectors=readout"],
    "the same, rankers with the sum of vertices": ["documents.train_words=false", "ranker.vectors=vertices"],
    "MiniLM sentences": [
        "documents.encoder=minilm",
        "documents.tokens=32",
        "documents.cache=.benchmarks/sentences",
    ],
    "no hard negatives": ["ranker.negatives=0"],
    "logistic rankers": ["ranker.solver.loss=logistic"],
    "cluster weight 0": ["ranker.cluster_weight=0"],
    "cluster weight 1": ["ranker.cluster_weight=1"],
    "product of the paper": PAPER,
    "v1: sum of vertices": ["network.layers=0"],
    "v2: + one GIN branch": ["network.concatenate=false"],
    "v3: + re-balance branch": ["network.branches=2", "network.concatenate=false"],
    "v4: + concatenated readout": ["network.branches=2"],
    "random clusters": ["clusters.method=random"],
    "k-means clusters": ["clusters.method=k-means"],
    "labels as TF-IDF": ["clusters.features=tfidf"],
    "20 clusters": ["clusters.number=20"],
    "200 clusters": ["clusters.number=200"],
}
"""The default is v4 with one branch."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("gnnxml_ablations", __doc__, "gnnxml", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
