"""Claims of X-GRank (Xiong et al.): Table IV and Figure 3; and of GUDN (Wang et al., 2022): Tables 2, 3 and 4."""

from benchmarks.claims.claim import TEXTS, Claim, Side, against

DATA = "Eurlex-4K"
NO_LABELS = ("labels.text=false",)
BOTH = ("guide.feature=true", "guide.link=true")
NONE = ("guide.feature=false", "guide.link=false")
FEATURE = ("guide.feature=true", "guide.link=false")
LINK = ("guide.feature=false", "guide.link=true")


def _gudn(
    name: str, source: str, sentence: str, paper: str, first: tuple[str, ...], second: tuple[str, ...]
) -> Claim:
    return Claim(
        id=f"GUDN-{name}",
        source=f"GUDN, {source}",
        sentence=sentence,
        paper=f"{paper} ({DATA})",
        **against("gudn", first, second),
        sample=TEXTS,
    )


CLAIMS = (
    Claim(
        id="XGRANK-T4-GRank",
        source="X-GRank, Table IV",
        sentence="The GRank loss is better than binary cross entropy.",
        paper=f"86.30 against 84.27 ({DATA})",
        **against("xgrank", (*NO_LABELS, "loss=grank"), (*NO_LABELS, "loss=bce")),
        sample=TEXTS,
    ),
    Claim(
        id="XGRANK-T4-LF",
        source="X-GRank, Table IV",
        sentence="Label texts improve the ranking.",
        paper=f"86.65 against 86.30 ({DATA})",
        **against("xgrank", ("labels.text=true",), NO_LABELS),
        sample=TEXTS,
    ),
    Claim(
        id="XGRANK-F3",
        source="X-GRank, Fig. 3",
        sentence="The retriever finds more right labels than label trees.",
        paper="R@512 92.18 against 59.11 (Wiki-500K)",
        first=Side("xgrank", (), "R@100"),
        second=Side("linear", (), "R@100"),
        sample=TEXTS,
        note="At 100 labels; `linear` stands for Parabel.",
    ),
    _gudn(
        "T3-both", "Tables 2 and 3", "Both guides together are better than none.", "88.13 against 86.68",
        BOTH, NONE,
    ),
    _gudn("T3-feature", "Table 3", "The feature guide improves P@1.", "87.93 against 86.68", FEATURE, NONE),
    _gudn("T3-link", "Table 3", "The link guide improves P@1.", "87.21 against 86.68", LINK, NONE),
    _gudn(
        "T3-order", "Table 3", "The feature guide is worth more than the link guide.", "87.93 against 87.21",
        FEATURE, LINK,
    ),
    _gudn(
        "T4",
        "Table 4",
        "Label texts are better than one-hot vectors as the input of the guide.",
        "+1.25 against +0.03",
        (*FEATURE, "guide.labels=text"),
        (*FEATURE, "guide.labels=one-hot"),
    ),
)  # fmt: skip
