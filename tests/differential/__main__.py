"""``python -m tests.differential --n 100000 [--seed S] [--jobs J]``: the long run, and one case.

``--seed S --index I`` runs one case again, shows its rows and its queries, and shrinks it if it is
wrong. Exit status 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from dataclasses import replace

from benchmarks.progress import progress_bar

from .check import (
    BATCH,
    Database,
    Report,
    Rewriter,
    Wrong,
    case_of,
    data_of,
    eager,
    identity,
    library,
    manner_of,
    parts,
    verdict,
)
from .relations import Options
from .schema import Data, ddl, inserts
from .shrink import shrink

SHOWN = 10
"""Wrong cases that are shrunk and printed in full; the others only with their index."""


def main(arguments: list[str] | None = None) -> int:
    """Runs what the arguments ask for and returns the exit status."""
    args = _parser().parse_args(arguments)
    rewrite = identity if args.identity else eager if args.eager else library
    options = Options(ties=args.ties)
    print(f"seed {args.seed}", flush=True)
    if args.index is not None:
        return _one(args.seed, args.index, rewrite, options)
    started = time.monotonic()
    report = _many(args, rewrite, options)
    print(summary(report, time.monotonic() - started))
    for wrong in report.wrong[:SHOWN]:
        print(explained(args.seed, wrong, rewrite))
    for wrong in report.wrong[SHOWN:]:
        print(f"wrong too: --seed {args.seed} --index {wrong.index}")
    return 1 if report.wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="how many queries (default 2000)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--index", type=int, help="run this one case again and show it")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--ties", action="store_true", help="LIMITs below whose order has ties")
    parser.add_argument("--eager", action="store_true", help="write what is not worth it, too")
    parser.add_argument("--identity", action="store_true", help="rewrite nothing: test the test")
    return parser


def _many(args: argparse.Namespace, rewrite: Rewriter, options: Options) -> Report:
    report = Report()
    with progress_bar(args.n, "queries") as advance:
        for part in parts(args.seed, args.n, rewrite, options=options, jobs=args.jobs):
            report.add(part)
            advance(f"{len(report.wrong)} wrong", part.queries)
    report.wrong.sort(key=lambda wrong: wrong.index)
    return report


def summary(report: Report, seconds: float) -> str:
    """The counts, one a line."""
    n = max(report.queries, 1)
    return "\n".join(
        (
            f"queries    {report.queries} in {seconds:.0f} s, {n / seconds:.0f} a second",
            f"rewritten  {report.rewritten} ({report.share:.1%})",
            f"refused    {report.refused} by DuckDB, written anew",
            f"unread     {report.unread} by the rewriter",
            f"unjudged   {report.unjudged}: rewritten into what DuckDB cannot run",
            f"crashed    {report.crashed}: in batches that DuckDB itself did not survive",
            f"non-empty  {report.non_empty} ({report.non_empty / n:.1%}),"
            f" {report.non_empty_rewritten} of them rewritten",
            f"wrong      {len(report.wrong)}",
            "rewritten, of those with",
            *(
                f"  {name:<20} {done:>6} of {count:>6} ({done / count:.1%})"
                for name, count in sorted(report.tried.items())
                for done in (report.done[name],)
            ),
        )
    )


def explained(seed: int, wrong: Wrong, rewrite: Rewriter) -> str:
    """A wrong case in full: as it was found, and as small as it gets."""
    database = Database()
    data, manner = data_of(seed, wrong.index), manner_of(seed, wrong.index)

    def still_wrong(sql: str, rows: Data) -> bool:
        if "rand" in sql.lower() and sql != wrong.original:
            return False  # shrunk, it need not have one answer any more
        return verdict(database, sql, rows, rewrite, manner) is not None

    small, rows = wrong.original, data
    if still_wrong(small, rows):
        small, rows = shrink(small, data, still_wrong)
    found = verdict(database, small, rows, rewrite, manner)
    rewritten, problem = found or (wrong.rewritten, wrong.problem)
    return "\n".join(
        (
            f"\n{'=' * 30} --seed {seed} --index {wrong.index}\n-- {manner}",
            f"-- original, as generated\n{wrong.original}",
            f"-- rewritten\n{wrong.rewritten}",
            f"-- difference\n{wrong.problem}",
            f"{'-' * 30} shrunk\n{inserts(rows)}",
            f"-- original\n{small}",
            f"-- rewritten\n{rewritten}",
            f"-- difference\n{problem}",
        )
    )


def _one(seed: int, index: int, rewrite: Rewriter, options: Options) -> int:
    database, data = Database(), data_of(seed, index)
    database.fill(data)
    case = case_of(seed, index, database, options)
    found = verdict(database, case.sql, data, rewrite, case.manner)
    if found:
        print(explained(seed, Wrong(index, case.sql, *found), rewrite))
        return 1
    print(f"{ddl()}\n{inserts(data)}\n")
    print(f"-- original\n{case.sql}\n-- {case.manner}")
    asking = replace(case.manner, resolve=database.keys)
    print(f"-- rewritten\n{rewrite(case.sql, asking).sql}")
    print(f"-- the same {case.rows.total()} rows (batch of {BATCH}: {index // BATCH})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
