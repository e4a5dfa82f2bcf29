"""Folders of files: divided by rows, by keys in their names, and in object stores."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast.cli import folder_keys, main
from support import command_files as files
from support.command_files import Exit, pa, parquet
from support.strategies import examples

dataset = pytest.importorskip("pyarrow.dataset")

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
SCHEMA = pa.schema([("text", pa.string()), ("number", pa.int64())])


def paths_below(folder):
    """Return the files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*.*"))


# --- a number of rows in each file


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv.gz"])
@pytest.mark.parametrize(
    ("n_rows", "rows"), [(0, 7), (20, 1), (300, 299), (300, 300), (700, 300), (700, 70)]
)
def test_the_parts_are_the_whole(suffix, n_rows, rows, done, here):
    """Together they are what one file would be; all but the last have this number of rows."""
    files.write(files.make(n_rows), Path(f"in.{suffix}"))
    line = f"encode in.{suffix} -c carrier,dest" + " --text" * (suffix == "csv.gz")
    done(f"{line} -o all.{suffix}")
    done(f"{line} --rows-per-file {rows} -o parts")

    whole, ends = files.read(Path(f"all.{suffix}")), [*range(rows, n_rows, rows), n_rows]
    assert paths_below("parts") == [f"part-{i:06}.{suffix}" for i in range(len(ends))]
    for name, start, end in zip(paths_below("parts"), [0, *ends], ends, strict=False):
        part = files.read(Path("parts", name))
        assert part.cast(whole.schema).equals(whole.slice(start, end - start))
    assert files.leftovers(here) == []


def test_a_folder_becomes_parts_and_comes_back(done):
    """Rows of several input files share an output file, and the folder can be read again."""
    table = files.make(900)
    os.mkdir("in")
    for i, size in enumerate([300, 0, 600]):
        files.write(table.slice(300 * (i == 2), size), Path("in", f"{i}.parquet"))
    options = "--row-group-size 150 --compression zstd --rows-per-file 400"
    done(f"encode in -c carrier,dest {options} -o out")
    done("decode out -o again.parquet")

    metadata = [parquet.read_metadata(Path("out", name)) for name in paths_below("out")]
    sizes = [[one.row_group(i).num_rows for i in range(one.num_row_groups)] for one in metadata]
    assert sizes == [[150, 150, 100], [150, 150, 100], [100]]
    assert {one.row_group(0).column(0).compression for one in metadata} == {"ZSTD"}
    assert files.read(Path("again.parquet")).select(table.column_names).equals(table)


# --- a folder for each value


@examples(0.15)
# Windows drops a dot or a space at the end of a folder's name.
@example(keys=[("a.", 1), ("a ", 2), (".", 3), ("a. b", None)], file_rows=None)
@given(
    keys=st.lists(st.tuples(st.none() | TEXTS, st.none() | st.integers(-9, 9)), max_size=12),
    file_rows=st.none() | st.integers(1, 4),
)
def test_partitions_are_what_pyarrow_reads(tmp_path_factory, keys, file_rows):
    """Partitions of any values lose no row, and both pyarrow and the command read them back."""
    folder = tmp_path_factory.mktemp("partitions")
    text = pa.array([key for key, _ in keys], pa.string())
    number = pa.array([key for _, key in keys], pa.int64())
    size = pa.array([f"s{i % 3}" for i in range(len(text))])
    table = pa.table({"id": range(len(text)), "text": text, "size": size, "number": number})
    source, out, again = (str(folder / name) for name in ("in.parquet", "out/", "again.parquet"))
    parquet.write_table(table, source)
    rows = [] if file_rows is None else ["--rows-per-file", str(file_rows)]
    by = "--partition-by", "text", "--partition-by", "number"
    assert main(["encode", source, "-c", "size", *by, *rows, "-o", f"{out}/"]) == 0
    paths = [path for path in (folder / "out").rglob("*") if path.is_file()]
    if not len(table):
        assert paths == []
        return
    assert not any(name.endswith((".", " ")) for path in paths for name in path.parts)
    hive = dataset.partitioning(SCHEMA, flavor="hive")
    found = dataset.dataset(folder / "out", partitioning=hive).to_table().sort_by("id")
    assert found["number"].equals(table["number"])
    # An empty text stays one here; pyarrow reads a null.
    assert [t or None for t in found["text"].to_pylist()] == [t or None for t in text.to_pylist()]
    sizes = [parquet.read_metadata(path).num_rows for path in paths]
    assert file_rows is None or max(sizes) <= file_rows
    assert main(["decode", out, "-o", again]) == 0
    decoded = parquet.read_table(again).sort_by("id").select(table.column_names)
    texts = [None if key is None else str(key) for key in decoded["text"].to_pylist()]
    assert texts == text.to_pylist()  # integers if all of them look like integers
    kept = table.drop_columns("text")
    assert decoded.drop_columns("text").cast(kept.schema).equals(kept)


