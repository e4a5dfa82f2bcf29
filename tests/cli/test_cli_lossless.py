"""Nothing is lost on the way: kept values, rows, columns of one name, keys of folders."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit
Encoder = pytest.importorskip("onehot_fast").Encoder

pytestmark = pytest.mark.usefixtures("here")

KEPT = "007,+3,1e5,1.10,9007199254740993,12345678901234567890, 5,-0,2024-01-01,TRUE,NA,0x1F,1_0"


def test_kept_values_keep_every_letter(done: Any) -> None:
    """CSV to CSV: whatever looks like a number, a date, a Boolean or nothing."""
    names = ",".join(f"k{i}" for i in range(KEPT.count(",") + 1))
    Path("k.csv").write_text(f"{names},size\n{KEPT},S\n")
    done("encode k.csv -c size -o o.csv")
    assert Path("o.csv").read_text() == f"{names},size_S\n{KEPT},1\n"


@pytest.mark.parametrize("target", ["o.parquet", "o.arrow"])
def test_digits_that_are_no_number(target: str, files: Any, done: Any) -> None:
    """CSV to other formats: codes are texts, numbers are numbers."""
    Path("k.csv").write_text(
        "zip,phone,huge,long,time,price,signed,n,spaced,size\n"
        "01234,+4930123,12345678901234567890,9007199254740993,1700000000000000001,1.10,+3,-5, 6,S\n"
        "99999,+4930124,1,1,1,0.5,-2,0,NA,L\n"
    )
    done(f"encode k.csv -c size -o {target}")
    table = files.read(Path(target))
    assert table.drop(["size_S", "size_L"]).to_pydict() == {
        "zip": ["01234", "99999"],
        "phone": ["+4930123", "+4930124"],
        "huge": ["12345678901234567890", "1"],
        "long": [9007199254740993, 1],
        "time": [1700000000000000001, 1],
        "price": [1.1, 0.5],
        "signed": [3.0, -2.0],
        "n": [-5, 0],
        "spaced": [6, None],
    }


@pytest.mark.parametrize(("late", "says"), [("0123", "'0123'"), ("x", "'x'")])
def test_digits_that_are_no_number_further_down(
    late: str, says: str, refused: Any, done: Any
) -> None:
    """What the first rows do not show is an error, with the option that reads it."""
    rows = "1499,S\n" * 700_000  # more than is parsed at once
    Path("k.csv").write_text(f"zip,size\n{rows}{late},L\n")
    refused("encode k.csv -c size -o o.parquet", Exit.CORRUPT, says, "--text-column 'zip'")

    done("encode k.csv -c size --text-column zip -o o.parquet")
    assert parquet.read_table("o.parquet")["zip"].to_pylist()[-2:] == ["1499", late]
    done("encode k.csv -c size -o o.csv")


@pytest.mark.parametrize("late", ["007", "-07.5", "12345678901234567890123", "+43123456789"])
def test_digits_that_are_no_number_far_down(late: str, call: Any) -> None:
    """Types are those of the first rows: what would lose digits as such a number is refused."""
    n_rows = 800_000  # more than is parsed at once
    Path("f.csv").write_text("c,v\n" + "x,15.5\n" * n_rows + f"y,{late}\n")
    ended = call("encode", "f.csv", "-c", "c", "-o", "f.parquet")
    assert ended.code == Exit.CORRUPT
    assert late in ended.error
    assert "--text-column 'v'" in ended.error
    assert not Path("f.parquet").exists()


def test_numbers_of_text_files_are_as_pyarrow_reads_them(done: Any) -> None:
    """With signs, exponents, spaces, and what stands for no number."""
    cells = ["15.5", "-0.5", "0.25", "", "1e3", " 7", "NA", "nan", "-0", "0", "+1.5", "inf", "1E-3"]
    Path("f.csv").write_text("c,v\n" + "".join(f"x,{cell}\n" for cell in cells))
    done("encode f.csv -c c -o f.parquet")
    expected = pa.csv.read_csv("f.csv")["v"]
    assert parquet.read_table("f.parquet")["v"].combine_chunks().equals(expected.combine_chunks())


def test_codes_of_an_encoder(done: Any, refused: Any) -> None:
    """A later file whose codes all look like integers is read as the encoder knows them."""
    Path("train.csv").write_text("zip\n01234\n99999\n")
    Path("test.csv").write_text("zip\n99999\n99999\n")
    done("encode train.csv --save-encoder e.json -o o.csv")
    done("encode test.csv --encoder e.json -o p.csv")
    assert Path("p.csv").read_text() == "zip_01234,zip_99999\n0,1\n0,1\n"
    refused("encode t.csv --encoder e.json -o q.csv", Exit.SCHEMA, "no column 'zip'")
    refused("encode t.csv --text-column zip -o q.csv", Exit.COLUMN, "no column 'zip'")


def test_a_decimal_comma(done: Any) -> None:
    """Numbers are numbers, encoded or kept; from CSV to CSV what is kept keeps its letters."""
    Path("d.csv").write_text("size;price\n1,5;2,25\n10;3\n1,5;1\n")
    options = "-c size --delimiter ; --decimal ,"

    done(f"encode d.csv {options} -o d.parquet")
    table = parquet.read_table("d.parquet").to_pydict()
    assert table == {"size_1.5": [True, False, True], "size_10.0": [False, True, False],
                     "price": [2.25, 3.0, 1.0]}  # fmt: skip
    done(f"encode d.csv {options} -o e.csv")
    assert Path("e.csv").read_text() == "size_1.5;size_10.0;price\n1;0;2,25\n0;1;3\n1;0;1\n"


def test_names_with_dots_stay_different(done: Any) -> None:
    """Only the end that says the format is another one."""
    for name in ("a.1.csv", "a.2.csv", "b.csv.gz"):
        text = Path("t.csv").read_bytes()
        Path("in").mkdir(exist_ok=True)
        Path("in", name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    done("encode in -c b -o out/ --output-format parquet")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "a.1.parquet", "a.2.parquet", "b.parquet",
    ]  # fmt: skip


def test_null_rows_of_one_column_stay_rows(done: Any) -> None:
    """Nothing at all on a line would be no row."""
    table = pa.table({"c": ["x", None, "y"]})
    parquet.write_table(table, "s.parquet")
    done("encode s.parquet -c c -o e.parquet")
    done("decode e.parquet -o d.csv")
    assert Path("d.csv").read_text() == '"c"\n"x"\n""\n"y"\n'
    done("encode d.csv -c c -o again.parquet")
    assert parquet.read_table("again.parquet").equals(parquet.read_table("e.parquet"))


def test_columns_of_one_name_that_stay(done: Any, call: Any) -> None:
    """They are nobody's business: only columns that are encoded have to be told apart."""
    columns = [pa.array(["a", "b"]), pa.array([1, 2]), pa.array(["p", "q"])]
    parquet.write_table(pa.Table.from_arrays(columns, names=["c", "n", "n"]), "dup.parquet")
    done("encode dup.parquet -c c -o o.parquet")
    after = parquet.ParquetFile("o.parquet").read()
    assert after.column_names == ["c_a", "c_b", "n", "n"]
    assert [column.to_pylist() for column in after.columns[2:]] == [[1, 2], ["p", "q"]]
    assert call("inspect", "dup.parquet").out.count(b"\nn ") == 2


