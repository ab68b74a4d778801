"""What is understood of public warehouses? ``python -m benchmarks.repositories FOLDER`` tells.

FOLDER holds a folder of SQL for each repository and, if there is one, an ``expected.json`` that
says how the tool is called for each; without, the folder is both catalog and input. Counted are the
tables that the catalog knows, the join statements that the report says something of, those of
which all relations are accounted for, and of the prunings that ``expected.json`` lists, which a
person would write there, those that are written or found to be there. Tables and statements are
found here by reading the text with rules of this module alone, so that what the tool overlooks is
counted as well.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.progress import with_progress

SUFFIXES = (".sql", ".hql", ".ddl", ".sparksql", ".sql.j2")

# A notebook's cells, and in one the end of a statement: a semicolon outside of all else.
_CELL = re.compile(r"^[ \t]*--[ \t]*COMMAND[ \t]+-+[ \t]*$", re.MULTILINE)
_PIECES = re.compile(
    r"""(?P<skip>--[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|\$\{[^}]*\})
      | (?P<end>;)""",
    re.VERBOSE | re.DOTALL,
)
_MAGIC = re.compile(r"(?:\s|--(?!\s*MAGIC)[^\n]*\n)*(?:--\s*MAGIC\s*)?%(\w+)")
_NAME = r"(?:(?:\$\{[^}]*\}|\{\{.*?\}\}|[\w$])+|`[^`]+`)"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_CREATE = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?(?:(?:external|temporary|temp|managed|global|transient)\s+)*"
    rf"table\s+(?:if\s+not\s+exists\s+)?(?P<name>{_DOTTED})",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\bjoin\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_ENDS_FROM = re.compile(
    r"\b(?:where|group|order|having|limit|union|except|intersect|lateral|window|distribute|cluster"
    r"|sort|insert|select|qualify|from|on|using|when)\b|[()]",
    re.IGNORECASE,
)
_RELATIONS = re.compile(rf"\b(?:from|join)\s+(?P<name>{_DOTTED})", re.IGNORECASE)
_FUNCTIONS = frozenset({"stream", "values", "unnest", "table_changes"})
_CTE = re.compile(rf"(?:\bwith|,)\s*({_NAME})\s*(?:\([^()]*\)\s*)?as\s*\(", re.IGNORECASE)
_MADE = re.compile(
    rf"\bcreate\s+(?:or\s+replace\s+)?(?:\w+\s+)*?(?:table|view)\s+(?:if\s+not\s+exists\s+)?({_DOTTED})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A statement's first and last line, and its text without comments and with empty strings."""

    line: int
    end: int
    text: str

    @property
    def joins(self) -> bool:
        """Whether relations are joined in it, by JOIN or by a comma in FROM."""
        return bool(_JOIN.search(self.text)) or any(_comma(self.text))

    @property
    def relations(self) -> set[str]:
        """The last names of what it reads, as far as the words FROM and JOIN show them; not what a
        template names, which a report tells by another name, nor a function."""
        own = {_last(name) for name in _CTE.findall(self.text)}
        names = {_last(match["name"]) for match in _RELATIONS.finditer(self.text)}
        return {name for name in names - own - _FUNCTIONS if not name.startswith("{{")}


