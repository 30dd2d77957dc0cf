"""Claims of GNN-XML (Zong and Sun, 2020): Figures 3 and 4."""

from benchmarks.claims.claim import TEXTS, Claim, against

V1 = ("network.layers=0",)
V2 = ("network.branches=1", "network.concatenate=false")
V3 = ("network.branches=2", "network.concatenate=false")
V4 = ("network.branches=2", "network.concatenate=true")


def _claim(name: str, figure: int, sentence: str, first: tuple[str, ...], second: tuple[str, ...]) -> Claim:
    return Claim(
        id=f"GNNXML-{name}",
        source=f"GNN-XML, Fig. {figure}",
        sentence=sentence,
        paper="a plot (AmazonCat-13K, Wiki-500K)",
        **against("gnnxml", first, second),
        sample=TEXTS,
    )


CLAIMS = (
    _claim("F3-v2", 3, "One GIN branch is better than the sum of vertices.", V2, V1),
    _claim("F3-v3", 3, "A second branch for rare labels improves it.", V3, V2),
    _claim("F3-v4", 3, "The concatenated readout improves it further.", V4, V3),
    _claim(
        "F4-random",
        4,
        "Clusters of the label graph are better than random ones.",
        ("clusters.method=graph",),
        ("clusters.method=random",),
    ),
    _claim(
        "F4-kmeans",
        4,
        "Clusters of the label graph are better than those of k-means.",
        ("clusters.method=graph",),
        ("clusters.method=k-means",),
    ),
    _claim(
        "F4-tfidf",
        4,
        "Dense label features are better than TF-IDF.",
        ("clusters.features=embedding",),
        ("clusters.features=tfidf",),
    ),
    _claim("F4-K", 4, "More clusters are better.", ("clusters.number=200",), ("clusters.number=20",)),
)
