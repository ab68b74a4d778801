"""An audit whose executor or driver is killed: is anything lost?

    python -m benchmarks.killed [--queries 2000] [--shapes 600]

The history is that of `benchmarks.audit`. It is audited on a cluster of two executors in processes
of their own (`local-cluster`) three times: left in peace; with an executor killed (SIGKILL) when
the first round of decisions is written; and with the driver and all that belongs to it killed then,
and started again. The exit status is 1 if the results are not the same, or if the driver that was
started again decides anew what was written. Needs the extras dev and spark, Java, and /proc.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.audit import bases, known_tables, write_history
from benchmarks.progress import say
from sqlrewrite.settings.options import make_options
from sqlrewrite.spark.audit import histories, shapes
from sqlrewrite.spark.session import session
from sqlrewrite.spark.target import Target

MASTER = "local-cluster[2,1,1024]"
PER_ROUND = 100
_EXECUTOR = b"CoarseGrainedExecutorBackend"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--shapes", type=int, default=600)
    parser.add_argument("--audit", nargs=2, metavar=("HISTORY", "DIR"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if asked.audit:
        _audit(*asked.audit)
        return
    with tempfile.TemporaryDirectory(prefix="dpp-rewrite-") as folder:
        place = Path(folder)
        history = place / "history.json"
        write_history(history, list(bases()), asked.queries, asked.shapes)
        say("an audit in peace")
        peace = _begun(history, place / "peace").communicate()[0]
        say("an audit of which an executor is killed")
        shot = _begun(history, place / "executor")
        _first_round(place / "executor")
        victims = [it for it in _descendants(shot.pid) if _EXECUTOR in _command(it)]
        _kill(victims[:1])
        executor = shot.communicate()[0]
        say("an audit whose driver is killed")
        driver = _begun(history, place / "driver")
        _first_round(place / "driver")
        _kill([driver.pid, *_descendants(driver.pid)])
        driver.wait()
        say("that audit, begun again")
        again = _begun(history, place / "driver").communicate()[0]
    for name, said in (("in peace", peace), ("an executor", executor), ("the driver", again)):
        print(f"{name:12} {' '.join(said.split())}")
    counts = [said.split() for said in (peace, executor, again)]
    whole = len({(it[0], it[2]) for it in counts}) == 1 and len(victims) == 2
    sys.exit(not (whole and 0 < int(counts[2][1]) < int(counts[0][1])))


def _audit(history: str, place: str) -> None:
    """The audit itself; says the shapes, how many it decided, and the hash of its result."""
    conf = (("spark.sql.shuffle.partitions", "4"), ("spark.driver.memory", "1g"))
    with session(Target(master=MASTER, conf=conf)) as running:
        job = shapes.AuditJob(known_tables(), make_options(), place, per_round=PER_ROUND)
        read = histories.history(running, [history], {}, None)
        counts = shapes.decide_shapes(running, read, job, lambda step: None)
        rows = running.spark.read.parquet(f"{place}/shapes").drop("stands")
        result = rows.selectExpr("sum(CAST(xxhash64(*) AS DECIMAL(20))) AS hash").collect()[0].hash
        print(counts.shapes, counts.decided, result)


def _begun(history: Path, place: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.killed", "--audit", str(history), str(place)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _first_round(place: Path) -> None:
    """Waits until some decisions are written."""
    while not list(place.glob("decided/*.parquet")):
        time.sleep(0.5)


def _descendants(process: int) -> Iterator[int]:
    """The processes that one has begun, and theirs."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in (thread / "children").read_text("ascii").split():
            yield from (int(child), *_descendants(int(child)))


def _command(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def _kill(processes: list[int]) -> None:
    for it in processes:
        os.kill(it, signal.SIGKILL)


if __name__ == "__main__":
    main()
