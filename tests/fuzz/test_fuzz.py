"""A few seeded cases of every fuzz target; ``make fuzz`` runs many more."""

import pytest

from tests.fuzz.campaign import Tally, run_cases
from tests.fuzz.targets import MODELS, READERS, TREES, target_named
from tests.golden.test_golden import GOLDEN

CASES_PER_MODEL, CASES_PER_READER = 12, 40


def run(target: str, cases: int) -> Tally:
    shown: list[str] = []
    tally = run_cases(target, 0, cases, show=shown.append)
    assert tally.failures == [], "\n".join(shown)
    assert sum(tally.counts.values()) == cases
    return tally


def test_every_golden_model_is_a_target() -> None:
    assert set(MODELS) == set(GOLDEN)


@pytest.mark.parametrize("target", [*MODELS, TREES])
def test_a_changed_model_answers_or_is_refused(target: str) -> None:
    run(target, CASES_PER_MODEL)


@pytest.mark.parametrize("target", READERS)
def test_a_changed_file_is_read_or_refused(target: str) -> None:
    run(target, CASES_PER_READER)


def test_the_same_number_is_the_same_case(tmp_path) -> None:
    for target in ("linear-format-2", "read-jsonl"):
        for name in ("one", "two"):
            target_named(target).make(tmp_path / f"{target}-{name}", 7)
        one, two = (
            {
                path.name: path.read_bytes()
                for path in (tmp_path / f"{target}-{name}").rglob("*")
                if path.is_file()
            }
            for name in ("one", "two")
        )
        assert one == two
