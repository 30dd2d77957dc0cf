"""Ablations of ECLARE on validation documents: python -m benchmarks.eclare_ablations --data DIR.

The rows of the paper's Tables 4, 5 and 7, named as there, change the settings of examples/eclare-paper.toml.
ECLARE is the row with GAME of Table 4 and that of 2^15 clusters of Table 7 as well. The rows below them change the
defaults of longtail. The paper trains for 40 epochs in all; for shorter runs add, to all rows,
--set stages.embed.epochs=2 --set stages.shortlist.epochs=5 --set stages.rank.epochs=5.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks import variants
from longtail.config import read_toml
from longtail.metrics.clusters import mutual_information_loss
from longtail.systems.base import System
from longtail.systems.eclare.system import Eclare
from longtail.types import Dataset

PAPER_FILE = Path(__file__).parents[1] / "examples" / "eclare-paper.toml"


def as_overrides(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The settings of a TOML file as on the command line."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from as_overrides(value, f"{prefix}{key}.")
        elif f"{prefix}{key}" != "system":
            yield f"{prefix}{key}={str(value).lower() if isinstance(value, bool) else value}"


PAPER = list(as_overrides(read_toml(PAPER_FILE)))
NO_GAME = ["game.clusters=false", "game.negatives=false", "game.labels=false"]

TABLE_4: dict[str, list[str]] = {"ECLARE without GAME": [*PAPER, *NO_GAME]}

TABLE_5: dict[str, list[str]] = {
    "ECLARE": PAPER,
    "ECLARE-GCN": [*PAPER, "classifier.gale=gcn"],
    "ECLARE-LightGCN": [*PAPER, "classifier.gale=lightgcn"],
    "ECLARE-Cooc": [*PAPER, "graph.kind=cooccurrence"],
    "ECLARE-PN": [*PAPER, "graph.normalisation=perron"],
    "ECLARE-PPR": [*PAPER, "negatives.source=pagerank"],
    # The graph is in GALE alone.
    "ECLARE-NoGraph": [*PAPER, *NO_GAME, "shortlist.clustering=centroids", "classifier.initialise=text"],
    "ECLARE-NoLTE": [*PAPER, "classifier.lte=false"],
    "ECLARE-NoRefine": [*PAPER, "classifier.refinement=false"],
    "ECLARE-SUM": [*PAPER, "classifier.combine=sum"],
    "ECLARE-k=2": [*PAPER, "classifier.order=2"],
    # 2^13 clusters of 131,073 labels.
    "ECLARE-8K": [*PAPER, "shortlist.labels_per_cluster=16"],
}

TABLE_7: dict[str, list[str]] = {
    # Of 131,073 labels.
    "ECLARE C=2^17": [*PAPER, "shortlist.labels_per_cluster=1"],
    "DECAF": [*PAPER, "shortlist.clustering=centroids"],
    "MACH": [*PAPER, "shortlist.clustering=random"],
}

DEFAULTS: dict[str, list[str]] = {
    "default": [],
    "default, attention": ["classifier.combine=attention"],
    "default, no label documents": ["label_documents=none"],
    "default, label documents in Module IV": ["label_documents=all"],
    "default, token scale 2": ["token_scale=2"],
    "default, no shrinkage": ["classifier.shrinkage=0"],
    "default, dropout 0.1": ["dropout=0.1"],
    "default, 4 epochs": ["stages.rank.epochs=4"],
    "default, 4 epochs of rate 0.01": ["stages.rank.epochs=4", "stages.rank.lr=0.01"],
    "default, no LTE": ["classifier.lte=false"],
    "default, no GALE": ["classifier.gale=none"],
    "default, no refinement": ["classifier.refinement=false"],
    "default, no graph": ["graph.kind=none"],
    "default, all edges": ["graph.keep=400", "graph.max_distance=none"],
    "default, Module I on clusters": ["embed_on=clusters"],
    "default, frozen tokens": ["tokens=frozen"],
    "default, shortlist negatives": ["negatives.source=shortlist"],
    "default, no sampling correction": ["negatives.corrected=false"],
    "default, cross entropy": ["rank_loss=bce", "meta_loss=bce"],
    "default, softmax": ["rank_loss=softmax", "meta_loss=softmax"],
    "default, product": ["score=product"],
    "default, three models": ["models=3"],
}

VARIANTS: variants.Variants = {**TABLE_5, **TABLE_4, **TABLE_7, **DEFAULTS}


def lost_information(model: System, valid: Dataset) -> str:
    """Percent of the mutual information of documents and labels that clusters lose (Table 7)."""
    weights = cast(Eclare, model).models_[0].weights
    if not len(weights.cluster_classifiers):
        return "-"
    cluster_of = np.empty(len(weights.members), np.int64)
    cluster_of[weights.members] = np.repeat(
        np.arange(len(weights.member_ptr) - 1), np.diff(weights.member_ptr)
    )
    valid = valid.relabelled(model.labels_.extended(valid.labels.ids))
    return f"{100 * mutual_information_loss(valid.Y[:, : len(cluster_of)], cluster_of):.2f}"


MEASURES: variants.Measures = {"LMI": lost_information}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("eclare_ablations", __doc__, "eclare", VARIANTS, measures=MEASURES, arguments=arguments)


if __name__ == "__main__":
    main()
