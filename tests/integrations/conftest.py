"""Engines for the tests that ask for one: Spark and PostgreSQL, one of each for a process."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from support.postgres import cluster, programs


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Return a session of two workers, in which a task may fail twice."""
    pytest.importorskip("pyspark")
    java = os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java")
    if not (shutil.which("java") or os.path.exists(java)):
        pytest.skip("Spark needs Java 17, and there is no java on the path nor in JAVA_HOME")
    from pyspark.sql import SparkSession

    from support import spark_daemon

    settings = {
        # Few rows: what costs is to compile, to plan, and to start workers.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.adaptive.enabled": "false",
        "spark.python.daemon.module": "support.spark_daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",  # so that few rows are several batches
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYTHONPATH", str(Path(spark_daemon.__file__).parents[1]), prepend=os.pathsep)
        builder = SparkSession.builder.master("local[2,3]").appName("tests of onehot_fast")
        session = builder.config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres():
    """Return a session of a private PostgreSQL server on a local socket."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with cluster() as session:
        yield session
