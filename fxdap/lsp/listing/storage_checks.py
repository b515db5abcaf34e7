"""Values that change under another name which is read later."""

from collections.abc import Iterator

from fxdap.lsp.listing.facts import storage_of
from fxdap.lsp.listing.finding import Finding, Severity
from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.operators import traits

_INDEXING = frozenset({"select", "slice", "unsqueeze", "squeeze"})


def shared_writes(listing: Listing) -> Iterator[Finding]:
    """Writes in place to storage that an older name shows, and that a later node reads by it."""
    storage = storage_of(listing)
    groups = storage.groups()
    for write in storage.writes:
        whole = set(_indexed(write.value))
        for other in groups[storage.root(write.value)]:
            # Names made from the result of a write are meant to show it, and `x[0] = 1` is about x.
            if other in whole or other.line >= write.node.line:
                continue
            reader = _reader_after(other, write.node)
            if reader is not None:
                yield _finding(write.node, write.value, other, reader)
                break


def _indexed(node: Node) -> Iterator[Node]:
    """A value, what it is a part of by indexing, what that is a part of, and so on."""
    yield node
    while node.inputs and traits(node.text.target).base in _INDEXING:
        node = node.inputs[0]
        yield node


def _reader_after(node: Node, write: Node) -> Node | None:
    return next((user for user in node.users if user.line > write.line), None)


def _finding(node: Node, value: Node, other: Node, reader: Node) -> Finding:
    text = node.text
    message = (
        f"%{text.name} writes into %{value.text.name} in place. %{other.text.name} shows the same "
        f"storage and is read later, by %{reader.text.name}."
    )
    related = ((other, "shows the same storage"), (reader, "reads it after the write"))
    return Finding(
        node.line, text.start, text.end, "mutation", message, Severity.Information, False, related
    )
