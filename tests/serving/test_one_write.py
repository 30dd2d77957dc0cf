"""The head of an answer goes out with its body, and nothing is ever kept back."""

from __future__ import annotations

import asyncio

from longtail.serving.one_write import OneWrite

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


class Transport:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def test_head_and_body_are_one_write():
    async def run() -> None:
        inner = Transport()
        joined = OneWrite(inner, asyncio.get_running_loop())
        joined.write(HEAD)
        joined.write(b"ab")
        joined.write(b"more")
        assert inner.written == [HEAD + b"ab", b"more"]
        await asyncio.sleep(0)
        joined.write(HEAD)
        joined.write(b"cd")
        assert inner.written[2:] == [HEAD + b"cd"]

    asyncio.run(run())


def test_a_head_without_a_body_goes_out_soon():
    async def run() -> None:
        inner = Transport()
        joined = OneWrite(inner, asyncio.get_running_loop())
        joined.write(HEAD)
        assert inner.written == []
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert inner.written == [HEAD]

    asyncio.run(run())


def test_closing_sends_what_was_held():
    async def run() -> None:
        inner = Transport()
        joined = OneWrite(inner, asyncio.get_running_loop())
        joined.write(HEAD)
        joined.close()
        assert inner.written == [HEAD]
        assert joined.is_closing()
        await asyncio.sleep(0)

    asyncio.run(run())
