"""Hover: what the listing, and torch once it is loaded, say of a node, a target or a module.

It holds no values: while a session is stopped, the debugger's own hover shows those, and VS Code
shows this one while Alt is held.
"""

from typing import TYPE_CHECKING

from lsprotocol import types

from fxdap.lsp.listing import modules
from fxdap.lsp.listing.facts import is_buffer, is_dead, storage_of
from fxdap.lsp.listing.line import Header, Place
from fxdap.lsp.listing.model import Node
from fxdap.lsp.listing.operators import is_function, opcode
from fxdap.lsp.listing.request import PositionRequest
from fxdap.lsp.listing.value_type import bytes_of, size_text
from fxdap.lsp.targets import page_of

if TYPE_CHECKING:
    from fxdap.lsp.server import Server

MAX_NAMES = 8


async def hover(server: "Server", params: types.HoverParams) -> types.Hover | None:
    """The facts about what the position names."""
    request = PositionRequest(server, params)
    owner = request.listing.by_line.get(request.line)
    named = request.named
    if named is not None:
        node, use = named
        text = await _Hover(request).node(node)
        where = request.use_range(request.line, use) if use else request.definition_range(node)
        return _markdown(text, where)
    if owner is not None and _on_target(owner, request.column):
        start = owner.text.target_start
        where = request.columns.range(request.line, start, start + len(owner.text.target))
        text = _Hover(request).target(owner)
        return _markdown(text, where) if text else None
    parsed = (
        request.listing.parsed[request.line] if request.line < len(request.listing.lines) else None
    )
    if isinstance(parsed, Header):
        return _markdown(await _Hover(request).header(parsed), request.line_range(request.line))
    return None


def _markdown(text: str, where: types.Range) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)


def _on_target(node: Node, column: int) -> bool:
    start = node.text.target_start
    return bool(node.text.target) and start <= column <= start + len(node.text.target)


class _Hover:
    def __init__(self, request: PositionRequest) -> None:
        self._request = request
        self._server = request.server

    async def node(self, node: Node) -> str:
        text = node.text
        size = bytes_of(text.type_text)
        head = f"**`%{text.name}`**"
        if text.type_text:
            head += f": `{text.type_text}`"
        if size is not None:
            head += f", {size_text(size)}"
        shown = storage_of(self._request.listing).root(node)
        if shown is not node:
            head += f", storage of `%{shown.text.name}`"
        lines = [head, self._call(node), await self._where(node), self._reads(node), _users(node)]
        return "\n\n".join(line for line in lines if line)

    def target(self, node: Node) -> str:
        return self._call(node)

    async def header(self, header: Header) -> str:
        run = self._request.listing.run_at(self._request.line)
        if run is None:
            return ""
        listing = self._request.listing
        section = listing.sections[run.module.graph]
        name = modules.title(run.module, section)
        head = f"**`{name}`**" + (f" `{header.class_name}`" if header.class_name else "")
        body = modules.summary(listing, modules.nodes_of(listing, run))
        where = await self._link(header.place) if header.place is not None else ""
        nested = f"runs in `%{header.user}`" if header.user else ""
        return "\n\n".join(line for line in (head, body, nested, where) if line)

    def _call(self, node: Node) -> str:
        text = node.text
        op = opcode(text)
        if op == "get_attr":
            kind = "buffer" if is_buffer(node) else "parameter, buffer or constant"
            return f"get_attr `{text.target}` ({kind})"
        if op in ("placeholder", "output"):
            default = (
                f", default `{text.default}`" if op == "placeholder" and text.arguments else ""
            )
            return op + default
        if not is_function(text):
            return f"{op} `{text.target}`" + (f" ({text.class_name})" if text.class_name else "")
        facts = self._server.torch.known(text.target)
        page = facts.url if facts is not None else page_of(text.target)
        link = f" · [documentation]({page})" if page else ""
        schema = f"\n```python\n{facts.schema}\n```" if facts is not None and facts.schema else ""
        return f"{op} `{text.target}`{link}{schema}"

    async def _where(self, node: Node) -> str:
        module = node.module
        parts = []
        if module.path:
            parts.append(f"in `{module.path}` ({module.class_name})")
        if node.place is not None:
            parts.append(await self._link(node.place))
        return " · ".join(parts)

    async def _link(self, place: Place) -> str:
        file = await self._server.find_source(self._request.uri, place)
        name = f"{place.file}:{place.line}"
        shown = f"[{name}]({file.as_uri()}#L{place.line})" if file is not None else f"`{name}`"
        return f"{shown} `{place.code}`" if place.code else shown

    def _reads(self, node: Node) -> str:
        if not node.inputs:
            return ""
        parts = [
            f"`%{each.text.name}`" + (f" `{each.text.type_text}`" if each.text.type_text else "")
            for each in node.inputs[:MAX_NAMES]
        ]
        return f"reads {', '.join(parts)}{_rest(len(node.inputs))}"


def _users(node: Node) -> str:
    if node.text.op == "output":
        return ""
    if not node.users:
        return "never read" + (": dead" if is_dead(node) else "")
    names = ", ".join(f"`%{each.text.name}`" for each in node.users[:MAX_NAMES])
    last = f", last by `%{node.users[-1].text.name}`" if len(node.users) > MAX_NAMES else ""
    return f"read by {names}{_rest(len(node.users))}{last}"


def _rest(count: int) -> str:
    return f" and {count - MAX_NAMES} more" if count > MAX_NAMES else ""
