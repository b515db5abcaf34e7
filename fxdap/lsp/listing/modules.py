"""Module headers: what belongs to one, how much it is, and what breaks on it."""

from fxdap.lsp.listing.facts import storage_of
from fxdap.lsp.listing.model import Listing, Module, Node, Run, Section
from fxdap.lsp.listing.value_type import size_text


def first_run(listing: Listing, run: Run) -> bool:
    """Whether this header is the first of its module, or of its graph."""
    if run.header.path:
        return run.module.header == run.line
    section = listing.sections[run.module.graph]
    return section.header == run.line


def nodes_of(listing: Listing, run: Run) -> list[Node]:
    """The nodes of the module that a header names and below, or of the whole graph."""
    if run.header.path:
        return listing.below(run.module)
    return listing.sections[run.module.graph].nodes


def summary(listing: Listing, nodes: list[Node]) -> str:
    """`12 nodes, 3.1 MB`: the memory of what they compute, where the types tell."""
    count = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"
    new_bytes = storage_of(listing).new_bytes
    sizes = [size for node in nodes if (size := new_bytes(node)) is not None]
    return f"{count}, {size_text(sum(sizes))}" if sizes else count


def title(module: Module, section: Section) -> str:
    """`blocks.0 (call 2)`, or the graph's title."""
    if not module.path:
        return section.title
    return f"{module.path} (call {module.call})" if module.call > 1 else module.path
