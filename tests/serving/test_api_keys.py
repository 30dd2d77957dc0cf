"""API keys: the file has hashes only, the API asks for a key, the rest does not."""

from __future__ import annotations

import hashlib
import stat

import pytest

from longtail.errors import DataError, OutputError, UsageError
from longtail.serving.api_keys import ApiKeys, add_key
from longtail.serving.service import Service
from tests.serving.running import running


def test_the_file_has_names_and_hashes_but_no_key(tmp_path):
    path = tmp_path / "keys"
    anna, bert = add_key(path, "anna"), add_key(path, "bert")
    text = path.read_text()
    assert anna not in text
    assert hashlib.sha256(anna.encode()).hexdigest() in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    keys = ApiKeys(path)
    assert (keys.owner(anna), keys.owner(bert)) == ("anna", "bert")
    assert keys.owner("") is None
    assert keys.owner(anna + "x") is None
    assert keys.owner("\ud800") is None


def test_a_line_is_added_to_a_file_without_a_line_end(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"# keys of the library\nold {'0' * 64}")
    key = add_key(path, "new")
    assert ApiKeys(path).owner(key) == "new"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("anna secret", "line 1: a line must be"),
        (f"\n{'0' * 64}", "line 2: a line must be"),
        ("# none yet\n", "there is no key"),
    ],
)
def test_a_file_that_is_no_list_of_keys(tmp_path, text, sentence):
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(DataError, match=sentence):
        ApiKeys(path)


def test_files_and_names_that_do_not_work(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        ApiKeys(tmp_path / "nothing")
    with pytest.raises(OutputError):
        add_key(tmp_path, "anna")
    with pytest.raises(UsageError, match="a key's name"):
        add_key(tmp_path / "keys", "anna b")


def test_the_api_asks_for_a_key_and_learns_of_new_ones(registry, tmp_path):
    path = tmp_path / "keys"
    anna = add_key(path, "anna")
    service = Service(registry, jobs=1)
    with running(service, api_keys=ApiKeys(path)) as server:
        without = server.get("/v1/models")
        assert (without.status, without.headers["www-authenticate"]) == (401, "Bearer")
        assert "needs an API key" in without.detail
        assert "not one of the keys" in server.get("/v1/models", Authorization="Bearer wrong").detail
        assert server.get("/v1/models", Authorization=f"Basic {anna}").status == 401
        assert server.get("/v1/models", Authorization=f"Bearer {anna}").status == 200
        assert server.get("/v1/projects", **{"X-API-Key": anna}).status == 200
        for free in ("/", "/docs", "/openapi.json", "/health/ready", "/metrics", "/static/docs.css"):
            assert server.get(free).status == 200, free
        bert = add_key(path, "bert")
        assert server.get("/v1/models", Authorization=f"Bearer {bert}").status == 401
        service.reload()
        assert server.get("/v1/models", Authorization=f"Bearer {bert}").status == 200
        path.write_text("damaged")
        with pytest.raises(DataError):
            service.reload()
        assert server.get("/v1/models", Authorization=f"Bearer {anna}").status == 200
