"""Several processes that serve the same models at the same address, and the one that starts and watches them.

Each worker has models and queues of its own, and a socket of its own at the common port: the kernel spreads new
connections over them. What concerns all of them goes through the supervisor: a reload happens in all workers or
in none, feedback that one has stored is learned by all before it is acknowledged, and metrics are those of all
together.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from longtail.serving.channel import Channel
from longtail.serving.metrics import together
from longtail.serving.problem import Problem
from longtail.serving.server import bound_socket, url_of
from longtail.serving.worker import Inherited

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds until a worker that ended is started again; each time twice as many."""
MORE_THAN_DRAIN = 10.0
"""Seconds that a worker has left, beyond the time for requests under way, until it is killed."""

log = logging.getLogger("longtail.serving")


@dataclass(eq=False, slots=True)
class _Process:
    process: asyncio.subprocess.Process
    channel: Channel
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    listening: asyncio.Event = field(default_factory=asyncio.Event)


class Supervisor:
    """Starts workers, passes on what they ask of each other, starts again those that end, and ends them."""

    def __init__(
        self,
        command: Sequence[str],
        workers: int,
        reserved: socket.socket,
        *,
        drain_seconds: float,
        say: Callable[[str], None],
    ) -> None:
        """``command`` has the arguments of a worker; ``reserved`` is a shared socket that does not listen."""
        self._command, self._number, self._reserved = list(command), workers, reserved
        self._drain, self._say = drain_seconds, say
        self._workers: dict[int, _Process] = {}
        self._all_loaded, self._ending = asyncio.Event(), asyncio.Event()
        self._reloading = asyncio.Lock()
        # Open as long as the process lives, for workers to inherit.
        self._lock, name = tempfile.mkstemp()
        os.unlink(name)
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> int:
        """Serve until a signal; returns the exit code."""
        loop = asyncio.get_running_loop()
        for ending in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(ending, self._ending.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._in_background(self._hang_up()))
        # One first: it compiles kernels for all, and says what is wrong with a model once.
        first = await self._start(0)
        code = await self._until(first, first.loaded)
        if code is not None:
            return code
        others = await asyncio.gather(*(self._start(number) for number in range(1, self._number)))
        for step in ("loaded", "listening"):
            workers = others if step == "loaded" else [first, *others]
            for worker in workers:
                code = await self._until(worker, getattr(worker, step))
                if code is not None:
                    await self._end_all()
                    return code
            self._all_loaded.set()
        for number in range(self._number):
            self._in_background(self._watch(number))
        if not self._ending.is_set():
            self._say(f"serving at {url_of(self._reserved)} with {self._number} workers")
        await self._ending.wait()
        await self._end_all()
        return 0

    async def _start(self, number: int) -> _Process:
        host, port = self._reserved.getsockname()[:2]
        # A new socket each time: connections that wait at the socket of a worker that ended would wait for long.
        bound = bound_socket(host, port, shared=True)
        ours, theirs = socket.socketpair()
        with bound, theirs:
            inherited = Inherited(number, bound.fileno(), theirs.fileno(), self._lock)
            process = await asyncio.create_subprocess_exec(
                *self._command,
                f"--worker={inherited}",
                pass_fds=(inherited.bound, inherited.channel, inherited.lock),
                # Ctrl-C is for the supervisor, which ends the workers.
                process_group=0,
            )
        channel = await Channel.open(ours, lambda verb, arguments: self._do(number, verb, arguments))
        made = self._workers[number] = _Process(process, channel)
        return made

    async def _until(self, worker: _Process, step: asyncio.Event) -> int | None:
        """None when the worker has made this step; its exit code if it ended before, 0 if all is to end."""
        waits = [
            asyncio.ensure_future(each) for each in (step.wait(), worker.process.wait(), self._ending.wait())
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if self._ending.is_set():
                await self._end_all()
                return 0
            return None if step.is_set() else (worker.process.returncode or 1)
        finally:
            for each in waits:
                each.cancel()

    async def _watch(self, number: int) -> None:
        """Start the worker again whenever it ends."""
        pause = FIRST_PAUSE
        while True:
            worker = self._workers[number]
            code = await worker.process.wait()
            worker.channel.close()
            if self._ending.is_set():
                return
            pause = FIRST_PAUSE if worker.listening.is_set() else min(2 * pause, LONGEST_PAUSE)
            log.error("worker %d ended with code %d: another one starts in %g seconds", number, code, pause)
            await asyncio.sleep(pause)
            if self._ending.is_set():
                return
            worker = await self._start(number)
            if await self._until(worker, worker.listening) is None:
                # It has loaded what is on disk now, which the others may not have yet.
                await self._hang_up()

    async def _end_all(self) -> None:
        """Have all workers answer what has been asked, and end."""
        self._ending.set()
        processes = [worker.process for worker in self._workers.values()]
        for process in processes:
            with suppress(ProcessLookupError):
                process.terminate()
        ended = asyncio.gather(*(process.wait() for process in processes))
        try:
            await asyncio.wait_for(ended, self._drain + MORE_THAN_DRAIN)
        except TimeoutError:
            for process in processes:
                with suppress(ProcessLookupError):
                    process.kill()

    async def _do(self, number: int, verb: str, arguments: dict[str, Any]) -> Any:
        """What a worker asks for."""
        match verb:
            case "loaded":
                self._workers[number].loaded.set()
                # So that the service is there when all of it is.
                await self._all_loaded.wait()
                return None
            case "listening":
                self._workers[number].listening.set()
                return None
            case "reload":
                return await self.reload()
            case "learn":
                others = [worker for other, worker in self._living().items() if other != number]
                await asyncio.gather(
                    *(worker.channel.call("learn", **arguments) for worker in others), return_exceptions=True
                )
                return None
            case "metrics":
                texts = await asyncio.gather(
                    *(worker.channel.call("metrics") for worker in self._living().values()),
                    return_exceptions=True,
                )
                return together([text for text in texts if isinstance(text, str)]).decode()
        raise Problem(400, f"a supervisor cannot {verb}")

    def _living(self) -> dict[int, _Process]:
        return {
            number: worker
            for number, worker in sorted(self._workers.items())
            if worker.loaded.is_set() and not worker.channel.closed.done()
        }

    async def reload(self) -> dict[str, str]:
        """Exchange models in all workers, or in none; returns the versions by name."""
        if self._reloading.locked():
            raise Problem(409, "a reload is under way already")
        async with self._reloading:
            living = self._living()
            calls = [worker.channel.call("load") for worker in living.values()]
            loaded = await asyncio.gather(*calls, return_exceptions=True)
            error = next((str(each) for each in loaded if isinstance(each, BaseException)), None)
            if error is None and any(versions != loaded[0] for versions in loaded):
                error = "a model was replaced while it was read: try again"
            after = "use" if error is None else "forget"
            calls = [worker.channel.call(after) for worker in living.values()]
            used = await asyncio.gather(*calls, return_exceptions=True)
            counted = next(iter(living.values())).channel
            await counted.call("count reload", result="done" if error is None else "failed")
            if error is not None:
                raise Problem(409, f"the models stay as they are: {error}")
            versions: dict[str, str] | None = next((each for each in used if isinstance(each, dict)), None)
            if versions is None:
                raise Problem(503, f"the models were not exchanged: {used[0]}")
            return versions

    async def _hang_up(self) -> None:
        try:
            await self.reload()
        except Problem as error:
            log.error("%s", error)

    def _in_background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def worker_command(arguments: Sequence[str]) -> list[str]:
    """The command of a worker: this program with the same arguments, which finds the same modules."""
    os.environ["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    # Not from the working folder, unless this process has it on its path.
    return [sys.executable, "-P", "-m", "longtail", *arguments]


def supervise(
    arguments: Sequence[str],
    workers: int,
    reserved: socket.socket,
    *,
    drain_seconds: float,
    say: Callable[[str], None],
) -> int:
    """Serve with several workers until SIGTERM or Ctrl-C; returns the exit code."""

    async def serve() -> int:
        supervisor = Supervisor(
            worker_command(arguments), workers, reserved, drain_seconds=drain_seconds, say=say
        )
        return await supervisor.run()

    return asyncio.run(serve())
