"""The server: hands each request to the language of its document, and checks what was edited.

Everything runs on one event loop. Handlers take milliseconds on parsed documents; what imports
torch runs in another process.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from fxdap import __version__
from fxdap.lsp import graphs
from fxdap.lsp.documents import LONG, Cache
from fxdap.lsp.encoding import Encoded, Protocol
from fxdap.lsp.language import Handler, Language
from fxdap.lsp.listing.features import LISTING
from fxdap.lsp.listing.line import Place
from fxdap.lsp.listing.model import Listing
from fxdap.lsp.listing.selectors import MATCH, match_selector
from fxdap.lsp.listing.tokens import LEGEND
from fxdap.lsp.python.features import PYTHON
from fxdap.lsp.python.file import PythonFile
from fxdap.lsp.source_files import SourceFiles
from fxdap.lsp.torch_process import TorchProcess

LANGUAGES: tuple[Language, ...] = (LISTING, PYTHON)

WORKSPACE_REQUESTS: Mapping[str, Handler] = {
    graphs.TARGETS: graphs.targets,
    graphs.LISTING: graphs.write_listing,
    MATCH: match_selector,
}
"""Requests of our own that are about no document."""

CHECK_DELAY = 0.15
"""Seconds without an edit before a document is checked."""

TURN = 0.003
"""Seconds in which messages are read before a request on a long document is worked on."""

OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=["%"]),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: LEGEND,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: LEGEND,
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix]),
}
"""What is announced along with a method."""


class Server(LanguageServer):
    """What handlers share: documents as they were parsed, and what the client can do."""

    protocol: Protocol

    def __init__(self, languages: Sequence[Language] = LANGUAGES) -> None:
        super().__init__("fxdap", __version__, protocol_cls=Protocol)
        self.languages = languages
        self.listings = Cache(Listing)
        self.torch = TorchProcess()
        self._sources = SourceFiles()
        self._stored: dict[Path, tuple[float, Listing]] = {}
        self.python_files = Cache(PythonFile)
        self._turn = asyncio.Lock()
        self._checks: dict[str, asyncio.Task[None]] = {}
        for method in dict.fromkeys(name for each in languages for name in each.handlers):
            self.feature(method, OPTIONS.get(method))(self._dispatch(method))
        for method, handler in WORKSPACE_REQUESTS.items():
            self.feature(method)(self._workspace_request(handler))
        self.options: Any = None
        self.feature(types.INITIALIZE)(lambda params: self._initialize(params))
        # pygls marks what it registers, which only a plain function allows.
        self.feature(types.TEXT_DOCUMENT_DID_OPEN)(lambda params: self._edited(params))
        self.feature(types.TEXT_DOCUMENT_DID_CHANGE)(lambda params: self._edited(params))
        self.feature(types.TEXT_DOCUMENT_DID_CLOSE)(lambda params: self._closed(params))

    def language_of(self, uri: str) -> Language | None:
        """By what the client called it, else by its suffix."""
        document = self.workspace.text_documents.get(uri)
        for language in self.languages:
            if document is not None and document.language_id == language.id:
                return language
        return next((each for each in self.languages if uri.endswith(each.suffix)), None)

    @property
    def folders(self) -> list[str]:
        """The workspace folders on disk."""
        uris = [each.uri for each in self.workspace.folders.values()]
        uris = uris or [self.workspace.root_uri or ""]
        return [path for uri in uris if (path := to_fs_path(uri))]

    @property
    def has_commands(self) -> bool:
        """Whether the client runs the debugger's commands: `{"commands": true}` at initialize."""
        return isinstance(self.options, dict) and bool(self.options.get("commands"))

    async def find_source(self, uri: str, place: Place, installed: bool = False) -> Path | None:
        """The user's file that a listing names, None unless sure which one it is."""
        where = (place.file, place.line, place.code)
        document = to_fs_path(uri) or ""
        return await asyncio.to_thread(
            self._sources.find, *where, document, self.folders, installed
        )

    def stored_listing(self, path: Path) -> Listing:
        """A listing on disk; called in a thread."""
        changed = path.stat().st_mtime
        known = self._stored.get(path)
        if known is None or known[0] != changed:
            text = path.read_text(encoding="utf-8", errors="replace")
            known = self._stored[path] = (changed, Listing(text))
        return known[1]

    def _dispatch(self, method: str) -> Callable[[Any], Awaitable[Any]]:
        async def handle(params: Any) -> Any:
            uri = _uri_of(params)
            await self._wait_for_turn(uri)
            if uri is None:
                return Encoded(await self._ask_all(method, params))
            language = self.language_of(uri)
            handler = language.handlers.get(method) if language is not None else None
            if language is None or handler is None:
                return None
            await language.prepare(self, uri)
            return Encoded(await _result(handler(self, params)))

        return handle

    def _workspace_request(self, handler: Handler) -> Callable[[Any], Awaitable[Any]]:
        async def handle(params: Any) -> Any:
            return Encoded(await handler(self, params))

        return handle

    async def _wait_for_turn(self, uri: str | None) -> None:
        """Let `$/cancelRequest` in before work begins, on long documents before each request."""
        document = self.workspace.text_documents.get(uri or "")
        if document is None or len(document.source) < LONG:
            await asyncio.sleep(0)
        else:
            async with self._turn:
                await asyncio.sleep(TURN)

    async def _ask_all(self, method: str, params: Any) -> list[Any]:
        found: list[Any] = []
        for language in self.languages:
            handler = language.handlers.get(method)
            if handler is not None:
                found += await _result(handler(self, params)) or []
        return found

    def _initialize(self, params: types.InitializeParams) -> None:
        options = params.initialization_options
        self.options = options if isinstance(options, dict) else vars(options) if options else {}
        self.protocol.use_own_documents()

    def _edited(
        self, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
    ) -> None:
        uri = params.text_document.uri
        self._stop_check(uri)
        language = self.language_of(uri)
        if language is not None:
            self._checks[uri] = asyncio.ensure_future(self._check(language, uri))

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._stop_check(uri)
        for language in self.languages:
            language.forget(self, uri)
        self._publish(uri, [])

    def _stop_check(self, uri: str) -> None:
        task = self._checks.pop(uri, None)
        if task is not None:
            task.cancel()

    async def _check(self, language: Language, uri: str) -> None:
        await asyncio.sleep(CHECK_DELAY)
        version = self.workspace.get_text_document(uri).version
        await language.prepare(self, uri)
        found: list[types.Diagnostic] = []
        for each in language.check(self, uri):
            if each is None:
                await asyncio.sleep(0)
            else:
                found.append(each)
        self._publish(uri, found, version)

    def _publish(
        self, uri: str, found: Sequence[types.Diagnostic], version: int | None = None
    ) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )


async def _result(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _uri_of(params: Any) -> str | None:
    """The document that a request is about, None for one about the whole workspace."""
    for name in ("text_document", "item"):
        document = getattr(params, name, None)
        if document is not None:
            return str(document.uri)
    return getattr(params, "uri", None)
