"""Which text features suit `linear` best, on validation documents: python -m benchmarks.feature_choice --data DIR.

One row a variant; the settings that are not named are the defaults of `linear`.
"""

import argparse
import time
from collections.abc import Sequence

from longtail.config import merge, parse_overrides
from longtail.data import read_folder
from longtail.systems import create

PLAIN = ["text.ngrams=[1, 1]", "text.char_ngrams=none", "text.sublinear_tf=false"]
VARIANTS: dict[str, list[str]] = {
    "words": PLAIN,
    "words, log counts": [*PLAIN, "text.sublinear_tf=true"],
    "words, 1-2": [*PLAIN, "text.ngrams=[1, 2]"],
    "words, 1-2, log counts": ["text.char_ngrams=none"],
    "stems, log counts": [*PLAIN, "text.sublinear_tf=true", "text.stem=english"],
    "stems, 1-2, log counts": ["text.char_ngrams=none", "text.stem=english"],
    "pieces, 1-2, log counts": ["text.char_ngrams=none", "text.kind=wordpiece"],
    "words, 1-2, characters 3-4, log counts": ["text.char_ngrams=[3, 4]"],
    "words, characters 3-5, log counts": ["text.ngrams=[1, 1]", "text.char_ngrams=[3, 5]"],
    "default": [],
}
FIGURES = ("P@1", "P@5", "PSP@1", "PSP@5", "R@10")


def rows(data: str, fields: Sequence[str], names: Sequence[str]) -> list[str]:
    """The Markdown rows, each printed as soon as it is known."""
    parts = read_folder(data, parts=("train", "valid"))
    lines = [
        "| features | " + " | ".join(FIGURES) + " | columns | train CPU s |",
        "|---" * (len(FIGURES) + 3) + "|",
    ]
    print("\n".join(lines), flush=True)
    for name in names:
        system = create("linear", merge({"fields": list(fields)}, parse_overrides(VARIANTS[name])))
        start = time.process_time()
        system.fit(parts["train"])
        seconds = time.process_time() - start
        figures = system.evaluate(parts["valid"]).figures
        cells = [f"{figures[figure]['value']:.2f}" for figure in FIGURES]
        lines.append(f"| {name} | {' | '.join(cells)} | {getattr(system, 'width_', 0):,} | {seconds:.0f} |")
        print(lines[-1], flush=True)
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feature_choice", description=__doc__)
    parser.add_argument("--data", required=True, help="a folder with train and valid")
    parser.add_argument("--fields", default="title,text", help="title, text or title,text")
    parser.add_argument(
        "--variants", default=";".join(VARIANTS), help="names of variants, with ; between them"
    )
    options = parser.parse_args(arguments)
    rows(options.data, options.fields.split(","), options.variants.split(";"))


if __name__ == "__main__":
    main()
