"""docs/claims.md: a row per claim and configuration, generated from benchmarks/results/claims."""

from __future__ import annotations

from pathlib import Path

from benchmarks.claims import CLAIMS
from benchmarks.claims.claim import CONFIGURATIONS, Claim
from benchmarks.claims.verdict import NOT_RUN, outcome

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"
HEAD = """# Claims of the papers

What the papers of [ECLARE](eclare.md), [GalaXC](galaxc.md), [X-GRank](xgrank.md), [GUDN](gudn.md) and
[GNN-XML](gnnxml.md) say about their parts, tested with the implementations of longtail: each network alone, on
samples of real data. The page is generated from `benchmarks/results/claims`; do not edit it.

- A claim compares two sides: "first against second". Both are trained on the same documents, and every seed draws
  its own sample.
- **Ours** is the mean of both sides over the seeds, and the gain of the first side with a 95 % interval
  (Student's t over the paired differences; three seeds make it wide). All numbers are percent.
- **Reproduced**: the gain is above zero beyond the interval. **Not reproduced**: it is below. **Inconclusive**: the
  interval contains zero.
- Each claim is tested with the settings of the paper (`examples/*-paper.toml`) and with the defaults of longtail.
  For X-GRank, GUDN and GNN-XML, the paper's settings have MiniLM in place of BERT; X-GRank and GUDN then read 64
  tokens and train for eight epochs.
- Samples are small: {samples}. A gain that needs more documents does not show there.

`python -m benchmarks claims --data DIR --only ECLARE-T5` runs what is missing of the rows whose name begins so, and
writes this page again.

"""
TAIL = """
## Claims that are not tested

- X-GRank, Table VI (time and size beside LightXML and AttentionXML), and all tables that compare a method with
  others that are not at hand. [Results](results.md) has the systems beside the peers that are.
- GUDN, Fig. 3 (decay of the feature loss): a loss over epochs is no result of a trained model.
- ECLARE, Table 4 for Parabel and AttentionXML: GAME is a part of ECLARE here.
"""


def text() -> str:
    """The whole page."""
    samples = "; ".join(dict.fromkeys(str(claim.sample) for claim in CLAIMS))
    rows = [_row(claim, configuration) for claim in CLAIMS for configuration in CONFIGURATIONS]
    lines = [_summary(), "", "| claim | paper | settings | ours | verdict |", "|---|---|---|---|---|", *rows]
    return HEAD.format(samples=samples) + "\n".join(lines) + "\n" + TAIL


def _summary() -> str:
    counts: dict[str, int] = {}
    for claim in CLAIMS:
        for configuration in CONFIGURATIONS:
            verdict = _verdict(claim, configuration)
            counts[verdict] = counts.get(verdict, 0) + 1
    order = ("reproduced", "not reproduced", "inconclusive", NOT_RUN)
    shown = ", ".join(f"{counts[name]} {name}" for name in order if name in counts)
    return f"{len(CLAIMS)} claims in {len(CONFIGURATIONS)} configurations each: {shown}."


def _verdict(claim: Claim, configuration: str) -> str:
    found = outcome(claim, configuration)
    return NOT_RUN if found is None or found.verdict.startswith(NOT_RUN) else found.verdict


def _row(claim: Claim, configuration: str) -> str:
    found = outcome(claim, configuration)
    if configuration == CONFIGURATIONS[0]:
        said = f"**{claim.id}** {claim.sentence}" + (f" {claim.note}" if claim.note else "")
        paper = f"{claim.source}: {claim.paper}"
    else:
        said, paper = f"{claim.id}", ""
    metric = claim.first.metric if claim.first.metric == claim.second.metric else "the two"
    if found is None:
        return f"| {said} | {paper} | {configuration} | | {NOT_RUN} |"
    margin = "" if found.margin == float("inf") else f" ± {found.margin:.2f}"
    ours = f"{metric}: {found.first:.2f} against {found.second:.2f}, gain {found.gain:+.2f}{margin}"
    return f"| {said} | {paper} | {configuration} | {ours} | {found.verdict} |"


def write(page: Path = PAGE) -> None:
    """Write the page."""
    page.write_text(text(), encoding="utf-8")
