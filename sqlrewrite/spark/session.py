"""A Spark session for the commands that need one: an existing or a new one, quiet, and stopped at
the end if new.

Errors of Spark leave this folder as a ``SparkError``, one sentence for people.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from sqlrewrite.copies import replace
from sqlrewrite.spark.target import SparkError, SparkGoneError, Target
from sqlrewrite.warehouse import Name, literal_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# What the package's extras of these names install.
INSTALL = "pip install 'pyspark>=3.5'"
INSTALL_CONNECT = "pip install 'pyspark[connect]>=3.5'"
CONNECT_PORT = 15002
PROBE_SECONDS = 10.0

_OLDEST_JAVA = {"3": 8}
"""The oldest Java for each major version of Spark; later versions need 17."""

# The settings of an embedded Spark; --conf overrides them.
_EMBEDDED = {
    "spark.app.name": "dpp-rewrite",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# An unreachable server is reported within a minute; Connect's default is ten.
_RETRIES: dict[str, Any] = {"max_retries": 8, "max_backoff": 10_000}

_NOISY_LOGGERS = ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark")
# EXPLAIN's text if planning failed, in Spark 4 and in Spark 3.
_NO_PLAN = re.compile(
    r"\s*Error occurred during query planning:\s*|\s*== Physical Plan ==\s*[\w.]+Exception:\s"
)
# Before the error of a task, in Spark 3.
_OF_A_TASK = re.compile(r"[\w.]+: Job aborted due to stage failure: .*? executor \w+\): ")
# The error of a Python worker: the line after the indented stack.
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?: .*\n)+(\S.*)")
# The error of an adaptive plan of which several stages failed at once: the cause says the first.
_SEVERAL = "Multiple failures in stage materialization"
_GONE = frozenset({"Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError"})
_UNAVAILABLE = "StatusCode.UNAVAILABLE"  # gRPC's word for it
_CONTINUES = ("JVM stacktrace", "\n\tat ", "\n== SQL", ";\n'")


class Session(Struct, frozen=True):
    """A running session. A ``classic`` one has access to the JVM, and so to executed plans."""

    spark: SparkSession
    target: Target
    classic: bool


@contextmanager
def session(target: Target) -> Iterator[Session]:
    """A session for a target. For an embedded target with an active session in this process, it is
    a copy of that one, with its settings, temporary views and functions; the original is not
    changed. Raises SparkError if Spark or Java is missing, or the cluster refuses."""
    _check_installed(target)
    from pyspark.sql import SparkSession

    for name in _NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    running = SparkSession.getActiveSession() if target.embedded else None
    if running is not None:
        with spark_errors("Spark does not take the settings"):
            spark = copied(running)
            for key, value in target.conf:
                spark.conf.set(key, value)
        yield Session(spark, target, classic=hasattr(spark, "_jsparkSession"))
        return
    with ExitStack() as ends:
        # For files of an embedded Spark: its log, its shuffle files.
        folder = TemporaryDirectory(prefix="dpp-rewrite-spark-", ignore_cleanup_errors=True)
        spark = _start(target, Path(ends.enter_context(folder)))
        ends.callback(_stop, spark)
        yield Session(spark, target, classic=target.remote is None)


def fresh(session: Session) -> Session:
    """A copy of a session; the session itself if Spark cannot copy it (Connect before 4)."""
    with tried():
        spark = copied(session.spark)
        for key, value in session.target.conf:
            with tried():  # some settings can only be given when Spark starts
                spark.conf.set(key, value)
        return replace(session, spark=spark)
    return session


def copied(spark: SparkSession) -> SparkSession:
    """A session with the settings, temporary views and functions of another."""
    copy: Any = spark
    if hasattr(copy, "cloneSession"):  # Connect, from 4.1
        return cast("SparkSession", copy.cloneSession())
    if hasattr(copy, "_jsparkSession"):
        java = copy._jsparkSession.cloneSession()
        return cast("SparkSession", type(copy)(copy.sparkContext, java))
    return spark.newSession()


def current_namespace(spark: SparkSession) -> Name:
    """The current catalog and schema, in lower case."""
    catalog, schema = _current(spark)
    return (catalog.lower(), *schema.lower().split("."))


@contextmanager
def in_namespace(spark: SparkSession, namespace: Name) -> Iterator[None]:
    """Makes another schema the current one inside, and restores the old one afterwards."""
    own = _current(spark)
    spark.sql(f"USE {literal_name(namespace)}")
    try:
        yield
    finally:
        spark.sql(f"USE {literal_name(own)}")


def _current(spark: SparkSession) -> tuple[str, str]:
    here = spark.sql("SELECT current_catalog(), current_schema()").collect()[0]
    return str(here[0]), str(here[1])


@contextmanager
def spark_errors(what: str) -> Iterator[None]:
    """Turns Spark's errors inside into a SparkError that begins with ``what``."""
    try:
        yield
    except SparkError:
        raise
    except _failures() as error:
        kind = SparkGoneError if _gone(error) else SparkError
        raise kind(f"{what}: {reason(error)}") from error


@contextmanager
def tried() -> Iterator[None]:
    """Ignores Spark's errors inside. Raises SparkGoneError."""
    try:
        with spark_errors("a question to Spark failed"):
            yield
    except SparkGoneError:
        raise
    except SparkError:
        pass


def reason(error: BaseException) -> str:
    """Why Spark failed, in one line."""
    if _gone(error):
        return "the Spark process has ended; was it killed, or short of memory?"
    java = getattr(error, "java_exception", None)
    if java is not None and _SEVERAL in str(java):
        java = java.getCause() or java
    text = _NO_PLAN.sub("", str(java if java is not None else error), count=1)
    text = _OF_A_TASK.sub("", text, count=1)
    if raised := _RAISED.findall(text):
        return f"a Python worker fails: {raised[-1]}"
    for sign in _CONTINUES:
        text = text.partition(sign)[0]
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return " ".join(lines[:2]) or type(error).__name__


