"""Hit conditions and log messages of breakpoints."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from fxdap.engine.frame import Frame
from fxdap.engine.names import compile_expression, evaluate
from fxdap.view.summary import summarize

_OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda hits, n: hits == n,
    "=": lambda hits, n: hits == n,
    ">": lambda hits, n: hits > n,
    ">=": lambda hits, n: hits >= n,
    "<": lambda hits, n: hits < n,
    "<=": lambda hits, n: hits <= n,
    "%": lambda hits, n: hits % n == 0,
}


class ConditionError(ValueError):
    """A condition, hit condition or log message that cannot be read."""


@dataclass(frozen=True)
class HitCondition:
    """How many hits it takes: `5` (the fifth), `>= 5`, `% 5` (every fifth), ..."""

    operator: str
    number: int

    @classmethod
    def parse(cls, text: str) -> "HitCondition":
        """Raises ConditionError for anything but an optional operator and a positive number."""
        match = re.fullmatch(r"\s*(==|=|>=|>|<=|<|%)?\s*(\d+)\s*", text)
        if match is None or (match[1] == "%" and int(match[2]) == 0):
            raise ConditionError(
                f"hit condition {text!r} is not understood: write a number (5: the fifth hit), "
                f"or one after ==, >, >=, <, <=, % (% 5: every fifth hit)"
            )
        return cls(match[1] or "==", int(match[2]))

    def holds(self, hits: int) -> bool:
        """Whether hit number `hits` counts."""
        return _OPERATORS[self.operator](hits, self.number)


def check_condition(text: str) -> str:
    """Return the condition; raises ConditionError if it is no Python expression."""
    try:
        compile_expression(text)
    except SyntaxError as error:
        raise ConditionError(f"condition {text!r} is not a Python expression: {error}") from None
    return text


@dataclass(frozen=True)
class LogMessage:
    """Text with Python expressions in braces; a doubled or escaped brace is a brace."""

    parts: tuple[tuple[str, bool], ...]

    @classmethod
    def parse(cls, text: str) -> "LogMessage":
        """Raises ConditionError for a brace without its partner or a bad expression."""
        parts: list[tuple[str, bool]] = []
        pattern = r"\\[{}]|\{\{|\}\}|\{(?:[^{}]|\{[^{}]*\})*\}|[^{}\\]+|."
        for piece in re.findall(pattern, text, re.DOTALL):
            if piece in ("\\{", "\\}", "{{", "}}"):
                parts.append((piece[-1], False))
            elif piece in ("{", "}"):
                raise ConditionError(f"log message {text!r} has a {piece!r} without its partner")
            elif piece.startswith("{"):
                parts.append((check_condition(piece[1:-1]), True))
            else:
                parts.append((piece, False))
        return cls(tuple(parts))

    @property
    def expressions(self) -> list[str]:
        """The Python in it."""
        return [text for text, is_code in self.parts if is_code]

    def render(self, frame: Frame) -> str:
        """Fill in the expressions; one that raises is replaced by what it raised."""
        return "".join(_render(text, frame) if code else text for text, code in self.parts)


def _render(expression: str, frame: Frame) -> str:
    try:
        value = evaluate(expression, frame)
        return value if isinstance(value, str) else summarize(value)
    except Exception as error:
        return f"<{type(error).__name__}: {error}>"
