"""Ablations of GUDN on validation documents: python -m benchmarks.gudn_ablations --data DIR.

The guides of the paper's Table 3 and the label features of its Table 4.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

VARIANTS: Variants = {
    "both guides": [],
    "no guide": ["guide.feature=false", "guide.link=false"],
    "feature guide": ["guide.link=false"],
    "link guide": ["guide.feature=false"],
    "one-hot labels": ["guide.labels=one-hot"],
    "one-hot labels, feature guide": ["guide.labels=one-hot", "guide.link=false"],
    "GRank": ["loss=grank"],
    "sum": ["guide.distance=sum"],
    "sum, feature guide": ["guide.distance=sum", "guide.link=false"],
    "cosine": ["guide.distance=cosine"],
    "cosine, feature guide": ["guide.distance=cosine", "guide.link=false"],
    "mean over tokens": ["encoder.pooling=mean"],
    "mean over tokens, GRank": ["encoder.pooling=mean", "loss=grank"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("gudn_ablations", __doc__, "gudn", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
