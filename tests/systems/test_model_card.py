import ast
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from longtail.systems.base import TrainingFacts
from longtail.systems.dummy import Dummy
from longtail.systems.linear.system import LinearTree
from longtail.systems.model_card import model_card
from longtail.types import Dataset, LabelSet
from tests.systems.calibrated import calibrated


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
    assert "fields = ['title', 'text']\nseed = 7\ncalibrate = 'isotonic'\n" in model_card(system([1]))


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


def test_metrics_by_frequency_calibration_and_plots(tmp_path):
    model = calibrated()
    model.save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "Measured on 600 documents. By training documents of the label:" in card
    row = model.facts_.validation["bins"][3]
    assert f"| 21–100 | {row['labels']} | {row['assignments']:,} | {row['R']:.2f} |" in card
    errors = model.calibration_.facts
    assert (
        f"| the 5 best labels | {100 * errors['before']['errors']['5']:.2f} | "
        f"{100 * errors['after']['errors']['5']:.2f} |" in card
    )
    assert "| 0.95 | cannot be had | |" in card
    assert f"| 0.5 | {model.calibration_.counts.lowest_threshold(0.5):.3g} |" in card
    assert "## Limits\n- Metrics and probabilities hold for documents like" in card
    shown = re.findall(r"\]\((plots/.+?)\)", card)
    assert shown == ["plots/recall.svg", "plots/calibration.svg"]
    for name in shown:
        assert ElementTree.parse(tmp_path / "model" / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_without_calibration_there_is_nothing_to_choose_by():
    card = model_card(system([0, 3]))
    assert "None: scores are those of the system, not probabilities." in card
    assert "max_f1" not in card
    assert "- Labels without training documents: 1; they are never predicted." in card
    assert "plots/" not in card
