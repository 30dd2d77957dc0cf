"""``longtail serve``: what it refuses before it serves; how it serves is tested in tests/serving."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import pytest

from longtail.cli.serve import LIMITS, command
from longtail.serving.api_keys import ApiKeys
from longtail.serving.limits import Limits


def test_every_limit_has_an_option_with_its_default():
    assert list(LIMITS) == [field.name for field in fields(Limits)]
    by_name = {parameter.name: parameter for parameter in command.params}
    assert {name: by_name[name].default for name in LIMITS} == {
        field.name: field.default for field in fields(Limits)
    }


def test_help_needs_no_extra():
    code = (
        "import sys; from longtail.cli.main import main; main(['serve', '--help']); print(sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "--max-documents" in done.stdout
    assert "'fastapi'" not in done.stdout
    assert "'uvicorn'" not in done.stdout


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "prometheus_client"])
def test_a_missing_extra_is_named(model, package):
    hidden = f"import sys; sys.modules['{package}'] = None"
    code = (
        f"{hidden}; from longtail.cli.main import main; sys.exit(main(['serve', '{model}', '--port', '0']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"needs the package '{package}': pip install 'longtail[serve]'" in done.stderr


def test_a_key_is_added_and_printed_once(call, tmp_path):
    path = tmp_path / "keys"
    answer = call("serve", "--api-keys", path, "--add-api-key", "anna")
    assert answer.code == 0
    assert ApiKeys(path).owner(answer.out.strip()) == "anna"
    assert call("serve", "--add-api-key", "anna").err.strip().endswith("--api-keys FILE")


def test_wrong_calls_are_one_sentence(call, model, tmp_path):
    for arguments, sentence in (
        ([], "name a model to serve"),
        ([model, f"{model.name}={model}"], "two models are called"),
        ([model, "--queue", 10], "raise the limit 'queue'"),
        ([model, "--max-k", 0], "'--max-k': 0 is not in the range"),
        ([model, "--host", "no.such.host.invalid"], "cannot serve at no.such.host.invalid"),
        ([model, "--api-keys", tmp_path / "none"], "cannot be read"),
        ([model, "--admin-token-file", tmp_path / "none"], "cannot be read"),
        ([tmp_path / "none", "--port", 0], "is no model folder"),
    ):
        answer = call("serve", *arguments)
        assert answer.code in (1, 2), arguments
        assert sentence in answer.err, arguments
