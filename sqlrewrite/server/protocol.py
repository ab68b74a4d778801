"""The server itself: requests of an editor and their answers (Language Server Protocol 3.17).

An editor that can pull diagnostics does so; others get them pushed while the user types. A text is
linted as a whole, once the user pauses, in another thread: requests are answered meanwhile. Offsets
here count code points. An editor's lines count from 0, and its columns are units of UTF-16 unless
it has agreed to another encoding.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from sqlrewrite import __version__
from sqlrewrite.linting.files import unread
from sqlrewrite.linting.findings import Finding, Severity, unsuppressed
from sqlrewrite.results import ConfigError
from sqlrewrite.run.file_content import UnreadFileError, check_size
from sqlrewrite.run.file_rewriting import internal_error
from sqlrewrite.server.actions import Action, actions, everything
from sqlrewrite.server.analysis import Analysis, ServerProject, Workspace, analyse, hover
from sqlrewrite.text.edits import Edit, Span
from sqlrewrite.text.hosts.region import Host
from sqlrewrite.text.source import LINE_END, Lines
from sqlrewrite.warehouse import CatalogError

T = TypeVar("T")

_NAME = "dpp-rewrite"
_FIX_ALL = "source.fixAll.dpp-rewrite"
_WATCHED = ("**/{pyproject,dpp-rewrite}.toml", "**/*.{sql,hql,ddl,sparksql,sql.j2,json,yml}")
_PAUSE = 0.2
"""A text is linted after so many seconds without a change."""
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_PULLED = types.DiagnosticOptions(
    inter_file_dependencies=False, workspace_diagnostics=False, identifier=_NAME
)
_KINDS = types.CodeActionOptions([types.CodeActionKind.QuickFix, _FIX_ALL])


class _Open:
    """An open file: when it was changed, and the analysis of its last text."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.changed = 0.0
        self.last: Analysis | None = None
        self.pushing: asyncio.Task[None] | None = None


class Positions:
    """Converts a text's offsets to an editor's positions and back."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._text = text
        self._lines = Lines(text)
        self._codec = codec

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        line, column = self._lines.place(offset)
        before = self._text[offset - column + 1 : offset]
        return types.Position(line - 1, self._codec.client_num_units(before))

    def range(self, span: Span) -> types.Range:
        """The positions of a span's ends."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; the end of the line if the position is beyond it."""
        try:
            start = self._lines.offset(position.line + 1)
        except IndexError:
            return len(self._text)
        end = LINE_END.search(self._text, start)
        line = self._text[start : end.start() if end else len(self._text)]
        # pygls would take a position beyond the line for the one before its last character.
        inside = min(position.character, self._codec.client_num_units(line))
        here = types.Position(0, inside)
        return start + self._codec.position_from_client_units([line], here).character


class Server(LanguageServer):
    """The server, with the files that are open in its editor."""

    def __init__(self, config: str | None, chosen: Mapping[str, Any], *, isolated: bool) -> None:
        # Pygls would split lines at other characters than the protocol does.
        full = types.TextDocumentSyncKind.Full
        super().__init__(_NAME, __version__, text_document_sync_kind=full)
        self.projects = Workspace(config, chosen, isolated=isolated)
        self.open: dict[str, _Open] = {}
        self.errors_shown: dict[str, str] = {}
        self.reader = ThreadPoolExecutor(max_workers=1)

    @property
    def pulled(self) -> bool:
        """Whether the editor pulls diagnostics."""
        capabilities = self.client_capabilities.text_document
        return capabilities is not None and capabilities.diagnostic is not None

    def positions(self, analysis: Analysis) -> Positions:
        """The converter of a text's offsets, in the editor's encoding."""
        return Positions(analysis.host.text, self.workspace.position_codec)

    def project(self, uri: str) -> ServerProject | None:
        """The project of a file; None if its settings or catalog cannot be read, which is shown to
        the user once."""
        path = path_of(uri)
        try:
            project = self.projects.of(path)
        except (ConfigError, CatalogError) as error:
            if self.errors_shown.get(path) != str(error):
                self.errors_shown[path] = str(error)
                message = f"{_NAME}: {error}"
                self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))
            return None
        self.errors_shown.pop(path, None)
        return project

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """The result of a function, run in another thread, one at a time."""
        return await asyncio.get_running_loop().run_in_executor(self.reader, function, *arguments)

    async def analysis(self, uri: str) -> Analysis | None:
        """The analysis of a file's present text; None if its project cannot be read."""
        state = self.open.setdefault(uri, _Open())
        async with state.lock:
            while True:
                while (wait := state.changed + _PAUSE - time.monotonic()) > 0:
                    await asyncio.sleep(wait)
                text = self.workspace.get_text_document(uri).source
                project = self.project(uri)
                if project is None:
                    return None
                last = state.last
                if last is not None and last.host.text == text and last.project is project:
                    return last
                state.last = await self._analysed(path_of(uri), text, project)

    async def _analysed(self, path: str, text: str, project: ServerProject) -> Analysis:
        try:
            size = len(text.encode("utf-8", "surrogatepass"))
            check_size(size, project.settings.file_limit)
            return await self.run(analyse, path, text, project)
        except UnreadFileError as error:
            return Analysis(path, Host(text), project, unread(path, error.problem).findings)
        except Exception as error:  # a bug of ours: the server goes on with the next text
            message = internal_error(error).message
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
            return Analysis(path, Host(text), project)

    def diagnostics(self, analysis: Analysis) -> list[types.Diagnostic]:
        """The findings that count, as the editor shows them."""
        places = self.positions(analysis)
        return [_diagnostic(finding, places) for finding in _shown(analysis)]

    def push(self, uri: str) -> None:
        """Pushes the findings once the text is linted; cancels an earlier push of this file."""
        if self.pulled:
            return
        state = self.open.setdefault(uri, _Open())
        if state.pushing is not None:
            state.pushing.cancel()
        state.pushing = asyncio.ensure_future(self._push(uri))

    async def _push(self, uri: str) -> None:
        version = self.workspace.get_text_document(uri).version
        analysis = await self.analysis(uri)
        items = [] if analysis is None else self.diagnostics(analysis)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, items, version=version)
        )


