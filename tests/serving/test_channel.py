"""Calls between processes: answers in any order, errors with their status, and the end of the other side."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from longtail.errors import ModelError
from longtail.serving.channel import Channel
from longtail.serving.problem import Problem


async def pair(one: Any, other: Any) -> tuple[Channel, Channel]:
    ends = socket.socketpair()
    return await Channel.open(ends[0], one), await Channel.open(ends[1], other)


async def nothing(verb: str, arguments: dict[str, Any]) -> Any:
    raise AssertionError(verb)


def test_answers_come_in_any_order_and_both_sides_ask():
    async def run() -> None:
        async def handle(verb: str, arguments: dict[str, Any]) -> Any:
            await asyncio.sleep(arguments["seconds"])
            return [verb, await there.call("double", number=arguments["number"])]

        async def double(verb: str, arguments: dict[str, Any]) -> Any:
            assert verb == "double"
            return 2 * arguments["number"]

        here, there = await pair(double, handle)
        slow = here.call("slow", seconds=0.05, number=1)
        quick = here.call("quick", seconds=0, number="é\n" * 100_000)
        assert await asyncio.gather(slow, quick) == [["slow", 2], ["quick", "é\n" * 200_000]]
        here.close()
        there.close()

    asyncio.run(run())


def test_errors_have_their_sentence_and_status_but_no_text_of_documents():
    async def run() -> None:
        errors: dict[str, Exception] = {
            "model": ModelError("the model is broken"),
            "problem": Problem(429, "later"),
            "other": ValueError("a secret"),
        }

        async def fail(verb: str, arguments: dict[str, Any]) -> Any:
            raise errors[verb]

        here, there = await pair(nothing, fail)
        for verb, sentence, status in (
            ("model", "the model is broken", ModelError("").http_status),
            ("problem", "later", 429),
            ("other", "ValueError", 500),
        ):
            with pytest.raises(Problem) as caught:
                await here.call(verb)
            assert (str(caught.value), caught.value.status) == (sentence, status)
        here.close()
        there.close()

    asyncio.run(run())


def test_calls_end_with_the_other_side():
    async def run() -> None:
        async def never(verb: str, arguments: dict[str, Any]) -> Any:
            await asyncio.sleep(60)

        here, there = await pair(nothing, never)
        call = asyncio.ensure_future(here.call("wait"))
        await asyncio.sleep(0.05)
        there.close()
        with pytest.raises(Problem, match="has ended"):
            await call
        await here.closed
        with pytest.raises(Problem, match="has ended"):
            await here.call("again")

    asyncio.run(run())
