"""What can go wrong on the wire: unreadable input, and requests that are answered with an error."""


class WireError(Exception):
    """A peer sent something that is no valid message."""


class MalformedError(WireError):
    """Input that could not be read as a message, with what could be saved of its identity."""

    def __init__(self, message: str, *, seq: int | None = None, command: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.seq = seq
        self.command = command


class RequestError(Exception):
    """The reason a request is refused; raise it in a handler, the client is shown `message`."""

    def __init__(self, message: str, *, show_user: bool = False, id: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.show_user = show_user
        self.id = id

    @classmethod
    def cancelled(cls) -> "RequestError":
        """The request was cancelled by the client."""
        return cls("cancelled", id=2)

    @classmethod
    def not_stopped(cls) -> "RequestError":
        """The request can be repeated once the debuggee is stopped."""
        return cls("notStopped", id=3)
