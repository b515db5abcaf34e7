"""How much one answer may cost: text length, elements read, and time."""

from time import perf_counter

SECONDS = 0.010
"""How long a response may take unless it says otherwise."""


class Budget:
    """Limits shared by all values of one response; its clock starts when it is made."""

    __slots__ = ("_deadline", "elements", "length")

    def __init__(
        self, *, length: int = 200, elements: int = 65_536, seconds: float | None = None
    ) -> None:
        self.length = length
        self.elements = elements
        self._deadline = perf_counter() + (SECONDS if seconds is None else seconds)

    def has_time(self) -> bool:
        """False once the response has taken as long as it may: only cheap facts from then on."""
        return perf_counter() < self._deadline
