"""Asks a process that has torch what it knows of a target; never waits unless told to."""

import asyncio
import json
import sys
from dataclasses import dataclass

from fxdap.lsp.environment import child_environment


@dataclass(frozen=True)
class TargetFacts:
    """What is known of a target; "" and 0 where there is nothing to know."""

    schema: str = ""
    url: str = ""
    file: str = ""
    line: int = 0


class TorchProcess:
    """The process is started by the first question and lives as long as the server."""

    def __init__(self) -> None:
        self._known: dict[str, asyncio.Future[TargetFacts]] = {}
        self._asked: dict[int, asyncio.Future[TargetFacts]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._waiting: list[bytes] = []

    def known(self, target: str) -> TargetFacts | None:
        """What is known already; asks for it otherwise."""
        future = self._ask(target)
        return future.result() if future.done() else None

    async def find(self, target: str) -> TargetFacts:
        """What there is to know, once the process has answered."""
        return await asyncio.shield(self._ask(target))

    def _ask(self, target: str) -> asyncio.Future[TargetFacts]:
        future = self._known.get(target)
        if future is None:
            future = self._known[target] = asyncio.get_running_loop().create_future()
            number = len(self._known)
            self._asked[number] = future
            self._send(json.dumps({"id": number, "target": target}).encode() + b"\n")
        return future

    def _send(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(line)
            return
        self._waiting.append(line)
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "fxdap.lsp.torch_facts"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=child_environment(),
            )
            assert process.stdin is not None
            assert process.stdout is not None
            self._process = process
            process.stdin.writelines(self._waiting)
            async for line in process.stdout:
                self._answer(json.loads(line))
        except (OSError, ValueError):
            pass
        finally:
            self._end()

    def _answer(self, answer: dict[str, object]) -> None:
        future = self._asked.pop(int(str(answer.pop("id"))), None)
        answer.pop("error", None)
        if future is not None and not future.done():
            future.set_result(TargetFacts(**answer))  # type: ignore[arg-type]

    def _end(self) -> None:
        """Without torch there is nothing to know: nobody waits for ever."""
        for future in self._asked.values():
            if not future.done():
                future.set_result(TargetFacts())
        self._asked.clear()
        self._known.clear()
        self._process = self._starting = None
        self._waiting.clear()