def test_a_dictionary_of_views_names_folders(done):
    views = pa.array(["x", "y"], pa.string_view())
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), views)
    files.write(pa.table({"k": keys, "c": ["a", "b", "a"]}), Path("in.arrow"))
    done("encode in.arrow -c c --partition-by k -o out")
    found = {str(Path(path).parent) for path in paths_below("out")}
    assert found == {"k=x", "k=y", f"k={folder_keys.MISSING}"}


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv", "tsv.gz"])
def test_a_partitioned_folder_stays_one(suffix, table, done):
    """Its keys are columns that can be encoded, and are not written into files below them."""
    for year in (2013, 2014):
        for gate in ("A 1", None):
            path = Path(
                "in", f"year={year}", folder_keys.folder_name("gate", gate), f"part.{suffix}"
            )
            path.parent.mkdir(parents=True)
            files.write(table.select(["id", "dest"]), path)
    done("encode in -o same")
    assert paths_below("same") == paths_below("in")
    names = files.read(Path("same", paths_below("same")[0])).column_names
    assert names[0] == "id"
    assert all("year" not in name and "gate" not in name for name in names)

    done(f"encode in -c gate,year -o one.{suffix}")
    found = files.read(Path(f"one.{suffix}"))
    assert found.column_names == ["id", "dest", "year_2013", "year_2014", "gate_A 1"]
    assert sum(map(int, found["year_2013"].to_pylist())) == 2 * len(table)
    assert sum(map(int, found["gate_A 1"].to_pylist())) == 2 * len(table)


def test_there_may_be_more_partitions_than_open_files(done):
    """Files are closed for others, and partitions get more files; no row is lost."""
    n_rows, n_keys = 3000, 80
    long = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int8()), ["x" * (1 << 18)])
    keys = [row % n_keys for row in range(n_rows)]
    table = pa.table({"id": range(n_rows), "key": keys, "long": long, "size": ["S"] * n_rows})
    files.write(table, Path("in.arrow"))
    done("encode in.arrow -c size --partition-by key -o out/")

    assert len(os.listdir("out")) == n_keys < len(paths_below("out"))
    for key in range(0, n_keys, 33):
        parts = [files.read(path) for path in sorted(Path("out", f"key={key}").iterdir())]
        assert pa.concat_tables(parts)["id"].to_pylist() == list(range(key, n_rows, n_keys))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_keys_of_folders_are_integers_or_texts(suffix, done):
    """Digits in the name of a folder are integers by default, or texts; npz files lack them."""
    os.makedirs("h/year=2013")
    files.write(pa.table({"c": ["a", "b"]}), Path(f"h/year=2013/f.{suffix}"))
    done("encode h -c c,year -o n.parquet --save-encoder n.json")
    done("encode h -c c,year -o t.parquet --save-encoder t.json --text-column year")
    assert parquet.read_schema("t.parquet").names == parquet.read_schema("n.parquet").names
    assert ['"2013"' in Path(name).read_text() for name in ("n.json", "t.json")] == [False, True]
    done("encode h -c c -o out/ --output-format npz")
    assert paths_below("out") == ["year=2013/f.npz"]


def test_columns_that_are_kept_may_share_a_name(call, done):
    """Columns that are not encoded may have one name, also below folders of keys."""
    os.makedirs("in/year=2013")
    columns = [pa.array([1]), pa.array(["p"]), pa.array(["S"])]
    files.write(pa.Table.from_arrays(columns, ["n", "n", "size"]), Path("in/year=2013/a.parquet"))
    done("encode in -c size -o out")
    found = parquet.ParquetFile("out/year=2013/a.parquet").read()
    assert found.column_names == ["n", "n", "size_S"]
    assert [column.to_pylist() for column in found.columns[:2]] == [[1], ["p"]]
    assert call("inspect in").out.count(b"\nn ") == 2


# --- names of files and folders


def test_names_with_dots_stay_different(t_csv, done, refused):
    """Only the end of the name, which is the format, is replaced; two equal names are an error."""
    os.mkdir("in")
    for name in ("a.1.csv", "a.2.csv"):
        Path("in", name).write_bytes(t_csv.read_bytes())
    Path("in/b.csv.gz").write_bytes(gzip.compress(t_csv.read_bytes()))
    done("encode in -c b -o out/ --output-format parquet")
    assert paths_below("out") == ["a.1.parquet", "a.2.parquet", "b.parquet"]
    Path("in/b.csv").write_bytes(t_csv.read_bytes())
    refused("encode in -o same/ --output-format csv", Exit.OUTPUT, "both become b.csv")


def test_a_folder_of_a_thousand_files_becomes_one(done):
    """They become one file, in the order of their names; more than may be open at once."""
    os.mkdir("in")
    content = files.write(pa.table({"size": ["S", "L"]}), Path("one.arrow")).read_bytes()
    for i in range(1000):
        Path("in", f"{i:04}.arrow").write_bytes(content)
    done("encode in -o out.arrow")
    assert files.read(Path("out.arrow"))["size_S"].to_pylist() == [True, False] * 1000


# --- stores


