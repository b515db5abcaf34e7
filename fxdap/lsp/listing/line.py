"""One line of a listing by itself: a node, a header, a source comment, or nothing of these."""

import re
from dataclasses import dataclass
from functools import lru_cache

_NODE = re.compile(r"\s*((?:([^\s%#]+)/)?%([^\s:=]+))\s*(?::\s(.*?))?\s=\s(.*)")
_CALLED_CLASS = re.compile(r"(.*\))  # (\S+)")
_FIRST_WORD = re.compile(r"[^\s(]*")
_USE = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|%(\w+)""")
_PLACE = re.compile(r"\s*# ((?:(?!  ).)+):(\d+)(?:  (.*))?$")
_HEADER = re.compile(
    r"(\s*)# (?:graph (\S+)  in %(\w+)|([^\s:]+)  ([^\s:.]+)|(.*?))"
    r"(?: \(call (\d+)\))?(?:\s{2,}((?:(?!  ).)+):(\d+))?\s*$"
)
_KEYWORDS = {"return": "output", "get_attr": "get_attr", "placeholder": "placeholder"}


@dataclass(frozen=True, slots=True)
class Use:
    """`%name` among a node's arguments; columns in the line."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NodeLine:
    """What a node's line says. `graph` is the nested graph's path, "" in the outermost one.

    `op` is "call" where the text cannot tell a function from a module; `class_name` is that of the
    called module, "" where the listing does not say.
    """

    graph: str
    name: str
    start: int
    end: int
    type_text: str
    type_end: int
    op: str
    target: str
    target_start: int
    arguments: str
    uses: tuple[Use, ...]
    class_name: str = ""

    @property
    def default(self) -> str:
        """What a placeholder is without an input, "" if that is not written."""
        return self.arguments if self.op == "placeholder" else ""


@dataclass(frozen=True, slots=True)
class Place:
    """A file and line of the user's; columns of `file:line` in the listing's line."""

    file: str
    line: int
    start: int
    end: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """`# blocks.0  Block`, a graph's own `# title`, or `# graph cond.true  in %cond`."""

    indent: int
    start: int
    end: int
    text: str
    path: str = ""
    class_name: str = ""
    graph: str = ""
    user: str = ""
    call: int = 1
    place: Place | None = None


Line = NodeLine | Place | Header | None


@lru_cache(maxsize=100_000)
def parse_line(text: str) -> Line:
    """Read one line; equal lines share the result, so that an edit costs one line."""
    body = text.lstrip()
    if not body:
        return None
    if body[0] == "#":
        return _place(text) or _header(text)
    return _node(text)


def _node(text: str) -> NodeLine | None:
    found = _NODE.match(text)
    if found is None:
        return None
    start, expression = found.start(5), found[5]
    called = _CALLED_CLASS.fullmatch(expression)
    if called is not None:
        expression = called[1]
    word = _FIRST_WORD.match(expression)[0]  # type: ignore[index]
    op, target, target_start, arguments = _called(word, expression, start)
    uses = tuple(
        Use(use[1], start + use.start(), start + use.end())
        for use in _USE.finditer(expression)
        if use[1] is not None
    )
    type_text = found[4] or ""
    return NodeLine(
        graph=found[2] or "",
        name=found[3],
        start=found.start(1),
        end=found.end(1),
        type_text=type_text,
        type_end=found.end(4) if type_text else found.end(1),
        op=op,
        target=target,
        target_start=target_start,
        arguments=arguments,
        uses=uses,
        class_name=called[2] if called is not None else "",
    )


def _called(word: str, expression: str, start: int) -> tuple[str, str, int, str]:
    """Opcode, target, the target's column, and the text of the arguments."""
    rest = expression[len(word) :]
    op = _KEYWORDS.get(word)
    if op is None:
        op = "call_method" if word.startswith(".") else "call"
        return op, word, start, _inside(rest)
    if op == "get_attr" and rest.startswith(" "):
        return op, rest.strip(), start + len(word) + 1, ""
    if op == "output":
        return op, "", start, rest.strip()
    if rest.startswith("("):
        inner, _, default = _inside(rest).partition("=")
        return op, inner, start + len(word) + 1, default
    return op, "", start, ""


def _inside(rest: str) -> str:
    return rest[1:-1] if rest.startswith("(") and rest.endswith(")") else rest[1:]


def _place(text: str) -> Place | None:
    found = _PLACE.match(text)
    if found is None:
        return None
    return Place(found[1], int(found[2]), found.start(1), found.end(2), found[3] or "")


def _header(text: str) -> Header | None:
    found = _HEADER.match(text)
    if found is None:
        return None
    place = None
    if found[8] is not None:
        place = Place(found[8], int(found[9]), found.start(8), found.end(9))
    start = found.end(1)
    end = max(found.end(group) for group in (2, 3, 5, 6, 7) if found[group] is not None)
    return Header(
        indent=len(found[1]),
        start=start,
        end=end + 1 if found[7] is not None else end,
        text=found[6] or "",
        path=found[4] or "",
        class_name=found[5] or "",
        graph=found[2] or "",
        user=found[3] or "",
        call=int(found[7] or 1),
        place=place,
    )
