"""The README has the results that are in benchmarks/results."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.readme_results import CAPTIONS, END, RESULTS, START, main, ours, read, section

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_has_the_measured_results(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    copy = tmp_path / "README.md"
    copy.write_text(f"before {START} other figures {END} behind", encoding="utf-8")
    main(copy)
    assert copy.read_text(encoding="utf-8") == f"before {section()} behind"
    assert section() in text, "run python -m benchmarks.readme_results"


@pytest.mark.parametrize("data", CAPTIONS)
def test_no_run_counts_twice(data: str) -> None:
    runs = Counter(
        (tuple(row["members"]), row["seed"])
        for path in RESULTS.glob(f"ensemble-{data}-*.json")
        for row in read(path.name)["rows"]
    )
    assert set(runs.values()) <= {1}
    assert len(ours(data)) == len({members for members, _ in runs})
