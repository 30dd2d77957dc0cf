"""What each part of X-GRank is worth, on validation documents: python -m benchmarks.xgrank_ablations --data DIR.

The loss and the label features of the paper's Table IV, and the tokens of documents, which are beyond the paper.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

VARIANTS: Variants = {
    "default": [],
    "binary cross entropy": ["loss=bce"],
    "no label features": ["labels.text=false"],
    "no label features, cross entropy": ["labels.text=false", "loss=bce"],
    "no tokens of documents": ["labels.bag=false"],
    "no tokens of documents, cross entropy": ["labels.bag=false", "loss=bce"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("xgrank_ablations", __doc__, "xgrank", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
