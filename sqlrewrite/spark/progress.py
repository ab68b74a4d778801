"""How far Spark is: the tasks that are done, of all tasks in the stages that run now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlrewrite.spark.session import Session

OnProgress = Callable[[int, int], None]
"""Called with the number of tasks that are done, and of all."""

_SECONDS = 0.5


@contextmanager
def watched(session: Session, show: OnProgress) -> Iterator[None]:
    """Reports the progress of the running stages while the block runs. Over Connect the server
    reports it, from Spark 4 on."""
    if session.classic:
        ended = threading.Event()
        tracker = session.spark.sparkContext.statusTracker()
        thread = threading.Thread(target=_poll, args=(tracker, show, ended), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        return
    client: Any = session.spark

    def report(stages: Any, inflight_tasks: int, operation_id: str, done: bool) -> None:
        known = list(stages or ())
        show(sum(it.num_completed_tasks for it in known), sum(it.num_tasks for it in known))

    can = hasattr(client, "registerProgressHandler")
    if can:
        client.registerProgressHandler(report)
    try:
        yield
    finally:
        if can:
            client.removeProgressHandler(report)


def _poll(tracker: Any, show: OnProgress, ended: threading.Event) -> None:
    while not ended.wait(_SECONDS):
        found = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        stages = [it for it in found if it is not None]
        if stages:
            show(sum(it.numCompletedTasks for it in stages), sum(it.numTasks for it in stages))
