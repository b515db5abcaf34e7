"""Devices that tracing wrote into the graph: it runs there wherever its inputs are."""

import re
from collections.abc import Iterator

from fxdap.lsp.listing.finding import Finding, Severity
from fxdap.lsp.listing.model import Listing, Node
from fxdap.lsp.listing.operators import is_function, traits

_DEVICE = r"(?:cuda|cpu|mps|xpu|hpu|xla|npu)(?::\d+)?"
_KEYWORD = re.compile(rf"\bdevice='?({_DEVICE})'?(?=[,)\s]|$)")
_MOVE = re.compile(rf"^%\w+, '?({_DEVICE})'?(?=[,)\s]|$)")


def baked_in_device(listing: Listing, node: Node) -> Iterator[Finding]:
    """A device that is a constant; the host as a mere hint, since every export has it."""
    text = node.text
    if "device=" not in text.arguments and traits(text.target).base != "to":
        return
    if not is_function(text):
        return
    found = _KEYWORD.search(text.arguments)
    if found is None and traits(text.target).base == "to":
        found = _MOVE.search(text.arguments)
    if found is None:
        return
    start = text.target_start + len(text.target) + 1 + found.start(1)
    message = f"Device {found[1]} is a constant of the graph: it does not follow the inputs."
    severity = Severity.Hint if found[1] == "cpu" else Severity.Information
    yield Finding(node.line, start, start + len(found[1]), "device", message, severity)
