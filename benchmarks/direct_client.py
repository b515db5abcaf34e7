"""A debug client that reads in the thread that waits."""

from collections.abc import Callable
from select import select
from typing import Any

from fxdap.wire.client import ConnectionEnded, DapClient, ReceivedEvent


class DirectClient(DapClient):
    """As `DapClient`, for one thread: no hand-over between threads of its own is in a figure."""

    def _begin(self) -> None:
        """There is no reader."""

    def next_event(
        self, timeout: float | None = None, unless_answered: int | None = None
    ) -> ReceivedEvent | None:
        while not self._unconsumed and unless_answered not in self._responses:
            if not self._take_next(timeout):
                return None
        return self._unconsumed.pop(0) if self._unconsumed else None

    def wait_for(self, take: Callable[[], Any], timeout: float, what: str) -> Any:
        """Read until `take` gives something, such as what a request of the adapter's asked for."""
        return self._wait(take, timeout, what)

    def _wait(self, take: Callable[[], Any], timeout: float, what: str) -> Any:
        while (found := take()) is None:
            if not self._take_next(timeout):
                raise ConnectionEnded(f"no {what}: the connection was closed; {self._summary()}")
        return found

    def _take_next(self, timeout: float | None) -> bool:
        """Whether a message came; each may take that long."""
        stdout = self.process.stdout if self.process is not None else None
        assert stdout is not None
        if not self._connection.has_more and not select([stdout], [], [], timeout)[0]:
            raise TimeoutError(f"no message within {timeout} s; {self._summary()}")
        message = self._connection.read()
        if message is not None:
            self._take_in(message)
        return message is not None
