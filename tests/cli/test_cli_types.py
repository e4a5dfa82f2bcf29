"""Decoded columns of a file have the types that `encode` saw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import arrow_types
from support import command_files as files
from support.command_files import pa, parquet

NO_JSON = ("month_day_nano_interval",)
EVERY = [
    (kind, values)
    for kind, values in arrow_types.EVERY
    if not any(name in str(kind) for name in NO_JSON)
]


def holds(suffix, kind, values):
    """Tell whether pyarrow writes a type into a file, and reads the same type."""
    table = arrow_types.table([(kind, values)])
    path = Path(f"probe.{suffix}")
    try:
        files.write(table, path)
        return files.read(path).schema.types == table.schema.types
    except (pa.ArrowException, OSError):
        return False


@pytest.mark.parametrize("layout", ["columns", "dictionary"])
@pytest.mark.parametrize("suffix", ["arrow", "arrows", "parquet"])
def test_every_type_that_a_file_holds_comes_back(suffix, layout, done):
    """The schema of the decoded file is that of the source, so one can be appended to the other."""
    types = [pair for pair in EVERY if holds(suffix, *pair)]
    table = arrow_types.table(types)
    files.write(table, Path(f"in.{suffix}"))
    columns = ",".join(table.column_names)

    done(f"encode in.{suffix} -c {columns} --handle-missing ignore --layout {layout} -o m.{suffix}")
    done(f"decode m.{suffix} -o out.{suffix}")

    decoded = files.read(Path(f"out.{suffix}"))
    assert decoded.schema.types == table.schema.types
    assert len(types) > 40
    again = files.read(Path(f"in.{suffix}"))
    both = pa.concat_tables([again, decoded])
    assert both.num_rows == 2 * table.num_rows
    for i, (kind, _) in enumerate(types):
        if kind in [plain for plain, _ in arrow_types.PLAIN]:
            assert decoded.column(i).to_pylist() == table.column(i).to_pylist()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_types_that_the_output_lacks_become_the_nearest(suffix, done):
    """Their values are written in the nearest type, never an error."""
    kinds = [
        (pa.run_end_encoded(pa.int16(), pa.int8()), [1, 2]),
        (pa.dictionary(pa.int8(), pa.string_view()), ["a", "b"]),
        (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
        (pa.string_view(), ["a", "b"]),
        (pa.dictionary(pa.int8(), pa.decimal128(5, 2)), []),
    ]
    table = arrow_types.table(kinds)
    files.write(table, Path("in.arrow"))

    done("encode in.arrow -c 0,1,2,3,4 --save-encoder e.json -o m.arrow")
    done(f"decode m.arrow --encoder e.json -o out.{suffix}")

    decoded = files.read(Path(f"out.{suffix}")).to_pydict()
    assert decoded["0"] == [1, 2, 1, None]
    for i in "123":
        assert [value or None for value in decoded[i]] == ["a", "b", "a", None]


@pytest.mark.parametrize("name", [name for name in dir(pa) if re.fullmatch(r"decimal\d+", name)])
@pytest.mark.parametrize("sign", [1, -1])
def test_decimals_that_pyarrow_cannot_show_are_kept_only(name, sign, done, refused):
    """They are kept, but neither encoded nor written as text: pyarrow would write an error text."""
    make, n_bytes = getattr(pa, name), getattr(pa, name)(2, 0).bit_width // 8

    def table_of(scale):
        one = pa.py_buffer((12).to_bytes(n_bytes, "little"))
        return pa.table({"x": pa.Array.from_buffers(make(2, scale), 1, [None, one]), "k": ["a"]})

    def is_shown(scale):
        try:
            return bool(table_of(scale)["x"].to_pylist())
        except ArithmeticError:
            return False

    last = max(scale for scale in range(100) if is_shown(sign * scale))
    for scale in (last, last + 1, 10**8):
        table = table_of(sign * scale)
        files.write(table, Path("in.arrow"))
        done("encode in.arrow -c k -o out.arrow --overwrite")
        assert files.read(Path("out.arrow"))["x"].equals(table["x"])
        if scale == last:
            done("encode in.arrow -c k -o out.csv --overwrite")
            done("encode in.arrow -c x -o out.arrow --overwrite")
        else:
            refused("encode in.arrow -c k -o new.csv", 8, "'x'", "cannot hold", "another format")
        if scale == 10**8:  # narrow decimals are read as those of 128 bits
            refused("encode in.arrow -c x -o new.arrow", 7, "'x'", f"(2, {sign * scale})", "scale")


def test_a_dictionary_that_the_reader_made_is_a_string_again(done):
    """Reading strings of Parquet as a dictionary is faster, but not their type."""
    table = pa.table({"s": pa.array(["a", "b"] * 500, pa.large_string())})
    parquet.write_table(table, "in.parquet")

    done("encode in.parquet -c s -o m.parquet")
    done("decode m.parquet -o out.parquet")

    assert files.read(Path("out.parquet")).equals(table)


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.int8()), pa.large_list(pa.large_string()), pa.list_(pa.decimal128(5, 2)),
     pa.list_(pa.string_view()), pa.list_(pa.dictionary(pa.int8(), pa.string()))],
    ids=str,
)  # fmt: skip
def test_lists_of_labels_come_back(kind, done):
    element = kind.value_type
    is_number = pa.types.is_integer(element) or pa.types.is_decimal(element)
    labels = [1, 2, 2] if is_number else ["a", "b", "b"]
    make = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
    lists = make.from_arrays([0, 2, None, 3, 3], arrow_types.column(element, labels))
    files.write(pa.table({"c": lists}), Path("in.arrow"))

    done("encode in.arrow -c c --handle-missing indicator -o m.arrow")
    done("decode m.arrow -o out.arrow")

    decoded = files.read(Path("out.arrow"))
    assert decoded.schema.types == [lists.type]
    assert decoded["c"].to_pylist() == lists.to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_strings_of_labels_come_back(kind, done):
    table = pa.table({"c": pa.array(["a|b", "b", None], kind)})
    files.write(table, Path("in.arrow"))

    done("encode in.arrow --sep c=| --handle-missing indicator -o m.arrow")
    done("decode m.arrow -o out.arrow")

    assert files.read(Path("out.arrow")).equals(table)


DURATIONS = pa.array([90, None, 30], pa.duration("s"))
ZONED = pa.array([0, None, 86_400], pa.timestamp("s", "Europe/Paris"))


@pytest.mark.parametrize("values", [DURATIONS, ZONED])
def test_parquet_gets_no_dictionary_that_pyarrow_reads_as_another_type(values, done):
    """The labels of --layout dictionary are plain, and so is a column from an Arrow file."""
    files.write(pa.table({"c": values}), Path("in.parquet"))
    done("encode in.parquet -c c --layout dictionary -o labels.parquet")
    assert files.read(Path("labels.parquet"))["c"].to_pylist() == values.to_pylist()

    files.write(pa.table({"c": values.dictionary_encode()}), Path("in.arrow"))
    done("encode in.arrow -c c -o middle.arrow")
    done("decode middle.arrow -o out.parquet")
    assert files.read(Path("out.parquet"))["c"].to_pylist() == values.to_pylist()
    done("decode middle.arrow -o out.arrow")
    assert files.read(Path("out.arrow")).schema == files.read(Path("in.arrow")).schema
