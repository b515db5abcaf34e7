"""Links from headers and source comments to the user's files."""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing.request import Request

if TYPE_CHECKING:
    from fxdap.lsp.server import Server


async def document_links(
    server: "Server", params: types.DocumentLinkParams
) -> list[types.DocumentLink]:
    """Each `file:line` whose file is found."""
    request = Request(server, params.text_document.uri)
    files: dict[str, str] = {}
    for place in request.listing.places.values():
        if place.file not in files:
            path = await server.find_source(request.uri, place)
            files[place.file] = path.as_uri() if path is not None else ""
    return [
        types.DocumentLink(
            range=request.columns.range(line, place.start, place.end),
            target=f"{files[place.file]}#L{place.line}",
        )
        for line, place in request.listing.places.items()
        if files[place.file]
    ]
