"""What the debuggee prints: bytes from its pipes, as text to the client."""

import codecs
import os
import select
import threading
from collections.abc import Callable, Mapping

_CHUNK = 64 * 1024
_MOST_AT_ONCE = 4 * 1024 * 1024  # more than a pipe holds, so all that was written before

Emit = Callable[[str, str], None]


class _Stream:
    """One pipe: complete characters only, whatever the borders of what was read."""

    def __init__(self, category: str, fd: int, emit: Emit) -> None:
        self.category = category
        self.fd = fd
        self.open = True
        self._emit = emit
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        os.set_blocking(fd, False)

    def read(self) -> int:
        """Pass on what is there, at most one chunk; the number of bytes (0: nothing there)."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        self.open = bool(data)
        self._pass_on(self._decoder.decode(data, final=not data))
        return len(data)

    def close(self) -> None:
        """Pass on what is left of a broken character, and close the pipe."""
        if self.fd >= 0:
            self._pass_on(self._decoder.decode(b"", final=True))
            os.close(self.fd)
            self.open, self.fd = False, -1

    def _pass_on(self, text: str) -> None:
        if text:
            self._emit(self.category, text)


class OutputPump:
    """Passes on everything the debuggee writes to its pipes, in order, in chunks.

    Threads: its own thread waits for data; `drain` reads in the caller's thread what has been
    written so far. Whoever reads holds the lock until the client has the text, so that the order
    is kept. Emitting may block while the client does not read: then the pipes fill up, and the
    debuggee waits in its own print.
    """

    def __init__(self, streams: Mapping[str, int], emit: Emit) -> None:
        self._streams = [_Stream(category, fd, emit) for category, fd in streams.items()]
        self._lock = threading.Lock()
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Pass on what the debuggee has written until now."""
        with self._lock:
            for stream in self._streams:
                _empty(stream)

    def finish(self) -> None:
        """After the debuggee's end: pass on the rest, up to the last byte, and stop."""
        os.close(self._waker)
        self._thread.join()

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        by_fd = {stream.fd: stream for stream in self._streams}
        for fd in by_fd:
            poll.register(fd, select.POLLIN)
        finishing = False
        while not finishing:
            for fd, _ in poll.poll():
                if fd == self._wake:
                    finishing = True
                    continue
                with self._lock:
                    by_fd[fd].read()
                if not by_fd[fd].open:
                    poll.unregister(fd)
        with self._lock:
            for stream in self._streams:
                _empty(stream)
                stream.close()
        os.close(self._wake)


def _empty(stream: _Stream) -> None:
    total = 0
    while stream.open and total < _MOST_AT_ONCE:
        count = stream.read()
        if not count:
            return
        total += count
