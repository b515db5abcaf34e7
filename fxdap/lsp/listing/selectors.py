"""Node selectors on a listing's text: what one matches before anything runs, and what may follow.

A session knows more names of a target than a listing shows; there the debugger answers.
"""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.operators import OPERATOR_NAMESPACES, opcode
from fxdap.lsp.listing.request import Request
from fxdap.view.selector_choices import selector_choices

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MATCH = "fxdap/matchSelector"
NODE_AT = "fxdap/nodeAt"
MAX_NODES = 50
MAX_COMPLETIONS = 30

_TERM = re.compile(r"!?/(?:\\.|[^/\\])+/(?=\s|$)|\S+")
_OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")

Test = Callable[[Node], bool]


async def match_selector(server: "Server", params: Any) -> list[dict[str, str]]:
    """What to offer for `params.selector`, with what it matches in the listing `params.uri`.

    Without a listing there is nothing to match, but there are examples.
    """
    uri, selector = getattr(params, "uri", None), params.selector.strip()
    if uri is None:
        return selector_choices(selector, "matches are counted once a session runs")
    await server.listings.prepare(server.workspace, uri)
    listing = Request(server, uri).listing
    try:
        nodes = select(listing, selector)
    except re.error as error:
        return selector_choices(selector, f"bad regular expression: {error}")
    count = f"{len(nodes) or 'no'} node{'s' if len(nodes) > 1 else ''}"
    return selector_choices(
        selector,
        f"matches {count} of this listing",
        completions(listing, selector),
        [(node.text.name, listing.lines[node.line]) for node in nodes[:MAX_NODES]],
    )


def node_at(server: "Server", params: Any) -> dict[str, str] | None:
    """The node on the line `params.line`, and a selector for all that call what it calls."""
    nodes = Request(server, params.uri).listing.nodes
    found = next((node for node in nodes if node.line == params.line), None)
    return {"node": found.text.name, "selector": _selector_of(found)} if found else None


def _selector_of(node: Node) -> str:
    """An operator without its overload; of what calls nothing, the opcode."""
    kind, target = opcode(node.text), node.text.target
    if not kind.startswith("call_"):
        return f"op:{kind}"
    parts = target.split(".")
    overloaded = parts[0] in OPERATOR_NAMESPACES and len(parts) > 2
    return f"target:{'.'.join(parts[:2]) if overloaded else target}"


def select(listing: Listing, selector: str) -> list[Node]:
    """The nodes that every term matches. re.error for a bad regular expression."""
    words = _TERM.findall(selector.replace("after:", "", 1))
    tests = [_test(listing, word) for word in words]
    return [node for node in listing.nodes if tests and all(test(node) for test in tests)]


def completions(listing: Listing, selector: str) -> list[str]:
    """Whole selectors that the last word may become."""
    head, last = re.fullmatch(r"(.*?)(\S*)", selector, re.DOTALL).groups()  # type: ignore[union-attr]
    sign = "!" if last.startswith("!") else ""
    kind, colon, value = last[len(sign) :].partition(":")
    if not colon or kind not in _VALUES:
        return []
    values = dict.fromkeys(_VALUES[kind](listing))
    fitting = [each for each in values if each.startswith(value) and each != value]
    return [f"{head}{sign}{kind}:{each}" for each in fitting[:MAX_COMPLETIONS]]


def _test(listing: Listing, word: str) -> Test:
    if word.startswith("!"):
        inner = _test(listing, word[1:])
        return lambda node: not inner(node)
    if len(word) > 2 and word[0] == word[-1] == "/":
        pattern = re.compile(word[1:-1])
        return lambda node: pattern.search(listing.lines[node.line].strip()) is not None
    kind, colon, value = word.partition(":")
    if colon and kind in _KINDS:
        return lambda node: _KINDS[kind](listing, node, value)
    return _bare(listing, word.removeprefix("%"))


def _bare(listing: Listing, word: str) -> Test:
    """A node name; where no node has it, an opcode, then a target."""
    if any(_fits(node.text.name, word) for node in listing.nodes):
        return lambda node: _fits(node.text.name, word)
    if word in _OPCODES:
        return lambda node: opcode(node.text) == word
    return lambda node: _has_target(listing, node, word)


def _has_target(listing: Listing, node: Node, value: str) -> bool:
    called = node.text.class_name
    names = (*_target_names(node.text.target), *((called, f"torch.nn.{called}") if called else ()))
    return any(_fits(name, value) for name in names)


def _target_names(target: str) -> Iterable[str]:
    if not target:
        return ()
    if target.startswith("."):
        return (target, target[1:], f"torch.Tensor{target}", f"Tensor{target}")
    parts = target.split(".")
    if parts[0] in OPERATOR_NAMESPACES and len(parts) > 2:
        packet = ".".join(parts[:2])
        return (target, packet, f"torch.ops.{target}", f"torch.ops.{packet}", parts[1])
    return (target, parts[-1])


def _in_module(listing: Listing, node: Node, value: str) -> bool:
    path, wanted = _path(node).split("."), value.split(".")
    return len(path) >= len(wanted) and all(map(_fits, path, wanted))


def _path(node: Node) -> str:
    """The module that a node runs in; for the call of a submodule, that one."""
    target = node.text.target
    if target != "_guards_fn" and opcode(node.text) == "call_module":
        return target
    return node.module.path


def _in_class(listing: Listing, node: Node, value: str) -> bool:
    path = _path(node)
    if node.text.class_name and _fits(node.text.class_name, value):
        return True
    return any(
        _fits(module.class_name, value)
        for module in listing.modules.values()
        if module.path and module.graph == node.text.graph and _around(module.path, path)
    )


def _classes(listing: Listing) -> Iterable[str]:
    yield from (each.class_name for each in listing.modules.values() if each.path)
    yield from (node.text.class_name for node in listing.nodes if node.text.class_name)


def _around(outer: str, path: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")


def _on_source_line(listing: Listing, node: Node, value: str) -> bool:
    file, _, line = value.rpartition(":")
    place = node.place
    if place is None or str(place.line) != line:
        return False
    return f"/{place.file}".endswith(f"/{file}") or file.endswith(f"/{place.file}")


def _in_graph(listing: Listing, node: Node, value: str) -> bool:
    return _fits(listing.sections[""].title, value)


def _has_opcode(listing: Listing, node: Node, value: str) -> bool:
    return opcode(node.text) == value


def _fits(text: str, pattern: str) -> bool:
    return text == pattern or fnmatchcase(text, pattern)


_KINDS: dict[str, Callable[[Listing, Node, str], bool]] = {
    "op": _has_opcode,
    "target": _has_target,
    "module": _in_module,
    "class": _in_class,
    "source": _on_source_line,
    "graph": _in_graph,
}

_VALUES: dict[str, Callable[[Listing], Iterable[str]]] = {
    "op": lambda listing: _OPCODES,
    "target": lambda listing: (node.text.target for node in listing.nodes if node.text.arguments),
    "module": lambda listing: (each.path for each in listing.modules.values() if each.path),
    "class": lambda listing: _classes(listing),
    "source": lambda listing: (f"{each.file}:{each.line}" for each in listing.places.values()),
    "graph": lambda listing: (listing.sections[""].title,),
}
