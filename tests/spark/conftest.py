"""One local Spark for all tests here. Without Java they are skipped; in CI that is a failure."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.referee.harness import compiled, spark_since

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
JVM = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn400m -XX:MetaspaceSize=256m"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Most of what a short run takes is loading classes and compiling them: nothing is compiled a
second time, no class of Spark's is verified, and the memory is there from the start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``since("4.0", "what is told before")`` must fail on an older Spark: one that
    passes there is marked for nothing."""
    for item in items:
        for mark in item.iter_markers("since"):
            version, before = mark.args
            if find_spec("pyspark") is not None and not spark_since(version):
                item.add_marker(pytest.mark.xfail(reason=f"before {version} {before}", strict=True))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local Spark on two cores, with everything it writes in a temporary folder."""
    missing = _missing()
    if missing is not None:
        if os.environ.get("CI"):
            pytest.fail(f"the Spark tests must run in CI: {missing}")
        pytest.skip(missing)
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("dpp-rewrite-tests")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.catalogImplementation", "in-memory")
        # One task for each stage: to send it costs more than a few rows do.
        .config("spark.default.parallelism", "1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.leafNodeDefaultParallelism", "1")
        .config("spark.sql.files.minPartitionNum", "1")
        # Each query runs once or twice on a few rows: to compile it takes longer than to run it.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.ui.explainMode", "simple")  # written for each query, read by nobody
        # Spark's check of its own rules, after each of them: a twentieth of the time.
        .config("spark.sql.lightweightPlanChangeValidation", "false")
        .config("spark.driver.extraJavaOptions", JVM)
        .config("spark.buffer.pageSize", "1m")  # a sort takes one, and by default it is 64 MB
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    # Or Spark walks up the stack for each RDD, to say in its UI which line made it.
    session.sparkContext.setLocalProperty("callSite.long", "a test")
    _plain_files(session)
    yield session
    session.stop()


def _plain_files(session: SparkSession) -> None:
    """Tables of many small files are written in half of the time."""
    jvm: Any = session._jvm
    settings = session._jsc.hadoopConfiguration()
    files = compiled(jvm, Path(__file__).with_name("PlainFiles.java"))
    settings.setClassLoader(files.getClassLoader())
    settings.set("fs.file.impl", files.getName())
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()  # of which one is kept for all


@pytest.fixture(scope="module")
def settings_kept(spark: SparkSession) -> Iterator[None]:
    """For a module that sets what others share: behind it that is as it was."""
    names = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")
    before = {name: str(spark.conf.get(name)) for name in names}
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(autouse=True)
def its_settings_hold(request: pytest.FixtureRequest) -> None:
    """Makes the session the active one before each test on it: whose settings Spark's parser
    follows. PySpark makes each new session active, and leaves it so."""
    if "spark" in request.fixturenames:
        session = request.getfixturevalue("spark")
        session._jvm.SparkSession.setActiveSession(session._jsparkSession)


def _missing() -> str | None:
    """What the Spark tests lack on this machine; None where all is there."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install -e '.[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None:
        return f"no Java found: Spark needs Java {OLDEST_JAVA} or later"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', shown)
    if version is None or int(version[1]) < OLDEST_JAVA:
        line = shown.strip().partition("\n")[0] or "unknown version"
        return f"Spark needs Java {OLDEST_JAVA} or later, found {line}"
    return None
