"""Going on at another place of a run: the exception that leaves the place where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fxdap.engine.frame import Frame
    from fxdap.engine.stops import Phase, Stop


class Travel(BaseException):
    """Unwinds to `frame`, which stops there and goes on from node `cursor`.

    The frame's state is restored before this is raised. With `phase` "after" the frame shows the
    node before `cursor`, which has just run. User code does not catch BaseException.
    """

    def __init__(self, frame: Frame, cursor: int, stop: Stop, phase: Phase = "before") -> None:
        super().__init__(frame, cursor)
        self.frame = frame
        self.cursor = cursor
        self.stop = stop
        self.phase = phase

    def arrived(self) -> Travel:
        """Let go of the frames that it came through, and of an error that it left."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self
