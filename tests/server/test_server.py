"""The server as an editor sees it: a client of the protocol, over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from click.testing import CliRunner
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from sqlrewrite import Catalog, rewrite
from sqlrewrite.cli.commands import program
from tests.text.hosts.test_notebooks import CALL, SQL
from tests.text.hosts.test_python import MARKER

DDL = """\
CREATE TABLE sales (item INT, amt DOUBLE, day INT) PARTITIONED BY (day);
CREATE TABLE dates (day INT, season STRING, name STRING);
"""
TEXT = f"SELECT 1;\n{SQL} AND d.name = 'é\U0001f600'; {SQL};\n"
ENCODINGS = {"visual_studio_code": "utf-16", "neovim": "utf-8"}
UNITS = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1)}
SERVER = [sys.executable, "-m", "sqlrewrite", "server", "--stdio"]


@pytest_lsp.fixture(  # type: ignore[untyped-decorator]
    params=["visual_studio_code", "neovim"],
    config=ClientServerConfig(server_command=SERVER),
    scope="module",
    loop_scope="module",
)
async def client(lsp_client: LanguageClient, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    capabilities = client_capabilities(request.param)
    assert capabilities.text_document is not None
    assert capabilities.workspace is not None
    pulls = request.param == "visual_studio_code"  # the other is told, and does not ask
    asks = types.DiagnosticClientCapabilities() if pulls else None
    capabilities.text_document.diagnostic = asks
    refreshed = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    capabilities.workspace.diagnostics = refreshed if pulls else None
    params = types.InitializeParams(capabilities=capabilities)
    lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda *_: None)
    started = await lsp_client.initialize_session(params)
    assert started.capabilities.position_encoding == ENCODINGS[request.param]
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own."""
    (tmp_path / "ddl.sql").write_text(DDL)
    (tmp_path / "pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = ["ddl.sql"]\n')
    return tmp_path


def test_without_its_extra_the_server_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "sqlrewrite.server.protocol", raising=False)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    result = CliRunner().invoke(program, ["server"])
    assert result.exit_code == 2
    assert "pip install 'pygls>=2,<3' lsprotocol" in result.stderr


def open_(client: LanguageClient, path: Path, text: str) -> str:
    item = types.TextDocumentItem(path.as_uri(), "sql", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return path.as_uri()


def change(client: LanguageClient, uri: str, version: int, text: str) -> None:
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


def save(client: LanguageClient, uri: str) -> None:
    its = types.TextDocumentIdentifier(uri)
    client.text_document_did_save(types.DidSaveTextDocumentParams(its))


async def diagnostics(client: LanguageClient, uri: str) -> list[types.Diagnostic]:
    """What the editor shows: pulled if it can, else what it was told last."""
    assert client.capabilities is not None
    its = client.capabilities.text_document
    if its is None or its.diagnostic is None:
        while uri not in client.diagnostics:
            await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(client.diagnostics.pop(uri))
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    report = await client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    again = types.DocumentDiagnosticParams(
        types.TextDocumentIdentifier(uri), previous_result_id=report.result_id
    )
    same = await client.text_document_diagnostic_async(again)
    assert isinstance(same, types.RelatedUnchangedDocumentDiagnosticReport)
    return list(report.items)


async def offered(client: LanguageClient, uri: str, at: types.Range) -> list[types.CodeAction]:
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri), at, types.CodeActionContext(diagnostics=[])
        )
    )
    assert actions is not None
    assert all(isinstance(action, types.CodeAction) for action in actions)
    return [action for action in actions if isinstance(action, types.CodeAction)]


def units(client: LanguageClient) -> tuple[str, int]:
    """What the editor counts columns in, and how many bytes that has."""
    assert client.capabilities is not None
    general = client.capabilities.general
    utf_8 = general is not None and general.position_encodings is not None
    return UNITS["utf-8" if utf_8 else "utf-16"]


