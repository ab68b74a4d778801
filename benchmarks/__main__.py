"""How fast is it? ``python -m benchmarks`` prints it, and asserts nothing.

Rewriting and linting the 99 TPC-DS queries against only parsing them, in one process; what is kept
of a text that has been read; a start of the program against a start of sqlglot; and the peak memory
of each. All times are the processor's, medians of rounds that alternate between the sides, so that
a slow moment of the machine hits all. Needs the dev extra; where the extra fast is installed,
sqlglot is compiled.
"""

import argparse
import gc
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import FrameType

import sqlglot
from rich.console import Console
from rich.table import Table

from benchmarks.progress import say
from sqlrewrite import Catalog, __version__, lint, rewrite
from sqlrewrite.document import read
from sqlrewrite.text.limits import Limits

ROOT = Path(__file__).resolve().parent.parent

# Where the stages are called one after the other: time is counted for what they call.
LINE = {"sqlrewrite.document", "sqlrewrite.decision.decide"}
SAMPLE = 0.001

SMALL = """SELECT s.store_id, sum(s.amount) AS revenue
FROM sales s JOIN calendar c ON s.day = c.day
WHERE c.year = 2024
GROUP BY s.store_id
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    rounds: int = parser.parse_args().rounds
    queries = tpcds_queries()
    catalog = Catalog.load(str(ROOT / "fixtures" / "tpcds" / "ddl.sql"))
    console = Console()
    versions = f"dpp-rewrite {__version__}, sqlglot {version('sqlglot')}{compiled()}"
    console.print(f"{versions}, Python {sys.version.split()[0]}, medians of {rounds} rounds")
    say(f"rewriting and linting the 99 queries, {rounds} rounds")
    console.print(library_table(queries, catalog, rounds))
    console.print(kept(queries, catalog))
    say("the stages of a rewriting")
    console.print(stage_table(queries, catalog, rounds))
    say("whole processes")
    console.print(process_table(queries, rounds))


def tpcds_queries() -> list[str]:
    """The 99 queries in Spark's dialect; says what to install where DuckDB is missing."""
    try:
        import duckdb

        from benchmarks.tpcds_data import load_tpcds, spark_queries
    except ImportError as error:
        sys.exit(
            f"The texts of the TPC-DS queries come from DuckDB, and {error.name} is not installed: "
            "pip install -e '.[dev]'"
        )
    with duckdb.connect() as connection:
        load_tpcds(connection, 0)
        return list(spark_queries(connection).values())


def compiled() -> str:
    """Whether sqlglot is the compiled one."""
    from sqlglot import parser

    return " (compiled)" if str(parser.__file__).endswith((".so", ".pyd")) else ""


# In this process


def library_table(queries: Sequence[str], catalog: Catalog, rounds: int) -> Table:
    parsed, rewritten, linted = alternate(
        [
            lambda: parse_all(queries),
            lambda: rewrite_all(queries, catalog),
            lambda: lint_all(queries, catalog),
        ],
        rounds,
    )
    table = Table("99 TPC-DS queries", title="In one process", title_justify="left")
    for heading in ("ms", "ratio", "aim"):
        table.add_column(heading, justify="right")
    table.add_row("sqlglot.parse", milliseconds(parsed), "1.00", "")
    table.add_row("rewrite", milliseconds(rewritten), f"{rewritten / parsed:.2f}", "≤ 2.3")
    against = f"{linted / rewritten:.2f} of rewrite"
    table.add_row("lint", milliseconds(linted), against, "≤ 1.3")
    return table


def kept(queries: Sequence[str], catalog: Catalog) -> str:
    """The memory of the documents of all queries, which an editor or a linter holds."""
    rewrite_all(queries, catalog)  # what is imported and remembered is no document's
    gc.collect()
    tracemalloc.start()
    documents = [read(sql, catalog, Limits()) for sql in queries]
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    letters = sum(len(document.original) for document in documents)
    return (
        f"A Document takes {taken / len(documents) / 1e3:,.0f} kB on average, "
        f"{taken / letters:,.0f} bytes for each character of its text"
    )


def parse_all(queries: Sequence[str]) -> None:
    for sql in queries:
        sqlglot.parse(sql, read="spark")


def rewrite_all(queries: Sequence[str], catalog: Catalog) -> None:
    for sql in queries:
        rewrite(sql, catalog)


def lint_all(queries: Sequence[str], catalog: Catalog) -> None:
    for sql in queries:
        lint(sql, catalog)


