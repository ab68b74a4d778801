"""What do many files cost? ``python -m benchmarks.many`` prints it, and asserts nothing.

A git repository of small queries over the retail schema is made in a temporary folder, the same in
each run, and gone through by the installed program: with nothing remembered, with everything, with
one file changed, and that again where every predicate has been written. Of twenty queries eleven
read no partitioned table, six read one and are left alone, three are to be rewritten. Seconds of
the processors, of all processes together, say what a core does; peak memory is that of the largest
process. Only the standard library is imported here: a child's peak is never below its parent's at
the fork.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.progress import say

ROOT = Path(__file__).resolve().parent.parent
FOLDER = 100
"""Files in one folder."""

COMMANDS = {"lint": ("lint",), "--check": ("--check",)}

READS_NO_FACT = (
    """-- Stores of a region, {n}
SELECT
    st.store_id,
    st.name,
    st.floor_m2
FROM store AS st
WHERE st.region = '{region}'
  AND st.closed IS NULL
ORDER BY st.floor_m2 DESC;
""",
    """-- Products without a price, {n}
select p.category, count(*) as products
from product p
left join promotion pr on pr.promo_id = {n}
where p.valid_to is null
  and p.unit_cost is null
group by p.category
""",
    """CREATE OR REPLACE TEMPORARY VIEW customers_{n} AS
SELECT
    c.customer_id,
    c.joined_on,
    coalesce(st.region, 'none') AS region
FROM customer c
LEFT JOIN store st ON st.store_id = c.home_store_id
WHERE c.marketing_ok
  AND c.joined_on >= DATE '{year}-01-01'
  AND c.email LIKE '%@example.{n}';
""",
    """-- Working days per month {year}
WITH days AS (
    SELECT c.month, c.day
    FROM calendar c
    LEFT ANTI JOIN holiday h ON h.day = c.day
    WHERE c.year = {year} AND c.day_of_week < {weekday}
)
SELECT month, count(*) AS working_days
FROM days
GROUP BY month
""",
    """MERGE INTO store_names_{n} AS t
USING (SELECT store_id, max(name) AS name FROM store GROUP BY store_id) AS s
ON t.store_id = s.store_id
WHEN MATCHED THEN UPDATE SET t.name = s.name
WHEN NOT MATCHED THEN INSERT *;
""",
)

LEFT_ALONE = (
    """-- Revenue of one day, receipts counted ({n})
SELECT s.store_id, sum(s.amount) AS revenue, count(DISTINCT s.sale_id) AS receipts
FROM sales s
WHERE s.day = DATE '{year}-{month:02}-01'
GROUP BY s.store_id;
""",
    """-- Stock of a shop at closing time ({n})
SELECT i.product_id, p.name, i.on_hand, i.on_order
FROM inventory i
JOIN product p ON p.product_id = i.product_id AND p.valid_to IS NULL
WHERE i.date_key = {year}{month:02}01
  AND i.region = '{region}'
  AND i.on_hand < i.reorder_at
""",
    """-- All sales, each with its season where there is one ({n})
SELECT s.sale_id, s.line_no, s.amount, c.season
FROM sales s
LEFT JOIN calendar c
  ON c.day = s.day
 AND c.year = {year}
WHERE s.day >= DATE '{year}-01-01'
  AND s.store_id = {n};
""",
)

REWRITTEN = (
    """-- Monthly revenue {year} ({n})
SELECT c.month, sum(s.amount) AS revenue
FROM sales s
JOIN calendar c ON s.day = c.day
WHERE c.year = {year}
  AND c.quarter IN (3, 4)
GROUP BY c.month
ORDER BY c.month;
""",
    """-- Refunds by reason in the month {month} ({n})
SELECT r.reason, count(*) AS returned, sum(r.refund) AS refund
FROM `returns` r
JOIN calendar c ON c.day = r.return_day
JOIN store st ON st.store_id = r.store_id
WHERE c.year = {year} AND c.month = {month}
  AND st.region = '{region}'
