"""The server itself: requests of an editor and their answers (Language Server Protocol 3.17).

Editors that can pull diagnostics do; to others they are pushed while the user types. Texts are read
in the event loop, a statement at a time, so that keystrokes and cancellations are seen in between.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from sqlrewrite import __version__
from sqlrewrite.linting.files import unread
from sqlrewrite.linting.findings import Finding, Severity, unsuppressed
from sqlrewrite.results import ConfigError
from sqlrewrite.run.file_content import UnreadFileError, check_size
from sqlrewrite.run.runner import internal_error
from sqlrewrite.server import actions, hover
from sqlrewrite.server.analysis import Analysis, Reader, analyse
from sqlrewrite.server.positions import Positions
from sqlrewrite.server.project import ServerProject, Workspace
from sqlrewrite.text.hosts.region import Change, Host
from sqlrewrite.warehouse import CatalogError

_NAME = "dpp-rewrite"
_FIX_ALL = "source.fixAll.dpp-rewrite"
_WATCHED = ("**/{pyproject,dpp-rewrite}.toml", "**/*.{sql,hql,ddl,sparksql,sql.j2,json,yml}")
_SLICE = 0.01
"""The seconds of reading after which other requests have a turn."""
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
    """The state of an open file: its reader, and the analysis of its last text."""

    def __init__(self) -> None:
        self.reader = Reader()
        self.lock = asyncio.Lock()
        self.last: tuple[str, ServerProject, Analysis] | None = None
        self.pushing: asyncio.Task[None] | None = None


class Server(LanguageServer):
    """The server, with the files that are open in its editor."""

    def __init__(self, config: str | None, chosen: Mapping[str, Any], *, isolated: bool) -> None:
        full = types.TextDocumentSyncKind.Full  # lines are counted here, and as the protocol has it
        super().__init__(_NAME, __version__, text_document_sync_kind=full)
        self.projects = Workspace(config, chosen, isolated=isolated)
        self.open: dict[str, _Open] = {}
        self.errors_shown: dict[str, str] = {}

    @property
    def pulled(self) -> bool:
        """Whether the editor asks for diagnostics by itself."""
        capabilities = self.client_capabilities.text_document
        return capabilities is not None and capabilities.diagnostic is not None

    def positions(self, analysis: Analysis) -> Positions:
        """The places of a text, as the editor counts them."""
        return Positions(analysis.host.text, self.workspace.position_codec)

    def project(self, uri: str) -> ServerProject | None:
        """The project of a file; None where it cannot be read, which is shown to the user once."""
        path = path_of(uri)
        try:
            found = self.projects.of(path)
        except (ConfigError, CatalogError) as error:
            if self.errors_shown.get(path) != str(error):
                self.errors_shown[path] = str(error)
                message = f"{_NAME}: {error}"
                self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))
            return None
        self.errors_shown.pop(path, None)
        return found

    async def analysis(self, uri: str) -> tuple[ServerProject, Analysis] | None:
        """The analysis of a file's present text; None where its project cannot be read."""
        state = self.open.setdefault(uri, _Open())
        async with state.lock:
            while True:
                text = self.workspace.get_text_document(uri).source
                project = self.project(uri)
                if project is None:
                    return None
                if state.last is not None and state.last[0] == text and state.last[1] is project:
                    return project, state.last[2]
                try:
                    done = await self._read(uri, text, project, state.reader)
                except Exception as error:  # a bug of ours: the server goes on with the next text
                    state.reader = Reader()
                    message = internal_error(error).message
                    log = types.LogMessageParams(types.MessageType.Error, message)
                    self.window_log_message(log)
                    done = Analysis(path_of(uri), Host(text), project.options)
                if done is not None:
                    state.last = (text, project, done)
                    return project, done

    async def _read(
        self, uri: str, text: str, project: ServerProject, reader: Reader
    ) -> Analysis | None:
        """The analysis of a text; None where there is a newer text meanwhile."""
        path, size = path_of(uri), len(text.encode("utf-8", "surrogatepass"))
        try:
            check_size(size, project.settings.file_limit)
        except UnreadFileError as error:
            findings = unread(path, error.problem).findings
            return Analysis(path, Host(text), project.options, findings=findings)
        done: Analysis | None = None
        since = time.monotonic()
        document = self.workspace.get_text_document(uri)
        for step in reader.steps(path, text, project.catalog, project.options):
            done = step
            if time.monotonic() - since > _SLICE:
                await asyncio.sleep(0)
                since = time.monotonic()
                if document.source is not text and document.source != text:
                    return None
        return done

    def diagnostics(self, project: ServerProject, analysis: Analysis) -> list[types.Diagnostic]:
        """The findings that count, as the editor shows them."""
        places = self.positions(analysis)
        return [_diagnostic(it, places) for it in _shown(project, analysis)]

    def push(self, uri: str) -> None:
        """Pushes the findings when the text is read; cancels an earlier push that is under way."""
        if self.pulled:
            return
        state = self.open.setdefault(uri, _Open())
        if state.pushing is not None:
            state.pushing.cancel()
        state.pushing = asyncio.ensure_future(self._push(uri))

    async def _push(self, uri: str) -> None:
        version = self.workspace.get_text_document(uri).version
        done = await self.analysis(uri)
        items = [] if done is None else self.diagnostics(*done)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, items, version=version)
        )


