"""A debug client that reads in the thread that waits."""

from collections.abc import Callable
from typing import Any

from fxdap.wire.client import ConnectionEnded, DapClient, ReceivedEvent


class DirectClient(DapClient):
    """As `DapClient`, but nothing of what it measures is its own threads handing over.

    For one thread, and without limits of time.
    """

    def _begin(self) -> None:
        """There is no reader."""

    def next_event(
        self, timeout: float | None = None, unless_answered: int | None = None
    ) -> ReceivedEvent | None:
        while not self._unconsumed and unless_answered not in self._responses:
            if not self._take_next():
                return None
        return self._unconsumed.pop(0) if self._unconsumed else None

    def _wait(self, take: Callable[[], Any], timeout: float, what: str) -> Any:
        while (found := take()) is None:
            if not self._take_next():
                raise ConnectionEnded(f"no {what}: the connection was closed; {self._summary()}")
        return found

    def _take_next(self) -> bool:
        message = self._connection.read()
        if message is not None:
            self._take_in(message)
        return message is not None
