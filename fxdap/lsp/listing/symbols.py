"""Workspace symbols: modules and nodes of the listings that are open or in `.fxdap/graphs`."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from fxdap.lsp.documents import Columns
from fxdap.lsp.listing import modules
from fxdap.lsp.listing.model import Listing

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MAX_SYMBOLS = 200
MAX_BYTES = 20_000_000


async def workspace_symbols(
    server: "Server", params: types.WorkspaceSymbolParams
) -> list[types.WorkspaceSymbol]:
    """The names that contain the query; modules first, `%` leads to nodes."""
    query = params.query.lower()
    found: list[types.WorkspaceSymbol] = []
    for uri, listing in await _listings(server):
        container = listing.sections[""].title
        columns = Columns(listing.lines, server.workspace.position_codec)
        for name, kind, line in _names(listing):
            if query in name.lower():
                where = types.Location(uri, columns.lines(line, line))
                found.append(_symbol(where, name, kind, container))
                if len(found) == MAX_SYMBOLS:
                    return found
        await asyncio.sleep(0)
    return found


def _symbol(
    where: types.Location, name: str, kind: types.SymbolKind, container: str
) -> types.WorkspaceSymbol:
    return types.WorkspaceSymbol(location=where, name=name, kind=kind, container_name=container)


def _names(listing: Listing) -> Iterator[tuple[str, types.SymbolKind, int]]:
    for module in listing.modules.values():
        if module.path:
            name = modules.title(module, listing.sections[module.graph])
            yield name, types.SymbolKind.Module, module.header
    for node in listing.nodes:
        yield f"%{node.qualified}", types.SymbolKind.Variable, node.line


async def _listings(server: "Server") -> list[tuple[str, Listing]]:
    found = {
        uri: server.listings.get(server.workspace, uri)
        for uri, document in server.workspace.text_documents.items()
        if document.language_id == "fxgraph"
    }
    for folder in server.folders:
        for path in sorted(Path(folder, ".fxdap", "graphs").glob("*.fxgraph")):
            uri = from_fs_path(str(path))
            if uri is not None and uri not in found and path.stat().st_size <= MAX_BYTES:
                found[uri] = await asyncio.to_thread(server.stored_listing, path)
    return list(found.items())
