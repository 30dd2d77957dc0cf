import ast
import re
from dataclasses import replace

import numpy as np
import pytest

from longtail.systems.base import TrainingFacts
from longtail.systems.dummy import Dummy
from longtail.systems.linear.system import LinearTree
from longtail.systems.model_card import model_card
from longtail.types import Dataset, LabelSet


def system(counts: list[int], documents: int = 1234, metrics=None) -> Dummy:
    """A dummy with these training facts."""
    found = Dummy(seed=7)
    found.labels_ = LabelSet([str(i) for i in range(len(counts))], [""] * len(counts))
    found.label_counts_ = np.array(counts)
    found.facts_ = TrainingFacts(documents, "f" * 64, metrics or {})
    return found


def test_data_in_numbers():
    card = model_card(system([0, 1, 5, 6, 1000]))
    assert "# A longtail model: dummy\n" in card
    assert "- 1,234 training documents, 1,012 label assignments\n" in card
    assert "- 5 labels: 4 with training documents, 2 of them with at most five\n" in card
    assert f"`{'f' * 64}`" in card


def test_metrics_are_a_table_with_intervals():
    metric = {"value": 12.346, "low": 1.0, "high": 100.0}
    card = model_card(system([1], metrics={"R@5": metric, "P@1": {**metric, "value": 2.0}}))
    assert (
        "## Metrics on the validation documents\n| metric | value | 95 % interval |\n|---|---|---|\n" in card
    )
    rows = re.findall(r"^\| (.+@.+) \|$", card, re.MULTILINE)
    assert rows == ["P@1 | 2.00 | 1.00 to 100.00", "R@5 | 12.35 | 1.00 to 100.00"]


def test_without_validation_there_are_no_metrics():
    card = model_card(system([1]))
    assert "None: the data had no validation part." in card
    assert "| metric |" not in card


def test_settings_are_all_there():
    assert "fields = ['title', 'text']\nseed = 7\n" in model_card(system([1]))


@pytest.mark.parametrize("kind", [Dummy, LinearTree])
def test_equal_models_have_equal_cards(kind):
    data = Dataset.from_texts(["red", "green"], [["r"], ["g"]])
    one, other = (model_card(kind().fit(data)) for _ in range(2))
    assert one == other
    changed = replace(data, labels=LabelSet(["r", "h"], ["", ""]))
    assert model_card(kind().fit(changed)) != one


def test_the_example_runs(tmp_path, capsys):
    Dummy().fit(Dataset.from_texts(["a", "b"], [["x"], ["x", "y"]])).save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert found
    code = found[1].replace("path/to/this/folder", str(tmp_path / "model"))
    exec(compile(ast.parse(code), "README.md", "exec"), {})
    assert capsys.readouterr().out == "['x', 'y']\n"