GROUP BY r.reason
""",
)

KINDS = (READS_NO_FACT,) * 11 + (LEFT_ALONE,) * 6 + (REWRITTEN,) * 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[1000, 10_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter to run the program with"
    )
    arguments = parser.parse_args()
    print(_HEAD)
    for count in arguments.files:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "repo")
            say(f"making a repository of {count:,} files")
            make(folder, count)
            for command, words in COMMANDS.items():
                say(f"{command} of {count:,} files")
                measured = measure(
                    folder, Path(name, command), arguments.python, words, arguments.rounds
                )
                print(row(f"{command} of {count:,}", count, *measured), flush=True)


# The repository


def make(folder: Path, count: int) -> None:
    """A git repository of so many queries, with the tables in its settings."""
    (folder / "ddl").mkdir(parents=True)
    shutil.copy(ROOT / "fixtures" / "retail" / "ddl.sql", folder / "ddl" / "tables.sql")
    (folder / "pyproject.toml").write_text(
        '[tool.dpp-rewrite]\ncatalog = ["ddl"]\nexclude = ["ddl"]\n', "utf-8"
    )
    for number in range(count):
        path = folder / "queries" / f"{number // FOLDER:03}" / f"{number:05}.sql"
        if number % FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(query(number), "utf-8")
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)


def query(number: int) -> str:
    """The query of that number."""
    kinds = KINDS[number * 7 % len(KINDS)]
    return kinds[number // len(KINDS) % len(kinds)].format(
        n=number,
        year=2020 + number % 6,
        month=1 + number % 12,
        weekday=5 + number % 3,
        region=("North", "South", "East", "West")[number % 4],
    )


# The runs


@dataclass(frozen=True)
class Run:
    """One run of the program: seconds on the clock and of the processors, and megabytes."""

    seconds: float
    processors: float
    memory: float


def measure(
    folder: Path, cache: Path, python: str, words: Sequence[str], rounds: int
) -> tuple[Run, Run, Run, Run]:
    """The first run, one with everything remembered, one with one file changed, and such a one in a
    copy in which every predicate has been written."""
    time.sleep(3)  # what was written just now is not known by its times
    command = [python, "-m", "sqlrewrite", *words, "--exit-zero", "."]
    cold = run(command, folder, cache)
    warm, one = [], []
    for number in range(rounds):
        warm.append(run(command, folder, cache))
        change(folder, number)
        one.append(run(command, folder, cache))
    mended = folder.with_name(f"{folder.name}-mended")
    shutil.copytree(folder, mended)
    run([python, "-m", "sqlrewrite", "--write", "."], mended, cache)
    time.sleep(3)
    run(command, mended, cache)
    two = []
    for number in range(rounds):
        change(mended, number)
        two.append(run(command, mended, cache))
    shutil.rmtree(mended)
    return cold, middle(warm), middle(one), middle(two)


def change(folder: Path, number: int) -> None:
    """Changes one of the files."""
    changed = folder / "queries" / "000" / "00007.sql"
    with changed.open("a", encoding="utf-8") as file:
        file.write(f"-- changed {number}\n")


def run(command: list[str], folder: Path, cache: Path) -> Run:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPP_REWRITE_CACHE_DIR": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    here = os.getcwd()
    os.chdir(folder)
    try:
        start = time.perf_counter()
        child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - start
    finally:
        os.chdir(here)
    if status:
        sys.exit(f"{' '.join(command)} failed with {os.waitstatus_to_exitcode(status)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)


def middle(runs: Sequence[Run]) -> Run:
    """The median of each number."""
    return Run(
        statistics.median(run.seconds for run in runs),
        statistics.median(run.processors for run in runs),
        max(run.memory for run in runs),
    )


_HEAD = (
    f"{'':<20}{'cold files/s and core':>23}{'warm files/s and core':>23}"
    f"{'warm s':>9}{'one changed s':>15}{'all mended s':>14}{'peak MB cold, warm':>20}"
)


def row(name: str, count: int, cold: Run, warm: Run, one: Run, mended: Run) -> str:
    return (
        f"{name:<20}{count / cold.processors:>23,.0f}{count / warm.processors:>23,.0f}"
        f"{warm.seconds:>9.2f}{one.seconds:>15.2f}{mended.seconds:>14.2f}"
        f"{cold.memory:>14.0f}, {max(warm.memory, one.memory):.0f}"
    )


if __name__ == "__main__":
    main()
