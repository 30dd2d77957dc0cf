"""A PostgreSQL server of the tests' own: Debian's programs, a new cluster in a temporary folder, a local socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OWNER = "postgres"
"""Who runs the server where root runs the tests, whom PostgreSQL refuses; Debian's package makes this user."""


@contextmanager
def server() -> Iterator[str]:
    """The URL of a new, empty database; the server ends with the block. Skips where PostgreSQL is not installed."""
    programs = programs_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="longtail-pg-"))
    data = folder / "data"
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam(OWNER)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        who = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def call(program: str, *arguments: str) -> None:
        # The server keeps the output open, so that it goes to a file.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [programs / program, *arguments], stdout=output, stderr=output, cwd=folder, **who
            )
            output.seek(0)
            assert done.returncode == 0, output.read().decode()

    try:
        call("initdb", "-D", str(data), "-U", "longtail", "-A", "trust", "-E", "UTF8", "--no-sync")
        # No port of the machine is opened: the socket is a file in the folder.
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
        call("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql+psycopg://longtail@/postgres?host={folder}"
        finally:
            call("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def programs_folder() -> Path | None:
    """Where ``initdb`` and ``pg_ctl`` are; Debian has them outside of the PATH."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name))
    found = [place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()]
    on_path = shutil.which("initdb")
    return found[-1] if found else Path(on_path).parent if on_path else None
