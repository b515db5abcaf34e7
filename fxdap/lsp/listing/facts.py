"""What a listing's text says of its nodes together: dead, written in place, sharing storage."""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass

from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.operators import is_function, traits, written_name
from fxdap.lsp.listing.value_type import bytes_of

_EFFECTS = ("_", "sym_constrain", "manual_seed", "seed", "set_", "print", "setattr")


@dataclass(frozen=True, slots=True)
class Write:
    """`node` writes into the value of `value`."""

    node: Node
    value: Node


def is_dead(node: Node) -> bool:
    """Whether nothing reads a node that surely does nothing else than give its value."""
    text = node.text
    if node.users or text.op in ("placeholder", "output"):
        return False
    if text.op == "get_attr":
        return True
    target = traits(text.target)
    if not is_function(text) or target.namespace in ("builtins", "higher_order"):
        return False
    name = target.base
    return (
        written_name(text) is None
        and not name.endswith("_")
        and not name.startswith(_EFFECTS)
        and "batch_norm" not in name
        and ".out" not in text.target
    )


def is_buffer(node: Node) -> bool:
    """Whether a get_attr surely fetches a buffer: parameters are floating, and named otherwise."""
    name = node.text.target.rpartition(".")[2]
    if name.startswith("running_") or name == "num_batches_tracked":
        return True
    return node.text.type_text.startswith(("i", "u", "b8"))


class Storage:
    """Which values share storage, and who writes into them."""

    def __init__(self, listing: Listing) -> None:
        self._find = listing.find
        self._roots: dict[Node, Node] = {}
        self.writes = [write for node in listing.nodes for write in self._write_of(node)]
        for node in listing.nodes:
            self._roots[node] = self._root_of(node)
        self.written = {write.value for write in self.writes}

    def groups(self) -> dict[Node, list[Node]]:
        """The values of each storage that something writes into, by the first of them."""
        wanted = {self._roots[write.value] for write in self.writes}
        found: dict[Node, list[Node]] = {root: [] for root in wanted}
        for node, root in self._roots.items():
            if root in found:
                found[root].append(node)
        return found

    def root(self, node: Node) -> Node:
        """The first node that shows the storage of this one's value: mostly itself."""
        return self._roots[node]

    def new_bytes(self, node: Node) -> int | None:
        """How much memory a computed value takes; None for what takes none or does not tell."""
        text = node.text
        if text.op in ("placeholder", "get_attr", "output") or text.target == "operator.getitem":
            return None
        return bytes_of(text.type_text) if self._roots[node] is node else None

    def _write_of(self, node: Node) -> Iterator[Write]:
        name = written_name(node.text)
        value = self._find(node.text.graph, name) if name is not None else None
        if value is not None and value.line < node.line:
            yield Write(node, value)

    def _root_of(self, node: Node) -> Node:
        shown = node.inputs[0] if node.inputs and _shows_first(node) else None
        if shown is None or shown.line >= node.line:
            return node
        return self._roots[shown]


_known: "weakref.WeakKeyDictionary[Listing, Storage]" = weakref.WeakKeyDictionary()


def storage_of(listing: Listing) -> Storage:
    """The storage of a listing, found out once."""
    storage = _known.get(listing)
    if storage is None:
        storage = _known[listing] = Storage(listing)
    return storage


def _shows_first(node: Node) -> bool:
    text = node.text
    if not text.arguments.startswith("%"):
        return False
    if text.target == "operator.getitem":
        return traits(node.inputs[0].text.target).views
    return traits(text.target).view or written_name(text) == node.inputs[0].text.name