@dataclass
class Counted:
    """What there is in one repository, and what of it the tool knows."""

    name: str
    tables: int = 0
    recognised: int = 0
    joins: int = 0
    understood: int = 0
    reported: int = 0
    prunings: int = 0
    pruned: int = 0
    unknown: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text; cells in another language hold none."""
    since = 0
    for end in [*(match.start() for match in _CELL.finditer(text)), len(text)]:
        magic = _MAGIC.match(text, since, end)
        if magic is None or magic[1].lower() == "sql":
            yield from _of_cell(text, since, end)
        since = end


def _of_cell(text: str, since: int, end: int) -> Iterator[Statement]:
    pieces: list[str] = []
    at = since

    def ended(until: int) -> Iterator[Statement]:
        whole = "".join([*pieces, text[at:until]])
        if whole.strip():
            body = text[since:until]
            first = since + len(body) - len(body.lstrip())
            last = since + len(body.rstrip())
            yield Statement(text.count("\n", 0, first) + 1, text.count("\n", 0, last) + 1, whole)

    for match in _PIECES.finditer(text, since, end):
        kind = match.lastgroup
        if kind == "end":
            yield from ended(match.start())
            pieces, at, since = [], match.end(), match.end()
            continue
        shown = match.group() if kind == "quoted" and match.group()[0] in "`$" else ""
        pieces += [text[at : match.start()], shown or ("''" if kind == "quoted" else " ")]
        at = match.end()
    yield from ended(end)


def _comma(text: str) -> Iterator[bool]:
    """For each FROM, whether a comma stands between two relations of it."""
    for match in _FROM.finditer(text):
        depth, at = 0, match.end()
        while at < len(text):
            token = re.compile(r"[(),]|\b[a-zA-Z]+\b").search(text, at)
            if token is None:
                break
            word, at = token.group(), token.end()
            if word == "(":
                depth += 1
            elif word == ")":
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and word == ",":
                yield True
                break
            elif depth == 0 and _ENDS_FROM.fullmatch(word):
                break


def _last(name: str) -> str:
    parts = re.findall(_NAME, name)
    return parts[-1].strip("`").lower() if parts else name.lower()


def files(folder: Path, inputs: Sequence[str]) -> list[Path]:
    """The files of SQL that the inputs mean."""
    paths: list[Path] = []
    for each in inputs:
        place = folder / each
        if place.is_file():
            paths.append(place)
        else:
            paths += sorted(
                path
                for path in place.rglob("*")
                if path.is_file() and path.name.lower().endswith(SUFFIXES)
            )
    return paths


def measured(folder: Path, expected: dict[str, Any]) -> Counted:
    """One repository, measured as ``expected`` says that the tool is called."""
    counted = Counted(folder.name)
    catalogs, inputs = expected.get("catalog", ["."]), expected.get("input", ["."])
    options = [part for path in catalogs for part in ("-c", path)]
    if "schema" in expected:
        options += ["--schema", expected["schema"]]
    shown = _json("catalog", "show", *options, "--format", "json", folder=folder)
    names = {_last(str(table["name"])) for table in shown.get("tables", ())}
    names |= {_last(str(view["name"])) for view in shown.get("views", ())}
    for path in files(folder, catalogs):
        for statement in statements(path.read_text("utf-8", "replace")):
            match = _CREATE.search(statement.text)
            if match is None:
                continue
            counted.tables += 1
            if _last(match["name"]) in names:
                counted.recognised += 1
            else:
                counted.unknown.append(f"{path.relative_to(folder)}:{statement.line}")
    report = _json("rewrite", *options, "--format", "json", *inputs, folder=folder)
    records = {str((folder / file["path"]).resolve()): file for file in report.get("files", ())}
    _joins(counted, folder, inputs, records, names, expected.get("not_sql", ()))
    for pruning in expected.get("prunings", ()):
        counted.prunings += 1
        pruned = _pruned(pruning, folder, records)
        counted.pruned += pruned
        if not pruned:
            counted.missed.append("{file}:{line} {fact}.{column}".format_map(pruning))
    return counted


def _pruned(pruning: dict[str, Any], folder: Path, records: dict[str, Any]) -> bool:
    """Whether a pruning that a person would write is written, or found to be there already."""
    path = folder / pruning["file"]
    own = statements(path.read_text("utf-8", "replace"))
    around = next(
        (statement for statement in own if statement.line <= pruning["line"] <= statement.end), None
    )
    record = records.get(str(path.resolve()), {})
    return around is not None and any(
        candidate["verdict"] in ("rewritten", "already-pruned")
        and _last(candidate["fact"]["table"]) == pruning["fact"].lower()
        and candidate["fact"]["column"].lower() == pruning["column"].lower()
        for candidate in _within(record, around, ("candidates",))
    )


def _joins(
    counted: Counted,
    folder: Path,
    inputs: Sequence[str],
    records: dict[str, Any],
    names: set[str],
    not_sql: Sequence[dict[str, Any]],
) -> None:
    """Counts the join statements, and those that the tool understands."""
    typos = {(typo["file"], typo["line"]) for typo in not_sql}
    for path in files(folder, inputs):
        own = list(statements(path.read_text("utf-8", "replace")))
        created = {_last(name) for text in own for name in _MADE.findall(text.text)}
        record = records.get(str(path.resolve()), {})
        for statement in own:
            place = str(path.relative_to(folder))
            if not statement.joins or any(
                (place, n) in typos for n in range(statement.line, statement.end + 1)
            ):
                continue
            counted.joins += 1
            failed = [e["message"] for e in _within(record, statement, ("errors", "skipped"))]
            lists = [key for key, value in record.items() if isinstance(value, list)]
            entries = list(_within(record, statement, [key for key in lists if key != "errors"]))
            words = json.dumps(entries).lower()
            strange = [n for n in statement.relations - names - created if n not in words]
            counted.reported += bool(failed or entries)
            if failed:
                counted.reasons[re.sub(r"'[^']*'|`[^`]*`|\d+", "…", str(failed[0]))[:90]] += 1
            elif not entries:
                counted.reasons["silence"] += 1
                counted.silent.append(f"{place}:{statement.line}")
            elif strange:
                counted.reasons["a relation is not accounted for"] += 1
                counted.silent.append(f"{place}:{statement.line} {', '.join(sorted(strange))}")
            else:
                counted.understood += 1


def _within(
    record: dict[str, Any], statement: Statement, lists: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The entries of a file's record that begin in a statement."""
    for name in lists:
        for entry in record.get(name, ()):
            fact = entry.get("fact") or {}
            line = entry.get("line", fact.get("line", 0))
            if statement.line <= line <= statement.end:
                yield entry