def alternate(sides: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The median seconds of each side; a first round warms up and is not counted."""
    taken: list[list[float]] = [[] for _ in sides]
    for number in range(rounds + 1):
        for side, seconds in zip(sides, taken, strict=True):
            forget()
            gc.collect()
            start = time.process_time()
            side()
            if number:
                seconds.append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in taken]


def forget() -> None:
    """Empties what the rewriter remembers from query to query: each round is as the first."""
    for name in [module for module in sys.modules if module.startswith("sqlrewrite.sql.")]:
        for value in vars(sys.modules[name]).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def stage_table(queries: Sequence[str], catalog: Catalog, rounds: int) -> Table:
    """Where the time of a rewriting goes, by samples of the stage that is at work."""
    samples: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        samples[stage_of(frame)] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, SAMPLE, SAMPLE)
    try:
        for _ in range(rounds):
            rewrite_all(queries, catalog)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    table = Table("stage", title="Where rewriting them spends its time", title_justify="left")
    table.add_column("share", justify="right")
    for stage, count in samples.most_common():
        table.add_row(stage, f"{count / samples.total():.0%}")
    return table


def stage_of(frame: FrameType | None) -> str:
    """The module that the line from text to text has called, however deep below it we are."""
    stage = "the rest"
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module in LINE:
            return stage
        if module.startswith("sqlrewrite."):
            stage = module
        frame = frame.f_back
    return stage


# As processes

PARSE_ALL = """
import pathlib, sqlglot
for path in pathlib.Path("queries").iterdir():
    sqlglot.parse(path.read_text("utf-8"), read="spark")
"""


# From a small process of its own: a child's peak memory is never below its parent's at the fork.
LAUNCH = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
unit = 1 if sys.platform == "darwin" else 1024
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def process_table(queries: Sequence[str], rounds: int) -> Table:
    """Seconds and peak memory of whole runs: the small query of a hook, and the 99."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.sql").write_text(SMALL, "utf-8")
        (folder / "queries").mkdir()
        for number, sql in enumerate(queries, 1):
            (folder / "queries" / f"q{number:02}.sql").write_text(sql, "utf-8")
        python = [sys.executable, "-c"]
        one = "import sqlglot; sqlglot.parse_one('select 1', read='spark')"
        retail = str(ROOT / "fixtures" / "retail" / "ddl.sql")
        tpcds = str(ROOT / "fixtures" / "tpcds" / "ddl.sql")
        check = [*program(), "--check", "--exit-zero", "-q", "--no-cache"]
        commands = {
            "python -c 'import sqlglot; … parse_one'": [*python, one],
            "dpp-rewrite --check small.sql": [*check, "small.sql"],
            "dpp-rewrite --check -c ddl.sql small.sql": [*check, "-c", retail, "small.sql"],
            "python -c '… sqlglot.parse' of the 99": [*python, PARSE_ALL],
            "dpp-rewrite --check -c ddl.sql queries/": [*check, "-c", tpcds, "queries"],
        }
        measured = run_alternating(commands, folder, rounds)
    table = Table("command", title="As processes", title_justify="left")
    for heading in ("ms", "ratio", "aim", "peak MB"):
        table.add_column(heading, justify="right")
    base = 0.0
    for command, (seconds, memory) in measured.items():
        base = seconds if command.startswith("python") else base
        aim = "≤ 1.35" if command.endswith(" small.sql") else ""
        row = (milliseconds(seconds), f"{seconds / base:.2f}", aim, f"{memory:.0f}")
        table.add_row(command, *row, end_section=command.endswith("-c ddl.sql small.sql"))
    return table


def program() -> list[str]:
    """The installed program of this interpreter; the module where there is none."""
    path = shutil.which("dpp-rewrite", path=str(Path(sys.executable).parent))
    return [path] if path else [sys.executable, "-m", "sqlrewrite"]


def run_alternating(
    commands: dict[str, list[str]], folder: Path, rounds: int
) -> dict[str, tuple[float, float]]:
    """The median seconds of each command, and the most memory it took, in megabytes."""
    seconds: dict[str, list[float]] = defaultdict(list)
    memory: dict[str, float] = defaultdict(float)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode beside it
    for number in range(rounds + 1):
        for name, command in commands.items():
            result = subprocess.run(
                [sys.executable, "-I", "-S", "-c", LAUNCH, *command],
                cwd=folder,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            if result.returncode:
                sys.exit(f"{name} failed:\n{result.stderr}")
            taken, peak = map(float, result.stdout.split())
            if number:
                seconds[name].append(taken)
            memory[name] = max(memory[name], peak)
    return {name: (statistics.median(seconds[name]), memory[name]) for name in commands}


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f}"


if __name__ == "__main__":
    main()