def path_of(uri: str) -> str:
    """A file's path, or the name of a text without a file, which still shows its language."""
    return to_fs_path(uri) or urlsplit(uri).path


def _diagnostic(found: Finding, places: Positions) -> types.Diagnostic:
    message = f"{found.message}\n{found.help}" if found.help else found.message
    return types.Diagnostic(
        range=places.range(found.place.span),
        message=message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        source=_NAME,
    )


def make(config: str | None, chosen: Mapping[str, Any], *, isolated: bool = False) -> Server:
    """A server with its features, ready to be started."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # we report what it warns of
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
    """Asks the editor, if it can, to report changes of settings and catalogs."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace is not None else None
    if watched is not None and watched.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration(_NAME, method, options)
        with suppress(JsonRpcException):  # saved files are reported all the same
            await server.client_register_capability_async(types.RegistrationParams([registration]))


async def _opened(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    server.projects.look_again()
    server.push(params.text_document.uri)


async def _changed(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    server.push(params.text_document.uri)


async def _saved(
    server: Server, params: types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams
) -> None:
    """Reads all open files again: the saved file may be a catalog or settings."""
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
    done = await server.analysis(params.text_document.uri)
    items = [] if done is None else server.diagnostics(*done)
    name = f"{hash(tuple(map(repr, items))):x}"
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name)
    return types.RelatedFullDocumentDiagnosticReport(items, result_id=name)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    done = await server.analysis(params.text_document.uri)
    if done is None:
        return None
    places = server.positions(done[1])
    found = hover.hover(done[1], places.offset(params.position))
    if found is None:
        return None
    text, span = found
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, places.range(span))


async def _actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    done = await server.analysis(uri)
    if done is None:
        return []
    project, analysis = done
    places = server.positions(analysis)
    found: list[types.CodeAction] = []
    if _is_requested(params, types.CodeActionKind.QuickFix):
        start, end = map(places.offset, (params.range.start, params.range.end))
        shown = _shown(project, analysis)
        near = [it for it in shown if it.place.span.start <= end and start <= it.place.span.end]
        reader = server.open[uri].reader

        def again(text: str) -> Analysis:
            return analyse(analysis.path, text, project.catalog, project.options, reader)

        offered = actions.actions(analysis, near, again)
        found += (_action(uri, it, places) for it in offered)
    every = actions.everything(analysis) if _is_requested(params, _FIX_ALL) else ()
    if every:
        title = "Write and refresh all pruning predicates"
        edit = _edit(uri, every, places)
        found.append(types.CodeAction(title, kind=_FIX_ALL, edit=edit))
    return found


def _action(uri: str, it: actions.Action, places: Positions) -> types.CodeAction:
    return types.CodeAction(
        it.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(it.finding, places)],
        is_preferred=it.preferred,
        edit=_edit(uri, it.changes, places),
    )


def _shown(project: ServerProject, analysis: Analysis) -> Iterable[Finding]:
    return unsuppressed(project.finding_filter.applied(analysis.path, analysis.findings))


def _is_requested(params: types.CodeActionParams, kind: str) -> bool:
    """Whether an action of a kind is requested: by that kind, a more general one, or none."""
    only = params.context.only
    return not only or any(kind == it or kind.startswith(f"{it}.") for it in only)


def _edit(uri: str, changes: Iterable[Change], places: Positions) -> types.WorkspaceEdit:
    edits = [types.TextEdit(places.range(span), text) for span, text in changes]
    return types.WorkspaceEdit(changes={uri: edits})