def _json(*arguments: str, folder: Path) -> dict[str, Any]:
    """What a command of ours prints as JSON; nothing where it fails, which is then said."""
    command = [sys.executable, "-m", "sqlrewrite", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    try:
        report = json.loads(result.stdout)
    except ValueError:
        print(f"{folder.name}: {result.stderr.decode('utf-8', 'replace').strip()}", file=sys.stderr)
        return {}
    return report if isinstance(report, dict) else {}


_NUMBERS = ("tables", "recognised", "joins", "reported", "understood", "prunings", "pruned")
_HEADINGS = (
    *("repository", "tables", "known", "join statements", "reported", "understood"),
    *("prunings a person would write", "written or there"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repositories", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of repositories")
    parser.add_argument("--list", action="store_true", help="also what is not known, by its place")
    arguments = parser.parse_args()
    settings = arguments.folder / "expected.json"
    repositories = json.loads(settings.read_text())["repositories"] if settings.exists() else []
    expected = {
        repository["repository"].replace("/", "__"): repository for repository in repositories
    }
    console, table = Console(), Table()
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading == "repository" else "right")
    total = Counted("together")
    folders = sorted(path for path in arguments.folder.resolve().iterdir() if path.is_dir())
    for folder in with_progress(folders, "repositories"):
        summary = measured(folder, expected.get(folder.name, {}))
        for name in _NUMBERS:
            setattr(total, name, getattr(total, name) + getattr(summary, name))
        total.reasons += summary.reasons
        table.add_row(*_row(summary))
        if arguments.list:
            for line in (*summary.unknown, *summary.silent, *summary.missed):
                console.print(f"{summary.name}/{line}", highlight=False, soft_wrap=True)
    table.add_row(*_row(total))
    console.print(table)
    for reason, count in total.reasons.most_common(12):
        console.print(f"{count:6} {reason}", highlight=False, markup=False)


def _row(counted: Counted) -> tuple[str, ...]:
    return (counted.name, *(str(getattr(counted, name)) for name in _NUMBERS))


if __name__ == "__main__":
    main()
