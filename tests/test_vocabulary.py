"""Names, messages and docs use the terms of the field: a retired word in code, docs or CLI output fails here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longtail.cli.main import COMMANDS, main
from longtail.systems import REGISTRY

ROOT = Path(__file__).parents[1]

RETIRED = {
    r"witness(es)?": "member, base model",
    r"fusion|fused?": "re-ranker",
    r"teach(es|ing)?|taught|lessons?": "fit, train",
    r"untaught": "default",
    r"bends?|bent": "hidden units",
    r"evidence": "features",
    r"held documents": "validation set",
    r"folds?|folded|folding": "predictor; export, precompute",
    r"keepers?": "checkpoint manager",
    r"surroundings": "runtime",
    r"trust(s|ed)?": "shrinkage",
    r"shrink": "shrinkage",
    r"company|companions?": "co-occurrence",
    r"loudness": "init_scale",
    r"effort": "ef_search",
    r"learnt": "learned, trained",
    r"figures?": "metrics (a drawing of a paper is Fig. 1)",
    r"runs of (words|text|texts|characters|tokens)": "n-grams",
    r"pressed between": "softsign",
    r"hears? of": "message passing",
    r"gone on with|go(es)? on with": "resume",
    r"(seconds|milliseconds|ms) a document": "per document",
    r"a document alone": "single-document latency",
}
RETIRED_NAMES = {
    r"Question": "SampledLabels",
    r"Held": "ValidationSet",
    r"Course": "TrainingContext",
    r"Folded": "Predictor",
    r"Prior": "PopularityFallback",
    r"Space": "NodeIndex",
    r"own_label(s)?": "self_label",
}
PATTERNS = [
    *((re.compile(rf"\b({word})\b", re.IGNORECASE), new) for word, new in RETIRED.items()),
    *((re.compile(rf"\b({word})\b"), new) for word, new in RETIRED_NAMES.items()),
]
# Words inside names are found too: spread_trust, TrustOf.
SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")

FILES = sorted(
    [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "docs").glob("*.md"),
        *(path for path in (ROOT / "examples").rglob("*.*") if path.suffix in (".py", ".toml")),
        ROOT / "README.md",
        ROOT / "benchmarks" / "README.md",
    ]
)


def retired_in(text: str) -> list[str]:
    found = []
    for line, content in enumerate(text.splitlines(), 1):
        # Names of other libraries, and former settings, whose errors name the new ones.
        content = content.replace("trust_remote_code", "").replace("fused=True", "")
        content = re.sub(r'^\s*(RENAMED = \{)?"[\w.]+": ("[^"]*"|[A-Z_]+)[,}]*$', "", content)
        spelt = f"{content} {SPLIT.sub(' ', content)}"
        for pattern, new in PATTERNS:
            match = pattern.search(spelt)
            if match:
                found.append(f"{line}: '{match[0]}', write {new}: {content.strip()[:90]}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_retired_word_in_code_and_docs(path: Path) -> None:
    assert retired_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "arguments",
    [["--help"], *([name, "--help"] for name in COMMANDS), *(["info", name, "--all"] for name in REGISTRY)],
    ids=" ".join,
)
def test_no_retired_word_in_what_the_command_line_prints(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed
    assert retired_in(printed) == []


def test_a_retired_word_is_found_wherever_it_hides() -> None:
    for text in ("the witness says", "class LabelTrust:", "x = fold_weights(y)", "It was learnt.", "Held"):
        assert retired_in(text), text
    for text in ("the unfolding story", "Fig. 3", "shrinkage", "a preface"):
        assert not retired_in(text), text
