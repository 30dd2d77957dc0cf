"""Claims of GalaXC (Saini et al., WWW 2021): Tables 1, 4, 6, 7 and 8, Figures 5 and 6, and the number of hops."""

from benchmarks.claims.claim import Claim, Side, against

DATA = "LF-AmazonTitles-131K"
FREE = ("classifier.node=false",)
ATTENTION = ("classifier.attention=true",)
SAGE = (*FREE, "graph.encoder=graphsage", "score=ann", "shortlist.embedding=transformed")


def _attention(name: str, sentence: str, hop: int, rarer_first: bool) -> Claim:
    rare, frequent = (
        Side("galaxc", ATTENTION, f"attention to hop {hop} of {who} labels") for who in ("rare", "frequent")
    )
    return Claim(
        id=f"GALAXC-F6-{name}",
        source="GalaXC, Fig. 6",
        sentence=sentence,
        paper="a plot",
        first=rare if rarer_first else frequent,
        second=frequent if rarer_first else rare,
    )


CLAIMS = (
    Claim(
        id="GALAXC-T1",
        source="GalaXC, Table 1",
        sentence="GraphSAGE alone becomes worse with more hops.",
        paper="17.63 (1 hop) against 11.85 (3 hops) (LF-WikiSeeAlsoTitles-320K)",
        **against("galaxc", (*SAGE, "graph.fanouts=[10]"), (*SAGE, "graph.fanouts=[10, 10, 10]"), "P@1"),
    ),
    Claim(
        id="GALAXC-T4",
        source="GalaXC, Table 4",
        sentence="Trained embeddings find more right labels among the 100 nearest than initial ones.",
        paper=f"64.03 against 49.04 (Astec) and 38.15 (fastText) ({DATA})",
        first=Side("galaxc", (), "recall@100"),
        second=Side("galaxc", (), "initial recall@100"),
    ),
    Claim(
        id="GALAXC-T6",
        source="GalaXC, Table 6",
        sentence="With half of the labels revealed, GalaXC is far ahead of label trees.",
        paper=f"44.23 against 25.83 (Parabel) ({DATA})",
        first=Side("galaxc", (), "P@1", warm_start=True),
        second=Side("linear", (), "P@1", warm_start=True),
        note="`linear` stands for Parabel.",
    ),
    Claim(
        id="GALAXC-T7-NoAtt",
        source="GalaXC, Table 7",
        sentence="Attention of labels over hops is better than their mean.",
        paper=f"39.17 against 38.39 ({DATA})",
        **against("galaxc", ATTENTION, ("classifier.attention=false",)),
    ),
    Claim(
        id="GALAXC-T7-GIN",
        source="GalaXC, Table 7",
        sentence="GalaXC's encoder with attention is better than GIN.",
        paper=f"39.17 against 37.94 ({DATA})",
        **against("galaxc", (*FREE, *ATTENTION), (*FREE, "graph.encoder=gin")),
    ),
    Claim(
        id="GALAXC-T7-GraphSAGE",
        source="GalaXC, Table 7",
        sentence="GalaXC's encoder with attention is better than GraphSAGE.",
        paper=f"39.17 against 35.28 ({DATA})",
        **against("galaxc", (*FREE, *ATTENTION), (*FREE, "graph.encoder=graphsage")),
    ),
    Claim(
        id="GALAXC-T8",
        source="GalaXC, Table 8",
        sentence="Initial embeddings of a surrogate task are better than those of a general encoder.",
        paper=f"39.17 (Astec) against 35.83 (fastText) ({DATA})",
        **against(
            "galaxc", ("initial.source=surrogate",), ("initial.source=encoder", "initial.encoder=minilm")
        ),
        note="MiniLM in place of fastText.",
    ),
    Claim(
        id="GALAXC-K2",
        source="GalaXC, Section 5",
        sentence="Three hops are better than two.",
        paper="about 2 % of P@1",
        **against("galaxc", ("graph.fanouts=[4, 3, 2]",), ("graph.fanouts=[4, 3]",)),
    ),
    Claim(
        id="GALAXC-F5",
        source="GalaXC, Fig. 5",
        sentence="GalaXC gets more of its P@5 from the rarest fifth of the assignments than label trees.",
        paper="a plot",
        first=Side("galaxc", (), "P@5 of the rarest fifth"),
        second=Side("linear", (), "P@5 of the rarest fifth"),
        note="`linear` stands for Parabel.",
    ),
    _attention(
        "tail", "Rare labels attend to related documents (hop 2) more than frequent labels do.", 2, True
    ),
    _attention(
        "head", "Frequent labels attend to a document's own labels (hop 1) more than rare ones do.", 1, False
    ),
)
