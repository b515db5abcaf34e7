"""What ends the adapter: the end of its work, or a signal."""

import os
import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending:
    """Lets the main thread wait for either.

    Signals come through a pipe: one that arrives just before a blocking call would else be heeded
    only after it.
    """

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)

    def end(self) -> None:
        """The work is done; any thread may say so, any number of times."""
        try:
            os.write(self._writer, b"\0")
        except BlockingIOError:  # it has been said often enough
            pass

    def wait(self) -> int:
        """Wait for the end; gives the exit code that a process has for it."""
        number = os.read(self._reader, 1)[0]
        return 128 + number if number else 0