def _gone(error: BaseException) -> bool:
    try:
        return type(error).__name__ in _GONE or _UNAVAILABLE in str(error)
    except Exception as second:  # Py4J asks Java for the text of its errors
        return type(second).__name__ in _GONE


def literal_text(text: str | None) -> str:
    """A text as a string literal of SQL, None as NULL."""
    return "NULL" if text is None else "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _failures() -> tuple[type[BaseException], ...]:
    """The exceptions that a call of Spark may raise."""
    from pyspark.errors import PySparkException

    failures: list[type[BaseException]] = [PySparkException, ConnectionError]
    if find_spec("py4j") is not None:
        from py4j.protocol import Py4JError

        failures.append(Py4JError)
    if find_spec("grpc") is not None:
        from grpc import RpcError

        failures.append(RpcError)
    return tuple(failures)


# What must be installed


def _check_installed(target: Target) -> None:
    if find_spec("pyspark") is None:
        raise SparkError(f"this needs PySpark, which is not installed: {INSTALL}")
    if target.remote is not None:
        if find_spec("grpc") is None or find_spec("pandas") is None:
            raise SparkError(f"Spark Connect needs grpcio and its like: {INSTALL_CONNECT}")
        _check_server("--remote", target.remote, CONNECT_PORT)
        return
    if find_spec("py4j") is None:
        raise SparkError(f"only Spark's Connect client is installed: give --remote, or {INSTALL}")
    _check_java()
    if target.master is not None and target.master.startswith("spark://"):
        _check_server("--master", target.master.partition(",")[0], 7077)


def _check_server(option: str, url: str, port: int) -> None:
    """Tries to connect to a server's port, because Spark would try for minutes."""
    if url.startswith("local"):
        return
    parts = urlsplit(url.partition(";")[0])
    if option == "--remote" and parts.scheme != "sc":
        raise SparkError(f"--remote {url}: a Connect URL begins with sc://, as in sc://host:15002")
    try:
        place = (parts.hostname or "", parts.port or port)
        with socket.create_connection(place, PROBE_SECONDS):
            pass
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SparkError(f"{option} {url}: nobody answers there ({why})") from error


def _check_java() -> None:
    from pyspark import __version__

    oldest = _OLDEST_JAVA.get(__version__.partition(".")[0], 17)
    install = (
        f"install it with `apt-get install openjdk-{max(oldest, 17)}-jre-headless` or `brew install"
        f" openjdk@{max(oldest, 17)}`, or let JAVA_HOME point to one"
    )
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None:
        where = f" in JAVA_HOME ({home})" if home else ""
        raise SparkError(f"Spark needs Java {oldest} or later, and there is none{where}: {install}")
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', shown)
    if version is not None and int(version[1]) < oldest:
        raise SparkError(
            f"Spark needs Java {oldest} or later, and {java} is {version[1]}: {install}"
        )


# Starting and stopping


def _start(target: Target, folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    log = folder / "spark.log"
    if target.remote is not None:
        builder = SparkSession.builder.remote(target.remote)
    else:
        builder = SparkSession.builder.master(target.master or "local[*]")
        if target.embedded:
            places = {"spark.local.dir": folder, "spark.sql.warehouse.dir": folder / "warehouse"}
            for key, value in {**_EMBEDDED, **places}.items():
                builder = builder.config(key, str(value))
    for key, value in target.conf:
        builder = builder.config(key, value)
    try:
        with _quiet(log), spark_errors(f"Spark at {target.name} does not start"):
            spark = builder.getOrCreate()
            if target.remote is None:
                spark.sparkContext.setLogLevel("ERROR")
            else:
                _limit_retries(spark)
            spark.range(1).count()  # fails now if the cluster accepts sessions but runs nothing
    except SparkError as error:
        last = _last_error(log)
        raise SparkError(f"{error}{f' ({last})' if last else ''}") from error
    return spark


def _limit_retries(spark: SparkSession) -> None:
    """Limits how long a Connect session retries."""
    client: Any = spark.client
    if hasattr(client, "set_retry_policies"):
        from pyspark.sql.connect.client.retries import DefaultPolicy

        client.set_retry_policies([DefaultPolicy(**_RETRIES)])
    else:  # Spark 3
        client._retry_policy.update(_RETRIES)


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Sends the output of a JVM that starts inside to a file, for the life of the JVM."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    kept = (os.dup(1), os.dup(2))
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _last_error(log: Path) -> str:
    """The last line of the JVM's log that names an error."""
    with suppress(OSError):
        lines = log.read_text("utf-8", "replace").splitlines()
        telling = [line for line in lines if re.search(r"\b(ERROR|Exception|Error)\b", line)]
        return telling[-1].strip()[:300] if telling else ""
    return ""


def _stop(spark: SparkSession) -> None:
    with suppress(Exception):  # it may have died
        spark.stop()


OnProgress = Callable[[int, int], None]
"""Called with the number of tasks that are done, and of all."""

_SECONDS = 0.5


@contextmanager
def watched(session: Session, show: OnProgress) -> Iterator[None]:
    """Reports the progress of the running stages; over Connect from Spark 4 on."""
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
        running = list(stages or ())
        show(
            sum(stage.num_completed_tasks for stage in running),
            sum(stage.num_tasks for stage in running),
        )

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
        infos = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        stages = [info for info in infos if info is not None]
        if stages:
            show(
                sum(stage.numCompletedTasks for stage in stages),
                sum(stage.numTasks for stage in stages),
            )
