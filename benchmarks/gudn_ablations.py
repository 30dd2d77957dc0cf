"""What each part of GUDN is worth, on validation documents: python -m benchmarks.gudn_ablations --data DIR.

The guides of the paper's Table 3 and the label features of its Table 4, with the classifier alone: without the
linear tree and the learnt score, which would cover what a part does.
"""

from collections.abc import Sequence

from benchmarks import variants
from benchmarks.variants import Variants

ALONE = ["score=classifier", "linear=false", "lexical=0"]
VARIANTS: Variants = {
    "default": [],
    "both guides": ALONE,
    "no guide": [*ALONE, "guide.feature=false", "guide.link=false"],
    "feature guide": [*ALONE, "guide.link=false"],
    "link guide": [*ALONE, "guide.feature=false"],
    "one-hot labels": [*ALONE, "guide.labels=one-hot"],
    "GRank": [*ALONE, "loss=grank"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("gudn_ablations", __doc__, "gudn", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
