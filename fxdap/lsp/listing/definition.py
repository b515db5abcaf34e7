"""Where names lead: a node's line, a nested graph, Python source of a target, the user's line."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.line import Header, Place
from fxdap.lsp.listing.model import Node
from fxdap.lsp.listing.operators import is_function
from fxdap.lsp.listing.request import PositionRequest

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


async def definition(server: "Server", params: types.DefinitionParams) -> types.Location | None:
    """The one place that a name, a target, a header or a source comment stands for."""
    request = PositionRequest(server, params)
    named = request.named
    if named is not None:
        return request.location(named[0])
    listing = request.listing
    owner = listing.by_line.get(request.line)
    if owner is not None:
        start = owner.text.target_start
        on_target = start <= request.column <= start + len(owner.text.target)
        return await _target(request, owner) if owner.text.target and on_target else None
    parsed = listing.line_at(request.line)
    if isinstance(parsed, Header) and parsed.user and request.column < parsed.end:
        user = listing.user_of(listing.sections[parsed.graph])
        if user is not None:
            return request.location(user)
    place = listing.places.get(request.line)
    return await _source(request, place) if place is not None else None


async def _target(request: PositionRequest, node: Node) -> types.Location | None:
    section = request.listing.sections.get(_inner_graph(node))
    if section is not None:
        return types.Location(request.uri, request.line_range(section.header))
    if is_function(node.text):
        facts = await request.server.torch.find(node.text.target)
        if facts.file:
            return _location(Path(facts.file), facts.line)
    elif "." in node.text.target and node.text.op == "call":
        found = await _user_function(request, node.text.target)
        if found is not None:
            return found
    return await _source(request, node.place) if node.place is not None else None


def _inner_graph(node: Node) -> str:
    """The nested graph that a call_module or get_attr names, if there is one."""
    outer = node.text.graph
    return f"{outer}.{node.text.target}" if outer else node.text.target


async def _user_function(request: PositionRequest, target: str) -> types.Location | None:
    """`model.helper` as `def helper` in the workspace's model.py; nothing is imported for it."""
    module, _, name = target.rpartition(".")
    place = Place(f"{module.replace('.', '/')}.py", 0, 0, 0)
    file = await request.server.find_source(request.uri, place)
    if file is None:
        return None
    define = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b")
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    line = next((number for number, text in enumerate(lines, 1) if define.match(text)), None)
    return _location(file, line) if line is not None else None


async def _source(request: PositionRequest, place: Place) -> types.Location | None:
    file = await request.server.find_source(request.uri, place, installed=True)
    return _location(file, place.line) if file is not None else None


def _location(file: Path, line: int) -> types.Location:
    start = types.Position(max(line - 1, 0), 0)
    return types.Location(file.as_uri(), types.Range(start, start))
