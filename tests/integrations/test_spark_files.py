"""The command reads the files of Spark: CSV, and Parquet of each codec and page version."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("click")

import pyarrow as pa
import pyarrow.parquet as parquet

from onehot_fast.cli import main

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SCHEMA = "k string, n long, x double, price decimal(9, 2), day date, moment timestamp, text string"
PARQUET_OPTIONS = [
    *({"compression": codec} for codec in ("none", "snappy", "gzip", "zstd", "lz4_raw")),
    {"parquet.writer.version": "v2"},
    {"parquet.enable.dictionary": "false"},
    {"parquet.enable.dictionary": "false", "parquet.writer.version": "v2"},
    {"parquet.bloom.filter.enabled": "true"},
]
SETTINGS = [
    {},
    {"spark.sql.parquet.writeLegacyFormat": "true"},
    {"spark.sql.parquet.outputTimestampType": "INT96"},
    {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
]


@pytest.fixture
def frame(spark):
    """Return a frame of Spark with two partitions."""
    columns = ", ".join(
        [
            "case when id % 4 = 3 then null else concat('k', id % 4) end as k",
            "id as n", "id / 4 as x", "cast(id / 8 as decimal(9, 2)) as price",
            "date_add(date'2024-02-28', cast(id % 9 as int)) as day",
            "timestamp_seconds(1700000000 + id) as moment", "concat('text ', id) as text",
        ]
    )  # fmt: skip
    return spark.sql(f"select {columns} from range(0, 200, 1, 2)")


def check(path, out, *options):
    """Encode a folder, and compare with what Spark's own reader gave."""
    assert main(["encode", str(path), "-c", "k", "-q", "-o", str(out), *options]) == 0
    assert main(["inspect", str(path), "-q", *options]) == 0
    files = sorted(out.iterdir())
    return [parquet.read_table(file) for file in files]


def compare(tables, wanted):
    """Compare tables with the rows of Spark, in any order."""
    found = sorted((row for table in tables for row in table.to_pylist()), key=lambda row: row["n"])
    assert len(found) == len(wanted)
    for row, expected in zip(found, wanted, strict=True):
        for category in ("k0", "k1", "k2"):
            assert row[f"k_{category}"] == (expected["k"] == category)
        for name in ("n", "x", "price", "day", "text"):
            assert row[name] == expected[name], name
        assert row["moment"].timestamp() == expected["moment"].timestamp()


@pytest.mark.parametrize("options", PARQUET_OPTIONS, ids=str)
def test_files_with_all_parquet_options_are_read(options, frame, tmp_path, capsys):
    """Codecs, page versions and dictionaries."""
    frame.write.options(**options).parquet(str(tmp_path / "in"))
    wanted = [row.asDict() for row in frame.orderBy("n").collect()]
    compare(check(tmp_path / "in", tmp_path / "out"), wanted)
    # The reader of Spark says the same of the output.
    # pyarrow reads timestamps of Spark (INT96) as nanoseconds, which Spark reads as integers only.
    path, name = str(tmp_path / "out"), "spark.sql.legacy.parquet.nanosAsLong"
    frame.sparkSession.conf.set(name, "true")
    try:
        counted = frame.sparkSession.read.parquet(path).where("k_k0").count()
    finally:
        frame.sparkSession.conf.unset(name)
    assert counted == sum(row["k"] == "k0" for row in wanted)
    capsys.readouterr()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_files_with_older_parquet_settings_are_read(settings, frame, spark, tmp_path, capsys):
    """The older representations of decimals and timestamps."""
    wanted = [row.asDict() for row in frame.orderBy("n").collect()]
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        frame.write.parquet(str(tmp_path / "in"))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    tables = check(tmp_path / "in", tmp_path / "out")
    for table in tables:
        assert table.schema.field("moment").type.unit in ("ns", "us", "ms")
    utc = [table.set_column(table.column_names.index("moment"), "moment",
           table["moment"].cast(pa.timestamp("us", "UTC"))) for table in tables]  # fmt: skip
    compare(utc, wanted)
    capsys.readouterr()


@pytest.mark.parametrize("options", [{}, {"quoteAll": "true"}, {"sep": ";"}, {"nullValue": "NA"}])
def test_csv_folders_of_spark_are_read(options, frame, tmp_path, capsys):
    """The CSV files of a folder, each with its header."""
    kept = frame.select("k", "n", "x", "text")
    kept.write.options(header="true", **options).csv(str(tmp_path / "in"))
    typed = {"sep": ["--delimiter", ";"], "nullValue": ["--null", "NA"]}
    known = [part for name in options for part in typed.get(name, [])]
    folder = tmp_path / "out"
    line = ["encode", str(tmp_path / "in"), "-c", "k", "-q", "-o", str(folder), *known]
    assert main([*line, "--output-format", "parquet"]) == 0
    wanted = [row.asDict() for row in kept.orderBy("n").collect()]
    tables = [parquet.read_table(file) for file in sorted(folder.iterdir())]
    found = sorted((row for table in tables for row in table.to_pylist()), key=lambda row: row["n"])
    assert [(row["n"], row["x"], row["text"]) for row in found] == [
        (row["n"], row["x"], row["text"]) for row in wanted
    ]
    for category in ("k0", "k1", "k2"):
        assert [row[f"k_{category}"] for row in found] == [row["k"] == category for row in wanted]
    capsys.readouterr()
