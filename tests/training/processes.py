"""Processes that train together, as torchrun starts them, but forked from one that has imported torch already."""

from __future__ import annotations

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

LONGEST = 250.0
"""Seconds after which the processes are ended."""


def run_processes(size: int, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What the function returns in each of ``size`` processes, by rank."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.training.distributed_work"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    processes = [
        context.Process(target=_work, args=(rank, size, port, pipes[rank][1], function, arguments))
        for rank in range(size)
    ]
    try:
        for process in processes:
            process.start()
        results = []
        for rank, (reader, _) in enumerate(pipes):
            assert reader.poll(LONGEST), f"process {rank} of {size} says nothing"
            good, value = reader.recv()
            assert good, value
            results.append(value)
        return results
    finally:
        for process in processes:
            process.kill()
            process.join()


def _work(
    rank: int,
    size: int,
    port: int,
    pipe: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    try:
        pipe.send((True, function(*arguments)))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
