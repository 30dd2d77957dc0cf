"""Headers that tell browsers to run nothing but the service's own scripts and to show it in no other page."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
"""No inline script or style, nothing from other hosts."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


_ALL = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
FILES = [*_ALL, (b"cache-control", b"no-cache")]
ANSWERS = [*_ALL, (b"cache-control", b"no-store")]
"""Headers of files and of other answers as ASGI has them: names in small letters."""
_NAMES = frozenset(name for name, _ in ANSWERS)


class SecurityHeaders:
    """Adds the headers to every answer; answers of the API are not to be kept by caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; add headers to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Files are checked for changes each time, so that a page never mixes two versions.
                static = scope["path"] == "/" or scope["path"].startswith("/static/")
                given, added = message.get("headers", ()), FILES if static else ANSWERS
                names = {name for name, _ in given}
                if not names.isdisjoint(_NAMES):
                    added = [each for each in added if each[0] not in names]
                message = {**message, "headers": [*given, *added]}
            await send(message)

        await self.app(scope, receive, with_headers)
