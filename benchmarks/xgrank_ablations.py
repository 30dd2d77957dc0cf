"""What each part of X-GRank is worth, on validation documents: python -m benchmarks.xgrank_ablations --data DIR.

The loss and the label features of the paper's Table IV; what is beyond the paper (tokens of documents, vectors of
label texts by the encoder); pooling and layers of the encoder; and how many of its layers are trained.
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
    "no encoded label texts": ["labels.encoded=false"],
    "[CLS], 1 layer": ["encoder.pooling=cls", "encoder.layers=1"],
    "[CLS], 5 layers": ["encoder.pooling=cls", "encoder.layers=5"],
    "mean, 3 layers": ["encoder.pooling=mean", "encoder.layers=3"],
    "mean, 5 layers": ["encoder.pooling=mean", "encoder.layers=5"],
    # The paper's parts that the defaults do not have, with the loss and the labels of the defaults.
    "five [CLS] states, nothing encoded": [
        "encoder.pooling=cls",
        "encoder.layers=5",
        "encoder.standardise=false",
        "labels.encoded=false",
    ],
    # Epochs that take about the same processor time on 4,000 titles with labels.encoded=false.
    "frozen": ["encoder.frozen=6", "train.epochs=16"],
    "last two layers": ["encoder.frozen=4", "train.epochs=4"],
    "all layers": ["encoder.frozen=none", "train.epochs=2"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("xgrank_ablations", __doc__, "xgrank", VARIANTS, arguments=arguments)


if __name__ == "__main__":
    main()
