"""What does a keystroke cost? ``python -m benchmarks.editor`` types into a file of some 500 lines.

The file is made of the retail queries, one statement after the other. A character is typed and
taken out again in some of its lines; measured is what the server does until it can tell the
findings (the processor's time), and how long an editor waits for them over the protocol, with the
pause that the server waits for. The first reading is told apart. Asserts nothing.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from rich.console import Console
from rich.table import Table

from benchmarks.progress import say
from sqlrewrite import Catalog
from sqlrewrite.linting.linter import lint

RETAIL = Path(__file__).resolve().parent.parent / "fixtures" / "retail"
LIMIT = 100
TYPED = 10
"""How many times a character is typed."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editor", description=__doc__)
    parser.add_argument("--lines", type=int, default=500, help="default: %(default)s")
    lines: int = parser.parse_args().lines
    text = _file(lines)
    console, table = Console(), Table()
    console.print(f"a file of {text.count(chr(10))} lines, {len(text):,} characters")
    for heading in ("", "first", "median", "95 of 100", "most", f"over {LIMIT} ms"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, measure in (
        ("linted, processor", _linted),
        ("until an editor has them", lambda text: asyncio.run(_asked(text))),
    ):
        say(name)
        table.add_row(*_row(name, *measure(text)))
    console.print(table)


def _file(lines: int) -> str:
    texts: list[str] = []
    queries = sorted((RETAIL / "queries").glob("*.sql"))
    while sum(query.count("\n") for query in texts) < lines:
        texts += [f"{query.read_text('utf-8').rstrip().rstrip(';')};\n" for query in queries]
    text = "".join(texts)
    cut = text.splitlines(keepends=True)[:lines]
    return "".join(cut)


def _typed(text: str) -> Iterator[str]:
    """The texts that are typed, one after the other, each once with a change and once without."""
    for at in range(0, len(text), len(text) // TYPED):
        line_end = text.find("\n", at)
        yield f"{text[:line_end]}x{text[line_end:]}"
        yield text


def _linted(text: str) -> tuple[float, list[float]]:
    """The milliseconds of the first reading, and of each that follows."""
    catalog, times = Catalog.load(str(RETAIL / "ddl.sql")), list[float]()
    for typed in (text, *_typed(text)):
        since = time.process_time()
        lint(typed, catalog)
        times.append(1000 * (time.process_time() - since))
    return times[0], times[1:]


async def _asked(text: str) -> tuple[float, list[float]]:
    """The milliseconds that an editor waits for the findings of each text."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f'[tool.dpp-rewrite]\ncatalog = ["{(RETAIL / "ddl.sql").as_posix()}"]\n'
        (Path(folder) / "pyproject.toml").write_text(settings, "utf-8")
        client = LanguageClient("benchmark", "1")
        await client.start_io(sys.executable, "-m", "sqlrewrite", "server")
        asks = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
        its = types.ClientCapabilities(text_document=asks)
        await client.initialize_async(types.InitializeParams(its, root_uri=Path(folder).as_uri()))
        client.initialized(types.InitializedParams())
        uri = (Path(folder) / "q.sql").as_uri()
        item = types.TextDocumentItem(uri, "sql", 0, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        since = time.perf_counter()
        await client.text_document_diagnostic_async(params)
        first = time.perf_counter() - since
        times = []
        for version, typed in enumerate(_typed(text), 1):
            since = time.perf_counter()
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(version, uri),
                    [types.TextDocumentContentChangeWholeDocument(typed)],
                )
            )
            await client.text_document_diagnostic_async(params)
            times.append(1000 * (time.perf_counter() - since))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]
    return 1000 * first, times


def _row(name: str, first: float, others: list[float]) -> tuple[str, ...]:
    ordered = sorted(others)
    most = ordered[-1]
    nearly = ordered[int(0.95 * (len(ordered) - 1))]
    over = sum(row > LIMIT for row in ordered)
    numbers = (first, statistics.median(ordered), nearly, most)
    return (name, *(f"{number:.1f} ms" for number in numbers), f"{over} of {len(ordered)}")


if __name__ == "__main__":
    main()
