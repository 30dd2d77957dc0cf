"""What each part of ECLARE is worth, on validation documents: python -m benchmarks.eclare_ablations --data DIR.

The rows of the paper's Table 5 and our additions. The linear tree and the match of texts are left out of all rows
but the first two, so that they do not cover what a part does.
"""

from collections.abc import Sequence

from benchmarks import variants

ALONE = ["linear=false"]
VARIANTS: variants.Variants = {
    "default": [],
    "no linear witness": ALONE,
    "no linear, no lexical": [*ALONE, "shortlist.lexical=0"],
    "product of scores": [*ALONE, "score=product"],
    "no graph": [*ALONE, "graph.kind=none"],
    "no refinement": [*ALONE, "classifier.refinement=false"],
    "no LTE": [*ALONE, "classifier.lte=false"],
    "no GALE": [*ALONE, "classifier.gale=none"],
    "GCN": [*ALONE, "classifier.gale=gcn"],
    "LightGCN": [*ALONE, "classifier.gale=lightgcn"],
    "co-occurrence": [*ALONE, "graph.kind=cooccurrence"],
    "Perron": [*ALONE, "graph.normalisation=perron"],
    "page rank negatives": [*ALONE, "negatives.source=pagerank"],
    "shortlist negatives": [*ALONE, "negatives.source=shortlist"],
    "attention": [*ALONE, "classifier.combine=attention"],
    "order 2": [*ALONE, "classifier.order=2"],
    "1024 clusters": [*ALONE, "shortlist.clusters=1024"],
    "no GAME": [*ALONE, "game.clusters=false", "game.negatives=false", "game.labels=false"],
    "all refinement alike": [*ALONE, "classifier.shrink=0"],
    "negatives as sampled": [*ALONE, "negatives.corrected=false"],
    "softmax": [*ALONE, "rank_loss=softmax", "meta_loss=softmax"],
    "cross entropy": [*ALONE, "rank_loss=bce", "meta_loss=bce"],
    "frozen tokens": [*ALONE, "tokens=frozen"],
    "three members": ["members=3"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("eclare_ablations", __doc__, "eclare", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
