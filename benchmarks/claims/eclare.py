"""Claims of ECLARE (Mittal et al., WWW 2021): Tables 4, 5 and 7, Figures 7 and 9."""

from benchmarks.claims.claim import Claim, Side, against

NO_GAME = ("game.clusters=false", "game.negatives=false", "game.labels=false")
GAME = ("game.clusters=true", "game.negatives=true", "game.labels=true")
DATA = "LF-AmazonTitles-131K"
CLUSTERED = ("shortlist.exact_below=0",)
"""Clusters, whatever the number of labels."""


def _table_5(
    name: str, sentence: str, other: str, first: tuple[str, ...], second: tuple[str, ...], metric: str = "P@1"
) -> Claim:
    own = {"P@1": "40.22", "PSP@1": "33.54"}[metric]
    return Claim(
        id=f"ECLARE-T5-{name}",
        source="ECLARE, Table 5",
        sentence=sentence,
        paper=f"{own} against {other} ({DATA})",
        **against("eclare", first, second, metric),
    )


CLAIMS = (
    Claim(
        id="ECLARE-T4-GAME",
        source="ECLARE, Table 4",
        sentence="GAME improves the rare labels of a system.",
        paper=f"Parabel 24.81 with, 23.27 without ({DATA})",
        **against("eclare", GAME, NO_GAME, "PSP@1"),
        note="The paper adds GAME to Parabel and AttentionXML, here it is taken from ECLARE.",
    ),
    _table_5("GCN", "GALE is better than a GCN in its place.", "30.94", (), ("classifier.gale=gcn",)),
    _table_5(
        "LightGCN", "GALE is better than LightGCN in its place.", "38.39", (), ("classifier.gale=lightgcn",)
    ),
    _table_5(
        "Cooc",
        "The graph of random walks is better than co-occurrence for rare labels.",
        "32.82",
        ("graph.kind=walk",),
        ("graph.kind=cooccurrence",),
        "PSP@1",
    ),
    _table_5(
        "PN",
        "Symmetric normalisation is better than that by the Perron vector.",
        "39.63",
        ("graph.normalisation=symmetric",),
        ("graph.normalisation=perron",),
    ),
    _table_5(
        "PPR",
        "Negatives of the shortlist are better than those of personalised PageRank.",
        "14.42",
        ("negatives.source=shortlist",),
        ("negatives.source=pagerank",),
    ),
    _table_5(
        "NoGraph",
        "The graph in clusters, GAME and initial classifiers is worth its cost.",
        "37.45",
        (*GAME, "shortlist.clustering=graph", "classifier.initialise=graph"),
        (*NO_GAME, "shortlist.clustering=centroids", "classifier.initialise=text"),
    ),
    _table_5(
        "NoLTE",
        "The label text embedding is needed.",
        "39.33",
        ("classifier.lte=true",),
        ("classifier.lte=false",),
    ),
    _table_5(
        "NoRefine",
        "Refinement vectors are needed.",
        "29.99",
        ("classifier.refinement=true",),
        ("classifier.refinement=false",),
    ),
    _table_5(
        "SUM",
        "Attention over the parts of a classifier is better than their sum.",
        "38.02",
        ("classifier.combine=attention",),
        ("classifier.combine=sum",),
    ),
    _table_5(
        "k2", "Convolutions of order 1 are better than of order 2.", "39.38", (), ("classifier.order=2",)
    ),
    _table_5(
        "8K",
        "More clusters are better: 4 labels each instead of 16.",
        "37.00",
        (*CLUSTERED, "shortlist.labels_per_cluster=4"),
        (*CLUSTERED, "shortlist.labels_per_cluster=16"),
    ),
    Claim(
        id="ECLARE-T7-K",
        source="ECLARE, Table 7",
        sentence="More clusters lose less mutual information of documents and labels.",
        paper=f"5.44 (2^17) against 5.82 (2^15) ({DATA})",
        **against(
            "eclare",
            (*CLUSTERED, "shortlist.labels_per_cluster=1"),
            (*CLUSTERED, "shortlist.labels_per_cluster=4"),
            "LMI",
        ),
        lower_is_better=True,
    ),
    Claim(
        id="ECLARE-T7-DECAF",
        source="ECLARE, Table 7",
        sentence="Clusters of centroids that the graph has smoothed lose less than plain centroids (DECAF).",
        paper=f"5.82 against 7.40 ({DATA})",
        **against(
            "eclare",
            (*CLUSTERED, "shortlist.labels_per_cluster=4", "shortlist.clustering=graph"),
            (*CLUSTERED, "shortlist.labels_per_cluster=4", "shortlist.clustering=centroids"),
            "LMI",
        ),
        lower_is_better=True,
    ),
    Claim(
        id="ECLARE-T7-MACH",
        source="ECLARE, Table 7",
        sentence="Clusters of centroids that the graph has smoothed lose less than random ones (MACH).",
        paper=f"5.82 against 29.68 ({DATA})",
        **against(
            "eclare",
            (*CLUSTERED, "shortlist.labels_per_cluster=4", "shortlist.clustering=graph"),
            (*CLUSTERED, "shortlist.labels_per_cluster=4", "shortlist.clustering=random"),
            "LMI",
        ),
        lower_is_better=True,
    ),
    Claim(
        id="ECLARE-F7",
        source="ECLARE, Fig. 7",
        sentence="ECLARE gets more of its P@5 from the rarest fifth of the assignments than label trees.",
        paper="a plot",
        first=Side("eclare", (), "P@5 of the rarest fifth"),
        second=Side("linear", (), "P@5 of the rarest fifth"),
        note="`linear` stands for Parabel.",
    ),
    Claim(
        id="ECLARE-F9",
        source="ECLARE, Fig. 9",
        sentence="Label text and graph dominate the classifiers of rare labels, refinement those of frequent ones.",
        paper="a plot",
        first=Side("eclare", ("classifier.combine=attention",), "refinement in frequent labels"),
        second=Side("eclare", ("classifier.combine=attention",), "refinement in rare labels"),
        note="Share of the refinement vector in attention times norm: frequent labels, labels of 1 to 5 documents.",
    ),
)
