"""State x request: what happens. The one place that says so."""

from enum import Enum, auto


class State(Enum):
    """How far a session is."""

    NEW = auto()  # nothing but `initialize` makes sense
    READY = auto()  # initialized, nothing launched
    STARTING = auto()  # the debuggee's process may run, but its server has not answered yet
    RUNNING = auto()  # the debuggee answers
    ENDED = auto()  # the debuggee is gone, and the client knows
    CLOSED = auto()  # the client is gone, or was told goodbye


class Action(Enum):
    """What is done with a request that is not refused."""

    SERVE = auto()  # the adapter answers by its own means
    RELAY = auto()  # the debuggee answers
    EMPTY = auto()  # the adapter answers that there is nothing yet


FIRST = "send 'initialize' first"
AGAIN = "'initialize' was answered already"
LAUNCH = "launch or attach first"
LATER = "the debuggee is not ready yet: wait for the 'initialized' event"
BUSY = "this session has its debuggee already"
OVER = "the debuggee has ended"
GONE = "the session is closed"

# One letter per state, in the order of `State`; S, R, E are the actions.
_LETTERS: dict[str, Action | str] = {
    "S": Action.SERVE,
    "R": Action.RELAY,
    "E": Action.EMPTY,
    "f": FIRST,
    "a": AGAIN,
    "l": LAUNCH,
    "w": LATER,
    "b": BUSY,
    "o": OVER,
    "g": GONE,
}
_ROWS = {
    #                      NEW READY STARTING RUNNING ENDED CLOSED
    "initialize": "         S    a      a        a      a     g",
    "launch": "             f    S      b        b      o     g",
    "attach": "             f    S      b        b      o     g",
    "restart": "            f    l      w        S      o     g",
    "terminate": "          f    l      S        S      S     g",
    "disconnect": "         S    S      S        S      S     S",
    "cancel": "             f    S      S        S      S     g",
    "threads": "            f    E      E        R      E     g",
    "loadedSources": "      f    E      E        R      E     g",
    "breakpointLocations": "f    E      E        R      E     g",
    "dataBreakpointInfo": " f    E      E        R      E     g",
}
_OTHERS = "                 f    l      w        R      o     g"


def _row(letters: str) -> dict[State, Action | str]:
    return {state: _LETTERS[letter] for state, letter in zip(State, letters.split(), strict=True)}


_TABLE = {command: _row(letters) for command, letters in _ROWS.items()}
_OTHER_ROW = _row(_OTHERS)


def action(state: State, command: str) -> Action | str:
    """What to do with a request, or the reason for which it is refused."""
    return _TABLE.get(command, _OTHER_ROW)[state]