@pytest.fixture
def store():
    """Return an empty store in memory."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.rm("/", recursive=True) if system.find("/") else None
    yield system
    system.rm("/", recursive=True) if system.find("/") else None


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows.zst", "csv", "csv.gz", "npz"])
def test_a_file_in_a_store_is_read_and_written(suffix, table, done, call, store):
    """It is read and written like a local one, and so is the encoder."""
    source = "in.parquet" if suffix == "npz" else f"in.{suffix}"
    store.put_file(str(files.write(table, Path(source))), f"/bucket/{source}")
    done(f"encode {source} -c carrier,dest -o here.{suffix}")
    there, saved = f"memory://bucket/there.{suffix}", "--save-encoder memory://bucket/e.json"
    done(f"encode memory://bucket/{source} -c carrier,dest {saved} -o {there}")
    assert store.cat(f"/bucket/there.{suffix}") == Path(f"here.{suffix}").read_bytes()
    assert call(f"inspect memory://bucket/{source} -c dest").code == 0
    if suffix != "npz":
        done(f"decode {there} --encoder memory://bucket/e.json -o again.parquet")
        assert files.read(Path("again.parquet"))["dest"].equals(table["dest"])


def test_a_folder_in_a_store_is_read_and_replaced(table, done, refused, store):
    """A folder of keys becomes one, whole; --overwrite removes all files of the old one."""
    for year in (2013, 2014):
        path = files.write(table.select(["id", "dest"]), Path(f"{year}.parquet"))
        store.put_file(str(path), f"/in/year={year}/part.parquet")
    done("encode memory://in -o memory://out/")
    assert [*store.find("/out")] == ["/out/year=2013/part.parquet", "/out/year=2014/part.parquet"]
    line = "encode memory://in --partition-by year --rows-per-file 600 -c dest -o memory://out"
    refused(line, Exit.OUTPUT, "already exists")
    done(f"{line} --overwrite")
    names = [f"/out/year={y}/part-00000{i}.parquet" for y in (2013, 2014) for i in (0, 1)]
    assert [*store.find("/out")] == names
    refused("encode memory://in -o memory://in/x.parquet", Exit.OUTPUT, "within the input")
    done("encode memory://out -c year -o x.csv")
    assert len(files.read(Path("x.csv"))) == 2000


@pytest.mark.parametrize("nth", [0, 1, 3])
@pytest.mark.usefixtures("small")
def test_an_upload_that_fails_leaves_no_files(nth, refused, store, monkeypatch):
    """The files of the folder that were uploaded before are removed."""
    put, n_put = type(store).put_file, 0

    def failing(*arguments, **options):
        nonlocal n_put
        n_put += 1
        if n_put > nth:
            raise OSError(5, os.strerror(5))
        return put(*arguments, **options)

    monkeypatch.setattr(type(store), "put_file", failing)
    line = "encode in.parquet -c dest --rows-per-file 250 -o memory://out/"
    refused(line, Exit.OUTPUT, os.strerror(5))
    assert n_put == nth + 1
    assert [*store.find("/out")] == []


def test_each_address_is_parsed_once(small, done, store, monkeypatch):
    """The first stop makes a `Place` of an address, and hands it to all others."""
    store.put_file(str(small), "/in.parquet")
    done("encode memory://in.parquet -c carrier -o memory://a.npz --save-encoder memory://e.json")
    core = pytest.importorskip("fsspec.core")
    parsed, parse = Counter(), core.url_to_fs

    def counting(address, **options):
        parsed[address] += 1
        return parse(address, **options)

    monkeypatch.setattr(core, "url_to_fs", counting)

    line = "encode memory://in.parquet --encoder memory://e.json --overwrite"
    for output in ("memory://a.npz", "memory://b.csv", "memory://c/"):
        parsed.clear()
        done(f"{line} -o {output}")
        assert parsed == {"memory://in.parquet": 1, "memory://e.json": 1, output: 1}


def test_the_local_disk_has_an_address(small, done, refused, store):
    """``file://`` is the local disk, with its guarantees."""
    source, out = small.as_uri(), (small.parent / "out.parquet").as_uri()
    done(f"encode {source} -o {out}")
    refused(f"encode {source} -o {out}", Exit.OUTPUT, "already exists")
    refused(f"encode {source} -o {source} --overwrite", Exit.OUTPUT, "is the input")
    assert sorted(os.listdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("memory://nothing.parquet -o x.parquet", Exit.INPUT, "No such file"),
        ("nosuch://bucket/x.parquet -o x.parquet", Exit.FAILED, "fsspec"),
        ("in.parquet -o nosuch://bucket/x.parquet", Exit.FAILED, "fsspec"),
        ("memory://in.parquet -o memory://in.parquet", Exit.OUTPUT, "input"),
    ],
)
def test_a_mistake_in_an_address_is_one_line(line, code, says, small, refused, store):
    """They are one line with its code, and nothing is written."""
    store.put_file(str(small), "/in.parquet")
    refused(f"encode {line} --overwrite", code, says)
    assert store.cat("/in.parquet") == small.read_bytes()
    assert [*store.find("/")] == ["/in.parquet"]
