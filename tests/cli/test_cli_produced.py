"""Parquet and Arrow files as their producers write them give the values that others read."""

from __future__ import annotations

import csv
import itertools
import json
import shlex
from pathlib import Path

import pytest

from support import library_types
from support.command_files import pa, parquet

polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

N_ROWS = 300
CATEGORIES = ["a", "bb", None, "c"]


def rows():
    """Return columns of strings that repeat, that do not, and of numbers."""
    return {
        "k": [CATEGORIES[row % 4] for row in range(N_ROWS)],
        "note": [f"note {row}" for row in range(N_ROWS)],
        "n": list(range(N_ROWS)),
        "x": [row / 4 for row in range(N_ROWS)],
    }


def check(done, path, encoded="k", kept=("note", "n", "x"), options=""):
    """Encode `encoded` to each format, and compare with the rows; decode the result again."""
    wanted = rows()
    for form in ("parquet", "arrow"):
        done(f"encode {path} -c {encoded} -o out.{form} --overwrite{options}")
        read = parquet.read_table if form == "parquet" else feather
        table = read(f"out.{form}")
        for name in kept:
            assert table[name].to_pylist() == wanted[name], (form, name)
        for category in {*wanted[encoded]} - {None}:
            feature = table[f"{encoded}_{category}"].to_pylist()
            assert feature == [value == category for value in wanted[encoded]]
        done(f"decode out.{form} -o back.{form} --overwrite")
        assert read(f"back.{form}")[encoded].to_pylist() == wanted[encoded]
    features = [f"k_{category}" for category in CATEGORIES if category is not None]
    by_polars = polars.read_parquet("out.parquet").select(features)
    by_duckdb = duckdb.read_parquet("out.parquet").pl().select(features)
    assert by_polars.equals(by_duckdb)
    assert by_polars["k_a"].to_list() == [value == "a" for value in wanted["k"]]


def feather(path):
    """Read an Arrow file."""
    with pa.OSFile(str(path)) as file:
        return pa.ipc.open_file(file).read_all()


# --- Arrow files and streams of polars

