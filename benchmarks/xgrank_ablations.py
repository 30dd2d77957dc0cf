"""What each part of X-GRank is worth, on validation documents: python -m benchmarks.xgrank_ablations --data DIR.

The loss and the label features of the paper's Table IV, with the network alone: without the linear tree and the
learnt score, which would cover what a part does.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

ALONE = ["score=ranker", "linear=false", "lexical=0"]
VARIANTS: Variants = {
    "default": [],
    "the network alone": ALONE,
    "binary cross entropy": [*ALONE, "loss=bce"],
    "no label features": [*ALONE, "labels.text=false"],
    "no label features, cross entropy": [*ALONE, "labels.text=false", "loss=bce"],
    "no tokens of documents": [*ALONE, "labels.bag=false"],
    "no tokens of documents, cross entropy": [*ALONE, "labels.bag=false", "loss=bce"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("xgrank_ablations", __doc__, "xgrank", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
