"""Every number of a model, set to absurd values: what the cases are, and a few of them."""

from pathlib import Path

import orjson

from tests.fuzz.numbers import MANY, cases, numbers, put
from tests.fuzz.targets import GOLDEN, SWEEPS, target_named


def test_numbers_and_their_places() -> None:
    found = dict(numbers({"a": 1, "b": [2.5, {"c": 3}], "d": True, "e": "4", "f": None}))
    assert found == {("a",): 1, ("b", 0): 2.5, ("b", 1, "c"): 3}


def test_of_many_numbers_three_stand_for_all() -> None:
    assert len(dict(numbers(list(range(MANY))))) == MANY
    assert dict(numbers(list(range(MANY + 1)))) == {(0,): 0, (20,): 20, (MANY,): MANY}


def test_a_case_changes_one_number_and_the_manifest(tmp_path: Path) -> None:
    target = target_named("numbers-dummy-format-2")
    golden = GOLDEN / "dummy-format-2"
    assert target.size == len(cases(golden)) > 100
    file, keys, value = cases(golden)[0]
    what = target.make(tmp_path / "model", 0)
    assert what == f"{file} {'.'.join(map(str, keys))} = {value}"
    assert target.run(tmp_path / "model") in ("answered", "refused")
    before = dict(numbers(orjson.loads((golden / file).read_bytes())))
    after = dict(numbers(orjson.loads((tmp_path / "model" / file).read_bytes())))
    assert {key for key in before if before[key] != after[key]} == {keys}
    put(tmp_path / "model", file, keys, before[keys])
    assert dict(numbers(orjson.loads((tmp_path / "model" / file).read_bytes()))) == before


def test_every_model_has_a_sweep() -> None:
    assert {name.removeprefix("numbers-") for name in SWEEPS} == {
        path.stem for path in GOLDEN.glob("*-format-*.json")
    }