LEVELS = {"default": {}}
for _name in ("oldest", "newest"):
    LEVELS[_name] = {"compat_level": getattr(polars.CompatLevel, _name)()}


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("kind", ["String", "Categorical", "Enum"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_arrow_files_of_polars_are_encoded(compression, level, kind, is_stream, done, call):
    """Every compression and level of compatibility, with strings, categories and enumerations."""
    types = {"String": polars.String, "Categorical": polars.Categorical}
    types["Enum"] = polars.Enum([one for one in CATEGORIES if one is not None])
    frame = polars.DataFrame(rows()).with_columns(polars.col("k").cast(types[kind]))
    frame = frame.with_columns(kept=polars.col("k"), nested=polars.struct("k", "n"))
    frame = frame.with_columns(lists=polars.concat_list("k", "k"))
    path = "in.arrows" if is_stream else "in.arrow"
    write = frame.write_ipc_stream if is_stream else frame.write_ipc
    write(path, compression=compression, **level)
    assert call(f"inspect {path}").code == 0
    check(done, path)
    result = polars.read_ipc(Path("out.arrow").read_bytes())
    for name in ("kept", "nested", "lists"):
        assert result[name].to_list() == frame[name].to_list(), name
    result = polars.read_parquet("out.parquet")
    for name in ("kept", "nested", "lists"):
        assert result[name].to_list() == frame[name].to_list(), name


def test_streams_without_an_end_marker_are_rejected(done, refused):
    """They are refused, because a stream that was cut looks alike; an option reads them."""
    polars.DataFrame(rows()).write_ipc_stream("in.arrows")
    whole = Path("in.arrows").read_bytes()
    assert whole.endswith(b"\xff\xff\xff\xff\x00\x00\x00\x00")
    Path("in.arrows").write_bytes(whole[:-8])
    for command in ("inspect in.arrows", "encode in.arrows -c k -o out.parquet"):
        refused(command, 4, "in.arrows", "--no-end-marker")
    note = done("encode in.arrows -c k -o out.parquet --no-end-marker")
    assert "in.arrows" in note
    assert "rows may be missing" in note
    check(done, "in.arrows", options=" --no-end-marker -q")
    # A batch that is cut is never read.
    Path("in.arrows").write_bytes(whole[:-200])
    refused("encode in.arrows -c k -o new.parquet --no-end-marker -q", 4, "in.arrows")


@pytest.mark.parametrize("is_stream", [False, True])
def test_batches_of_one_row_are_merged(is_stream, done):
    """The output has no batches of one row, and dictionaries that differ are merged."""
    table = pa.table(rows())
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    kind = pa.dictionary(pa.int8(), pa.string())
    fields = [pa.field("k", kind if is_stream else pa.string()), *list(table.schema)[1:]]
    with make("in.arrows" if is_stream else "in.arrow", pa.schema(fields)) as writer:
        for row in range(N_ROWS):
            writer.write_table(table.slice(row, 1).cast(pa.schema(fields)))
    path = "in.arrows" if is_stream else "in.arrow"
    check(done, path)
    with pa.OSFile("out.arrow") as file:
        assert pa.ipc.open_file(file).num_record_batches == 2  # of 256 rows, and the rest


def test_dictionaries_may_contain_null(done):
    """The null of a dictionary is a missing value like any other."""
    values = pa.array(["a", None, "bb", "c"])
    codes = pa.array([[0, 2, 1, 3][row % 4] for row in range(N_ROWS)], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, values)
    table = pa.table({**rows(), "k": column, "kept": column})
    with pa.ipc.new_file("in.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    check(done, "in.arrow")
    assert parquet.read_table("out.parquet")["kept"].to_pylist() == rows()["k"]


def write_stream(table, path, **options):
    """Write an Arrow stream."""
    with pa.ipc.new_stream(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("name", ["in.arrow", "in.feather", "in.ipc", "in"])
def test_streams_may_have_the_name_of_a_file(name, done, call):
    """The content says which of the two Arrow formats a file has."""
    write_stream(pa.table(rows()), name)
    assert call(f"inspect {name}").code == 0
    check(done, name)


def test_files_may_have_the_name_of_a_stream(done):
    """They are read, too."""
    table = pa.table(rows())
    with pa.ipc.new_file("in.arrows", table.schema) as writer:
        writer.write_table(table)
    check(done, "in.arrows")


@pytest.mark.parametrize("name", ["in.arrows", "in.stream"])
def test_streams_of_old_versions_are_read(name, done):
    """Before Arrow 0.15, messages had no marker."""
    write_stream(pa.table(rows()), name, use_legacy_format=True)
    assert Path(name).read_bytes()[:4] != b"\xff" * 4
    check(done, name, options=" --no-end-marker -q")


def test_nested_values_of_dictionaries_may_contain_null(done):
    """They are kept, although pyarrow cannot hash them."""
    values = pa.array([[1], None, [2, 3]])
    codes = pa.array([[0, 1, 2, None][row % 4] for row in range(N_ROWS)], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, values)
    table = pa.table({**rows(), "kept": column})
    with pa.ipc.new_file("in.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    done("encode in.arrow -c k -o out.arrow")
    assert feather("out.arrow")["kept"].to_pylist() == column.to_pylist()


def inspectable():
    """Yield every type of pyarrow that can be written to an Arrow file."""
    for case in library_types.arrow_cases():
        yield pytest.param(case, id=str(case))


@pytest.mark.parametrize("case", list(inspectable()))
def test_inspect_counts_every_type_or_says_so(case, call):
    """`inspect` counts the values of every type, or says that they are not counted."""
    column = case.make(case.rows)
    table = pa.table({"x": column, "k": ["a"] * len(column)})
    try:
        with pa.ipc.new_file("in.arrow", table.schema) as writer:
            writer.write_table(table)
        feather("in.arrow").validate(full=True)
    except (pa.ArrowException, NotImplementedError) as error:
        pytest.skip(f"pyarrow does not write or read this type: {error}")
    ended = call("inspect in.arrow --json")
    assert ended.code == 0, ended
    [found, _] = json.loads(ended.out)["columns"]
    distinct = {repr(value) for value in case.values}
    assert found["distinct"] in (None, len(distinct))
    assert (found["distinct"] is None) == (not found["counted"])


# --- Parquet

# The encodings of the format; pyarrow says which of them it cannot write for a type.
ENCODINGS = [
    "PLAIN", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT",
]  # fmt: skip


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_of_parquet_is_read(encoding, version, done, call):
    """Columns of every encoding that pyarrow writes are encoded and kept."""
    table = pa.table(rows())
    written = []
    for name in table.column_names:
        options = {"column_encoding": {name: encoding}, "data_page_version": version}
        others = [other for other in table.column_names if other != name]
        try:
            parquet.write_table(table, "in.parquet", use_dictionary=others, **options)
            parquet.read_table("in.parquet")
        except (OSError, pa.ArrowException):
            continue
        found = parquet.read_metadata("in.parquet").row_group(0)
        assert encoding in found.column(table.column_names.index(name)).encodings
        written.append(name)
        assert call("inspect in.parquet").code == 0
        check(done, "in.parquet")
        done(f"encode in.parquet -c {name} -o all.parquet --max-features 999 --overwrite")
        done("decode all.parquet -o back.parquet --overwrite")
        assert parquet.read_table("back.parquet")[name].to_pylist() == rows()[name]
    assert written or encoding in ("RLE", "BIT_PACKED")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_parquet_of_duckdb_is_read(version, done, call):
    """Version 2 stores strings of many values as deltas."""
    table = pa.table(rows())
    duckdb.from_arrow(table).create_view("rows")
    duckdb.sql(f"copy rows to 'in.parquet' (format parquet, parquet_version {version})")
    duckdb.sql("drop view rows")
    assert call("inspect in.parquet").code == 0
    check(done, "in.parquet")


def test_a_compression_that_is_only_read_is_replaced(done):
    """The output has the default compression if pyarrow cannot write that of the input."""
    # The number of the codec in the footer of each chunk: Hadoop's LZ4 instead of LZ4_RAW.
    from onehot_fast.cli.parquet import footer as thrift
    from onehot_fast.cli.parquet import footer_in

    parquet.write_table(pa.table(rows()), "in.parquet", compression="lz4")
    with pa.OSFile("in.parquet") as file:
        old = footer_in(file)
    decoded = thrift.decode(old)
    for group in decoded[4][1][1]:
        for chunk in group[1][1][1]:
            assert chunk[3][1][4] == (thrift.I32, 7)
            chunk[3][1][4] = thrift.I32, 5
    new = thrift.encode(decoded)
    content = Path("in.parquet").read_bytes()[: -len(old) - 8]
    Path("in.parquet").write_bytes(content + new + len(new).to_bytes(4, "little") + b"PAR1")
    assert parquet.read_table("in.parquet").to_pydict() == rows()
    check(done, "in.parquet")
    assert parquet.read_metadata("out.parquet").row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize("group_rows", [1, 7])
def test_groups_of_few_rows_are_not_inherited(group_rows, done):
    """They are not inherited."""
    parquet.write_table(pa.table(rows()), "in.parquet", row_group_size=group_rows)
    check(done, "in.parquet")
    assert parquet.read_metadata("out.parquet").num_row_groups == 1


def test_row_groups_are_larger_than_small_files_of_a_folder(done):
    """The size of a small file is not the size of the row groups of a larger output."""
    Path("in").mkdir()
    for start in range(0, N_ROWS, 50):
        parquet.write_table(pa.table(rows()).slice(start, 50), f"in/{start:03}.parquet")
    done("encode in -c k --rows-per-file 250 -o out/")
    counts = [parquet.read_metadata(path).num_row_groups for path in sorted(Path("out").iterdir())]
    assert counts == [1, 1]


# --- folders


def text_types():
    """Yield types of strings that files of a folder may have."""
    yield from (pa.string(), pa.large_string())
    for index, values in itertools.product((pa.int8(), pa.int32()), (pa.string(),)):
        yield pa.dictionary(index, values)


@pytest.mark.parametrize("form", ["parquet", "arrow", "parq"])
def test_files_of_a_folder_may_differ_in_their_schemas(form, done, call):
    """The order of columns and the way in which strings are stored may differ."""
    Path("in").mkdir()
    kinds = list(text_types())
    size = N_ROWS // len(kinds)
    for i, kind in enumerate(kinds):
        table = pa.table(rows()).slice(i * size, size)
        for name in ("k", "note"):
            position = table.column_names.index(name)
            column = table[name]
            column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column
            table = table.set_column(position, name, column.cast(kind))
        if i % 2:
            table = table.select(table.column_names[::-1])
        path = f"in/{i}.{form}"
        if form == "arrow":
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
        else:
            delta = {"column_encoding": {"note": "DELTA_BYTE_ARRAY"}, "use_dictionary": ["k"]}
            parquet.write_table(table, path, **({} if i else delta))
    assert call("inspect in").code == 0
    done("encode in -c k -o out/")
    done("encode in -c note --max-features 999 -o notes/")
    done("encode in -c k --rows-per-file 1000 -o one/")
    for folder, count in (("out", len(kinds)), ("one", 1)):
        tables = []
        paths = sorted(Path(folder).iterdir())
        assert len(paths) == count
        for path in paths:
            tables.append(parquet.read_table(path) if form != "arrow" else feather(path))
        table = pa.concat_tables(tables, promote_options="permissive")
        for name in ("note", "n", "x"):
            assert table[name].to_pylist() == rows()[name]
        assert table["k_a"].to_pylist() == [value == "a" for value in rows()["k"]]


def test_a_folder_of_different_types_is_refused(refused):
    """A column of numbers in one file and of strings in another."""
    Path("in").mkdir()
    parquet.write_table(pa.table({"k": ["a"], "n": [1]}), "in/0.parquet")
    parquet.write_table(pa.table({"n": ["b"], "k": ["a"]}), "in/1.parquet")
    refused("encode in -c k -o out/", 6, "in/1.parquet", "in/0.parquet", "n")


# --- pandas, with each engine and option

PANDAS_ENGINES = ["pyarrow", "fastparquet"]


@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")
@pytest.mark.parametrize("engine", PANDAS_ENGINES)
@pytest.mark.parametrize("compression", [None, "snappy", "gzip", "zstd"])
def test_parquet_of_pandas_is_read(engine, compression, done, call):
    """Both engines, with an index."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip(engine)
    frame = pandas.DataFrame(rows())
    frame.to_parquet("in.parquet", engine=engine, compression=compression)
    assert call("inspect in.parquet").code == 0
    check(done, "in.parquet")


def csv_options():
    """Yield options of `DataFrame.to_csv`, and those with which the command reads the file."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        yield {"quoting": quoting}, ""
    for quoting in (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):  # missing values are quoted, too
        yield {"quoting": quoting}, " --null ''"
    for letter in (";", "|", "\t"):
        yield {"sep": letter}, f" --delimiter {letter!r}"
    for mark in ("NA", "?", "NULL", "missing value"):
        yield {"na_rep": mark}, f" --null {shlex.quote(mark)}"
    for name in ("utf-8-sig", "utf-16", "cp1252", "latin-1", "shift_jis"):
        known = "" if name.startswith("utf-8") else f" --encoding {name}"
        yield {"encoding": name}, known
    yield {"decimal": ",", "sep": ";"}, " --delimiter ';' --decimal ,"
    for end in ("\n", "\r\n", "\r"):
        yield {"lineterminator": end}, ""
    for packed in ("gzip", "bz2", "zstd"):
        yield {"compression": packed}, ""


@pytest.mark.parametrize(("written", "read"), list(csv_options()))
def test_csv_of_pandas_is_read(written, read, done, call):
    """Each option of `to_csv`: the values are those that pandas reads with the same options."""
    pandas = pytest.importorskip("pandas")
    ends = {"gzip": ".gz", "bz2": ".bz2", "zstd": ".zst"}
    path = f"in.csv{ends.get(written.get('compression'), '')}"
    if path.endswith(".zst"):
        pytest.importorskip("zstandard")
    frame = pandas.DataFrame(rows())
    frame.to_csv(path, index=False, **written)
    options = {name: written[name] for name in ("sep", "encoding", "decimal") if name in written}
    again = pandas.read_csv(path, na_values=[written.get("na_rep", "")], **options)
    assert again["k"].isna().sum() == frame["k"].isna().sum()
    line = shlex.split(f"encode {path} -c k -q -o out.parquet{read}")
    ended = call(*line)
    assert ended.code == 0, ended
    out = parquet.read_table("out.parquet")
    for name in ("note", "n", "x"):
        assert out[name].to_pylist() == again[name].tolist() == rows()[name]
    by_duckdb = duckdb.read_parquet("out.parquet").pl()
    assert by_duckdb.equals(polars.read_parquet("out.parquet"))
    assert [name for name in out.column_names if name.startswith("k_")] == ["k_a", "k_bb", "k_c"]
    for category in ("a", "bb", "c"):
        assert out[f"k_{category}"].to_pylist() == (again["k"] == category).tolist()


# --- DuckDB and polars, to CSV


@pytest.mark.parametrize(
    "options", ["", ", force_quote *", ", delimiter '|'", ", nullstr 'NA'", ", compression gzip"]
)
def test_csv_of_duckdb_is_read(options, call):
    """The options of `copy to`."""
    path = "in.csv.gz" if "gzip" in options else "in.csv"
    with duckdb.connect() as connection:
        connection.register("rows", pa.table(rows()))
        connection.sql(f"copy rows to '{path}' (format csv, header{options})")
    known = {", delimiter '|'": ["--delimiter", "|"], ", nullstr 'NA'": ["--null", "NA"]}
    ended = call("encode", path, "-c", "k", "-q", "-o", "out.parquet", *known.get(options, []))
    assert ended.code == 0, ended
    out = parquet.read_table("out.parquet")
    for name in ("note", "n", "x"):
        assert out[name].to_pylist() == rows()[name]
    for category in ("a", "bb", "c"):
        assert out[f"k_{category}"].to_pylist() == [one == category for one in rows()["k"]]
