"""How a Spark job would do on more cores: by the times of its tasks, as they were measured.

In come the stages of the jobs of a group, out go the seconds on so many cores. Each stage's tasks
are given, in their order, to whichever core is free first; what passes while no stage runs, the
driver's own work, stays as it is. The tasks must have been split for so many cores beforehand.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that has run: when, and how long its tasks took, in milliseconds."""

    begun: int
    ended: int
    tasks: Sequence[int]


def stages(spark: SparkSession, group: str) -> list[Stage]:
    """The stages of a group of jobs, in the order in which they ran."""
    context: Any = spark.sparkContext
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    jobs = (tracker.getJobInfo(it) for it in tracker.getJobIdsForGroup(group))
    found = []
    for number in {it for job in jobs if job is not None for it in job.stageIds}:
        stage = store.lastStageAttempt(number)
        if stage.submissionTime().isEmpty() or stage.completionTime().isEmpty():
            continue  # skipped: what it would have written was there
        tasks = store.taskList(number, stage.attemptId(), 100_000)
        took = [
            (it.launchTime().getTime(), it.duration())
            for it in map(tasks.apply, range(tasks.size()))
        ]
        found.append(
            Stage(
                stage.submissionTime().get().getTime(),
                stage.completionTime().get().getTime(),
                [duration.get() for _, duration in sorted(took, key=lambda it: it[0])],
            )
        )
    return sorted(found, key=lambda it: it.begun)


def seconds(ran: Sequence[Stage], whole: float, cores: int) -> float:
    """What a job of ``whole`` seconds would take on so many cores."""
    return whole - _union(ran) / 1e3 + sum(_spread(it.tasks, cores) for it in ran) / 1e3


def _union(ran: Iterable[Stage]) -> int:
    """The milliseconds in which any stage ran."""
    total = last = 0
    for it in ran:
        total += max(0, it.ended - max(it.begun, last))
        last = max(last, it.ended)
    return total


def _spread(tasks: Iterable[int], cores: int) -> int:
    """When the last of the tasks has ended."""
    free = [0] * cores
    for took in tasks:
        heapq.heapreplace(free, free[0] + took)
    return max(free)
