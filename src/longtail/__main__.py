"""The command ``longtail``, also as ``python -m longtail``."""

from __future__ import annotations

import sys
from typing import NoReturn

from longtail.cli import process


def main() -> NoReturn:
    """Run the command of this process and end it; signals have their exit code while the rest is imported, too."""
    process.run(_command)


def _command(signals: process.Signals) -> int:
    from longtail.cli.main import run

    return run(sys.argv[1:], signals)


if __name__ == "__main__":
    main()
