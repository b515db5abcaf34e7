"""A listener for an engine that is measured without a server."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from fxdap.engine.thread import DebugThread


class Silent:
    """Listens to nothing."""

    def is_held(self, thread: DebugThread) -> bool:
        """No other debugger is there."""
        return False

    def preparing(self, name: str, size: int) -> AbstractContextManager[None]:
        """Nobody is shown how long it takes."""
        return nullcontext()

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None