def applied(client: LanguageClient, text: str, uri: str, action: types.CodeAction) -> str:
    """A text with an action's edits, as the editor makes them."""
    codec, width = units(client)
    assert action.edit is not None
    assert action.edit.changes is not None
    data, starts = text.encode(codec), [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode(codec)))
    for edit in reversed(action.edit.changes[uri]):
        start, end = (
            starts[place.line] + width * place.character
            for place in (edit.range.start, edit.range.end)
        )
        data = data[:start] + edit.new_text.encode(codec) + data[end:]
    return data.decode(codec)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_editor_s_work(client: LanguageClient, folder: Path) -> None:
    """Opened, looked at, mended, typed into, suppressed, and closed."""
    uri = open_(client, folder / "q.sql", TEXT)
    findings = await diagnostics(client, uri)
    assert [finding.code for finding in findings] == ["DPP001", "DPP001"]
    second = findings[1].range.start  # behind a letter of several units
    codec, width = units(client)
    line = TEXT.split("\n")[second.line].encode(codec)
    assert line[width * second.character :].decode(codec).startswith("sales s")

    hovered = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), second)
    )
    assert hovered is not None
    assert isinstance(hovered.contents, types.MarkupContent)
    assert "is partitioned by `day`" in hovered.contents.value
    assert "`day` by the inner join with **dates**" in hovered.contents.value
    assert "Could be pruned by\n```sql\ns.day IN (SELECT" in hovered.contents.value
    assert "| ✓ | DPP101 join-type |" in hovered.contents.value
    elsewhere = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 1))
    assert await client.text_document_hover_async(elsewhere) is None

    actions = await offered(client, uri, findings[1].range)
    titles = [action.title for action in actions]
    assert titles == [
        "Write the pruning predicate on s.day",
        "Suppress DPP001 here",
        "Write and refresh all pruning predicates",
    ]
    catalog = Catalog.from_ddl(DDL)
    assert applied(client, TEXT, uri, actions[2]) == rewrite(TEXT, catalog).sql
    one = applied(client, TEXT, uri, actions[0])
    assert one.count(MARKER) == 1
    change(client, uri, 2, one)
    assert [finding.range.start.line for finding in await diagnostics(client, uri)] == [2]

    change(client, uri, 3, applied(client, TEXT, uri, actions[1]))
    assert [finding.code for finding in await diagnostics(client, uri)] == ["DPP001"]

    head, last = one.rsplit("WHERE d.season = 'w'\n", 1)
    stale = f"{head}WHERE d.season = 'x'\n{last}"
    change(client, uri, 4, stale)
    _, found_stale = await diagnostics(client, uri)
    assert found_stale.code == "DPP002"
    refresh = (await offered(client, uri, found_stale.range))[0]
    assert refresh.title.startswith("Refresh the pruning predicate")
    assert applied(client, stale, uri, refresh) == stale.replace(
        "d2.season = 'w')", "d2.season = 'x')"
    )
    bad = "SELEC 1;\n"
    change(client, uri, 5, bad)
    (unread,) = await diagnostics(client, uri)
    (suppress,) = await offered(client, uri, unread.range)
    assert suppress.title == "Suppress DPP000 here"
    change(client, uri, 6, applied(client, bad, uri, suppress))
    assert await diagnostics(client, uri) == []
    client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_python_and_its_settings(client: LanguageClient, folder: Path) -> None:
    text = f"def f():\n    {CALL}\n"
    uri = open_(client, folder / "job.py", text)
    findings = await diagnostics(client, uri)
    assert [(finding.code, finding.range.start.line) for finding in findings] == [("DPP001", 1)]
    actions = await offered(client, uri, findings[0].range)
    for action, insertion in zip(
        actions, (MARKER, '-- dpp-rewrite: ignore[DPP001]")'), strict=False
    ):
        assert insertion in applied(client, text, uri, action)

    (folder / "pyproject.toml").write_text('[tool.dpp-rewrite]\ncatalog = ["no.sql"]\n')
    change(client, uri, 2, f"{text}\n")
    assert len(await diagnostics(client, uri)) == 1  # it is not looked at with each keystroke
    save(client, uri)
    assert await diagnostics(client, uri) == []
    assert "no.sql: no such file" in client.messages[-1].message
    (folder / "dpp-rewrite.toml").write_text('catalog = ["ddl.sql"]\nignore = ["DPP001"]\n')
    (folder / "pyproject.toml").unlink()
    save(client, uri)
    assert await diagnostics(client, uri) == []
    (folder / "dpp-rewrite.toml").write_text('catalog = ["ddl.sql"]\n')
    watched = types.FileEvent((folder / "dpp-rewrite.toml").as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([watched]))
    assert len(await diagnostics(client, uri)) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_is_cancelled_and_the_next_one_served(
    client: LanguageClient, folder: Path
) -> None:
    many = ";\n".join(SQL.replace("'w'", f"'{n}'") for n in range(150))
    uri = open_(client, folder / "many.sql", many)
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    request = asyncio.ensure_future(client.text_document_diagnostic_async(params))
    await asyncio.sleep(0.05)
    message = next(iter(client.protocol._request_futures))
    client.cancel_request(types.CancelParams(message))
    with pytest.raises(Exception, match="cancel"):
        await request
    change(client, uri, 2, f"{SQL};\n")
    findings = await diagnostics(client, uri)
    if len(findings) > 1:  # told before the change, of an editor that is told
        findings = await diagnostics(client, uri)
    assert [finding.code for finding in findings] == ["DPP001"]
