"""Which text features suit `linear` best, on validation documents: python -m benchmarks.feature_choice --data DIR.

One row a variant; the settings that are not named are the defaults of `linear`.
"""

from collections.abc import Sequence
from typing import cast

from benchmarks import variants
from longtail.systems.linear.system import LinearTree

PLAIN = ["text.ngrams=[1, 1]", "text.char_ngrams=none", "text.sublinear_tf=false"]
VARIANTS: variants.Variants = {
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

COLUMNS: variants.Measures = {"columns": lambda model, _: f"{cast(LinearTree, model).width_:,}"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and print the table."""
    variants.main("feature_choice", __doc__, "linear", VARIANTS, measures=COLUMNS, arguments=arguments)


if __name__ == "__main__":
    main()
