"""API keys: a file of names and sha256 hashes, and the layer that asks for a key.

A key is 32 random bytes, so a plain hash of it cannot be guessed back; the key itself is stored nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from longtail.errors import DataError, OutputError, UsageError
from longtail.serving.problems import ProblemResponse

PREFIX = "lt_"
"""What every key begins with, so that one is recognised where it should not be."""
PROTECTED = "/v1"
_LINE = re.compile(r"([A-Za-z0-9._@-]{1,100})\s+([0-9a-f]{64})")


class ApiKeys:
    """The keys of a file, which is read again on reload."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._hashes = _read(self.path)

    def reload(self) -> None:
        """Read the file again; after an error the keys stay as they are."""
        self._hashes = _read(self.path)

    def owner(self, key: str) -> str | None:
        """Whose key it is; every known hash is compared, in constant time."""
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
        owner = None
        for name, known in self._hashes:
            if hmac.compare_digest(digest, known):
                owner = name
        return owner


def _read(path: Path) -> list[tuple[str, bytes]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None
    found = []
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise DataError("a line must be a name and the sha256 of a key", path=path, line=number)
        found.append((match[1], bytes.fromhex(match[2])))
    if not found:
        raise DataError("there is no key in it: add one with --add-api-key NAME", path=path)
    return found


def add_key(path: str | Path, name: str) -> str:
    """Make a key, append its hash to the file, and return the key, which cannot be shown again."""
    if not re.fullmatch(r"[A-Za-z0-9._@-]{1,100}", name):
        raise UsageError(f"a key's name has letters, digits and . _ @ - only, not {name!r}")
    key = PREFIX + secrets.token_urlsafe(32)
    line = f"{name} {hashlib.sha256(key.encode()).hexdigest()}\n"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                line = f"\n{line}"
            os.write(handle, line.encode())
        finally:
            os.close(handle)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None
    return key


def bearer(scope: Scope) -> str | None:
    """What the request has as ``Authorization: Bearer ...`` or ``X-API-Key: ...``."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            kind, _, key = value.decode("latin-1").partition(" ")
            if kind.lower() == "bearer":
                return str(key.strip())
        if name == b"x-api-key":
            return str(value.decode("latin-1").strip())
    return None


class KeyRequired:
    """Answers 401 to requests of the API without a key; health, metrics, page and docs need none."""

    def __init__(self, app: ASGIApp, keys: ApiKeys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the name of its user."""
        if scope["type"] == "http" and scope["path"].startswith(PROTECTED):
            key = bearer(scope)
            user = None if key is None else self.keys.owner(key)
            if user is None:
                what = (
                    "needs an API key: Authorization: Bearer KEY" if key is None else "is not one of the keys"
                )
                detail = f"the service {what}" if key is None else f"this API key {what} of the service"
                await ProblemResponse(401, detail, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
            scope.setdefault("state", {})["user"] = user
        await self.app(scope, receive, send)
