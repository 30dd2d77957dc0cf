from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from longtail.engines import ray_cluster
from longtail.engines.ray_cluster import check_reachable, cluster, first_line, ray_module
from longtail.errors import EngineError, MissingPackageError, UsageError
from tests.engines.clusters import needs_ray


@pytest.mark.parametrize("address", ["head", "head:port", "head:0", "head:99999", ""])
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(UsageError, match="is host:port"):
        check_reachable(address)


def test_a_cluster_that_is_not_there_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(EngineError, match=f"no Ray cluster can be reached at {address} .*ray start --head"):
        check_reachable(address)


def test_a_port_that_answers_is_reachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_reachable(f"127.0.0.1:{server.getsockname()[1]}")


def test_an_error_in_one_line() -> None:
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_ray_is_an_extra() -> None:
    with pytest.raises(MissingPackageError, match=r"longtail\[ray\]"):
        ray_module("predict --engine ray")


@needs_ray
@pytest.mark.slow
def test_workers_without_longtail_or_with_another_version(
    ray: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with cluster(None, "tests") as found:
        assert found is ray
    assert ray.is_initialized()  # the cluster was there before, and stays
    monkeypatch.setattr(ray_cluster, "__version__", "9.9")
    with pytest.raises(EngineError, match=r"and this is 9\.9: install the same one"), cluster(None, "tests"):
        pass
    ray.shutdown()
    # A worker that does not see the installed packages has no longtail.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "from importlib import metadata\n"
        "plain = metadata.version\n"
        "def version(name):\n"
        "    if name == 'longtail':\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return plain(name)\n"
        "metadata.version = version\n"
    )
    runtime = {"env_vars": {"PYTHONPATH": str(tmp_path)}}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env=runtime)
    with (
        pytest.raises(EngineError, match="have no longtail: install the same version"),
        cluster(None, "tests"),
    ):
        pass