def path_of(uri: str) -> str:
    """A file's path; for a text without a file, its name, whose suffix shows the language."""
    return to_fs_path(uri) or urlsplit(uri).path


def _diagnostic(finding: Finding, places: Positions) -> types.Diagnostic:
    message = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    return types.Diagnostic(
        range=places.range(finding.place.span),
        message=message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=_NAME,
    )


def make(config: str | None, chosen: Mapping[str, Any], *, isolated: bool = False) -> Server:
    """A server with its features, ready to be started."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # our findings have what it warns of
    server = Server(config, chosen, isolated=isolated)
    server.feature(types.INITIALIZED)(_initialized)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_changed)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_saved)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_saved)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_closed)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, _PULLED)(_diagnose)
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _KINDS)(_actions)
    return server


async def _initialized(server: Server, params: types.InitializedParams) -> None:
    """Asks the editor to report changes of settings and catalogs, if it can."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    if watched is not None and watched.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration(_NAME, method, options)
        with suppress(JsonRpcException):  # the editor still reports when a file is saved
            await server.client_register_capability_async(types.RegistrationParams([registration]))


async def _opened(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    server.projects.look_again()
    server.push(params.text_document.uri)


async def _changed(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.open.setdefault(uri, _Open()).changed = time.monotonic()
    server.push(uri)


async def _saved(
    server: Server, params: types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams
) -> None:
    """Analyses all open files again: the saved file may be a catalog or settings."""
    server.projects.look_again()
    for uri in list(server.open):
        server.push(uri)
    workspace = server.client_capabilities.workspace
    asks = workspace.diagnostics if workspace is not None else None
    if server.pulled and asks is not None and asks.refresh_support:
        with suppress(JsonRpcException):
            await server.workspace_diagnostic_refresh_async(None)


async def _closed(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    state = server.open.pop(uri, None)
    if state is not None and state.pushing is not None:
        state.pushing.cancel()
    if not server.pulled:
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


async def _diagnose(
    server: Server, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    analysis = await server.analysis(params.text_document.uri)
    items = [] if analysis is None else server.diagnostics(analysis)
    name = f"{hash(tuple(map(repr, items))):x}"
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name)
    return types.RelatedFullDocumentDiagnosticReport(items, result_id=name)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    analysis = await server.analysis(params.text_document.uri)
    if analysis is None:
        return None
    places = server.positions(analysis)
    hovered = await server.run(hover, analysis, places.offset(params.position))
    if hovered is None:
        return None
    text, span = hovered
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, places.range(span))


async def _actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    analysis = await server.analysis(uri)
    if analysis is None:
        return []
    places = server.positions(analysis)
    answer: list[types.CodeAction] = []
    if _is_requested(params, types.CodeActionKind.QuickFix):
        start, end = map(places.offset, (params.range.start, params.range.end))
        spans = [(finding, finding.place.span) for finding in _shown(analysis)]
        near = [finding for finding, span in spans if span.start <= end and start <= span.end]
        offered = await server.run(lambda: list(actions(analysis, near)))
        answer += (_action(uri, action, places) for action in offered)
    changes = everything(analysis) if _is_requested(params, _FIX_ALL) else ()
    if changes:
        title = "Write and refresh all pruning predicates"
        edit = _edit(uri, changes, places)
        answer.append(types.CodeAction(title, kind=_FIX_ALL, edit=edit))
    return answer


def _action(uri: str, action: Action, places: Positions) -> types.CodeAction:
    return types.CodeAction(
        action.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(action.finding, places)],
        is_preferred=action.preferred,
        edit=_edit(uri, action.changes, places),
    )


def _shown(analysis: Analysis) -> Iterable[Finding]:
    applied = analysis.project.finding_filter.applied
    return unsuppressed(applied(analysis.path, analysis.findings))


def _is_requested(params: types.CodeActionParams, kind: str) -> bool:
    """Whether an action of this kind is requested: by its name, a more general one, or without
    any."""
    only = params.context.only
    return not only or any(f"{kind}.".startswith(f"{wide}.") for wide in only)


def _edit(uri: str, changes: Iterable[Edit], places: Positions) -> types.WorkspaceEdit:
    edits = [types.TextEdit(places.range(span), text) for span, text in changes]
    return types.WorkspaceEdit(changes={uri: edits})