def test_keys_of_folders_are_no_columns_of_a_matrix(done: Any) -> None:
    """Which has the features alone."""
    Path("h/year=2013").mkdir(parents=True)
    parquet.write_table(pa.table({"c": ["a", "b"]}), "h/year=2013/f.parquet")
    done("encode h -c c -o out/ --output-format npz")
    assert [str(path) for path in Path("out").rglob("*.npz")] == ["out/year=2013/f.npz"]


@pytest.mark.parametrize("name", ["f.parquet", "f.csv"])
def test_keys_of_folders_as_texts(name: str, done: Any) -> None:
    """Digits in the name of a folder are an integer, or what one says they are."""
    Path("h/year=2013").mkdir(parents=True)
    if name == "f.csv":
        Path("h/year=2013", name).write_text("c\na\nb\n")
    else:
        parquet.write_table(pa.table({"c": ["a", "b"]}), f"h/year=2013/{name}")
    done("encode h -c c -c year -o n.parquet")
    done("encode h -c c -c year -o t.parquet --text-column year --save-encoder e.json")
    assert (
        parquet.read_table("t.parquet").column_names == parquet.read_table("n.parquet").column_names
    )
    categories = Encoder.load("e.json").categories
    assert categories["year"].tolist() == ["2013"]


def test_rows_without_columns_are_no_text(refused: Any) -> None:
    """A file without a column has no lines to count."""
    Path("n.csv").write_text("c,d\n,\n,\n")
    refused("encode n.csv -c c -c d -o o.csv", Exit.OUTPUT, "no column is left")


def test_columns_that_readers_pass_over(refused: Any) -> None:
    """A folder whose name begins with an underscore is hidden."""
    Path("u.csv").write_text("c,_k\na,1\n")
    refused("encode u.csv -c c --partition-by _k -o p/", Exit.USAGE, "_k", "rename it")
