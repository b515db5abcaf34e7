"""Reading a listing's text: which line defines which node. Needs no torch."""

import re

_NODE_LINE = re.compile(r"\s*(?:([^\s%#]+)/)?%([^\s:=]+)\s*[:=]")


def qualified_name(path: str, name: str) -> str:
    """A node's name over all graphs of a listing: `add_1`, or `cond.true/add_1`."""
    return f"{path}/{name}" if path else name


def node_on_line(line: str) -> str | None:
    """The qualified name of the node that a listing line defines, None for other lines."""
    found = _NODE_LINE.match(line)
    return qualified_name(found[1] or "", found[2]) if found else None


def names_by_line(text: str) -> dict[int, str]:
    """1-based line number to qualified node name, for every node line of a listing."""
    names = ((number, node_on_line(line)) for number, line in enumerate(text.split("\n"), 1))
    return {number: name for number, name in names if name is not None}
