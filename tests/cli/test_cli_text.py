"""CSV: no digit, row or character of a column that is kept is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import command_files as files
from support.command_files import Exit, csv, pa, parquet

pytestmark = pytest.mark.usefixtures("t_csv")

KEPT = "007,+3,1e5,1.10,9007199254740993,12345678901234567890, 5,-0,2024-01-01,TRUE,NA,0x1F,1_0"
NAMES = ",".join(f"k{i}" for i in range(KEPT.count(",") + 1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Numbers, dates, Booleans and nulls; nothing is quoted that need not be.
        ("kept,x\n1.50,S\n,L\n", "kept,x_L,x_S\n1.50,0,1\n,1,0\n"),
        (f"{NAMES},x\n{KEPT},S\n", f"{NAMES},x_S\n{KEPT},1\n"),
        # Only a value that needs quotation marks gets them.
        ('a,x,"b,c"\n007,S,"x,y"\n1e3,L,NA\n" q ",S,"say ""hi"""\n',
         'a,x_L,x_S,"b,c"\n007,0,1,"x,y"\n1e3,1,0,NA\n q ,0,1,"say ""hi"""\n'),
        # Quoted and unquoted empty fields stay apart.
        ('a,x\n"",S\n,L\n', 'a,x_L,x_S\n"",0,1\n,1,0\n'),
        # Columns of one name that are not encoded.
        ("n,n,x\n1,2,S\n", "n,n.1,x_S\n1,2,1\n"),
        # Bytes in any encoding.
        ("name,x\nJos\xe9,S\n,L\n", "name,x_L,x_S\nJos\xe9,0,1\n,1,0\n"),
    ],
)  # fmt: skip
def test_kept_text_does_not_change(before, after, done):
    """CSV values that are not encoded keep every character, and a feature is written as 0 or 1."""
    Path("i.csv").write_bytes(before.encode("latin-1"))
    done("encode i.csv -c x -o o.csv")
    assert Path("o.csv").read_bytes() == after.encode("latin-1")


@pytest.mark.parametrize("target", ["o.parquet", "o.arrow"])
def test_codes_of_digits_are_texts(target, done):
    """CSV to other formats: codes are texts, numbers are numbers."""
    Path("k.csv").write_text(
        "zip,phone,huge,long,time,price,signed,n,spaced,size\n"
        "01234,+4930123,12345678901234567890,9007199254740993,1700000000000000001,1.10,+3,-5, 6,S\n"
        "99999,+4930124,1,1,1,0.5,-2,0,NA,L\n"
    )
    done(f"encode k.csv -c size -o {target}")
    table = files.read(Path(target))
    assert table.drop(["size_S", "size_L"]).to_pydict() == {
        "zip": ["01234", "99999"], "phone": ["+4930123", "+4930124"],
        "huge": ["12345678901234567890", "1"], "long": [9007199254740993, 1],
        "time": [1700000000000000001, 1], "price": [1.1, 0.5], "signed": [3.0, -2.0],
        "n": [-5, 0], "spaced": [6, None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "late"),
    [("1499", "0123"), ("1499", "x"), ("15.5", "-07.5"), ("15.5", "12345678901234567890123"),
     ("15.5", "+43123456789")],
)  # fmt: skip
def test_digits_that_would_be_lost_are_an_error(first, late, refused, done):
    """Digits that would be lost are an error, which names the option that keeps them."""
    rows = f"{first},S\n" * 800_000  # more than is parsed at once
    Path("k.csv").write_text(f"zip,size\n{rows}{late},L\n")
    refused("encode k.csv -c size -o o.parquet", Exit.CORRUPT, late, "--text-column 'zip'")

    done("encode k.csv -c size --text-column zip -o o.parquet")
    assert parquet.read_table("o.parquet")["zip"].to_pylist()[-2:] == [first, late]
    done("encode k.csv -c size -o o.csv")


def test_numbers_of_text_files_are_as_pyarrow_reads_them(done):
    """Numbers of CSV files are read as pyarrow reads them, and `--null` makes one missing."""
    cells = ["15.5", "-0.5", "0.25", "", "1e3", " 7", "NA", "nan", "-0", "0", "+1.5", "inf", "1E-3"]
    Path("f.csv").write_text("c,v\n" + "".join(f"x,{cell}\n" for cell in cells))
    done("encode f.csv -c c -o f.parquet")
    expected = csv.read_csv("f.csv")["v"]
    assert parquet.read_table("f.parquet")["v"].combine_chunks().equals(expected.combine_chunks())
    Path("m.csv").write_text("c,v\nx,-9\nx,5\n")
    done("encode m.csv -c c --null -9 -o m.parquet")
    assert parquet.read_table("m.parquet")["v"].to_pylist() == [None, 5]


def test_an_encoder_reads_codes_as_it_knows_them(done):
    """A later file whose codes all look like integers is read as the encoder knows them."""
    Path("train.csv").write_text("zip\n01234\n99999\n")
    Path("test.csv").write_text("zip\n99999\n99999\n")
    done("encode train.csv --save-encoder e.json -o o.csv")
    done("encode test.csv --encoder e.json -o p.csv")
    assert Path("p.csv").read_text() == "zip_01234,zip_99999\n0,1\n0,1\n"


def test_a_decimal_comma_is_read_and_kept(done):
    """Numbers are numbers, encoded or kept; from CSV to CSV what is kept keeps its letters."""
    Path("d.csv").write_text("size;price\n1,5;2,25\n10;3\n1,5;1\n")
    options = "-c size --delimiter ; --decimal ,"

    done(f"encode d.csv {options} -o d.parquet")
    table = parquet.read_table("d.parquet").to_pydict()
    assert table == {"size_1.5": [True, False, True], "size_10.0": [False, True, False],
                     "price": [2.25, 3.0, 1.0]}  # fmt: skip
    done(f"encode d.csv {options} -o e.csv")
    assert Path("e.csv").read_text() == "size_1.5;size_10.0;price\n1;0;2,25\n0;1;3\n1;0;1\n"


def test_null_rows_of_one_column_stay_rows(done):
    """Nothing at all on a line would be no row."""
    table = pa.table({"c": ["x", None, "y"]})
    parquet.write_table(table, "s.parquet")
    done("encode s.parquet -c c -o e.parquet")
    done("decode e.parquet -o d.csv")
    assert Path("d.csv").read_text() == '"c"\n"x"\n""\n"y"\n'
    done("encode d.csv -c c -o again.parquet")
    assert parquet.read_table("again.parquet").equals(parquet.read_table("e.parquet"))


@pytest.mark.parametrize("letter", [";", "\t", "|"])
def test_another_delimiter_is_noticed(letter, refused, call):
    """The first line tells; the same delimiter stands in the output."""
    Path("s.csv").write_text("a;b;c\n1,5;x;\n2;y;7\n".replace(";", letter))
    typed = r"\t" if letter == "\t" else letter
    for command in ("encode s.csv -o o.csv", "inspect s.csv"):
        refused(command, Exit.CORRUPT, f"--delimiter '{typed}'", "--delimiter ','")

    assert call("encode", "s.csv", "--delimiter", typed, "-c", "b", "-o", "o.csv").code == 0
    expected = "a;b_x;b_y;c\n1,5;1;0;\n2;0;1;7\n".replace(";", letter)
    assert Path("o.csv").read_text() == expected


def test_quoted_names_and_options_tell_no_delimiter(call, done):
    """Quoted names may hold anything, and a delimiter that is named is obeyed."""
    Path("quoted.csv").write_text('"a;b;c",d\n1,x\n')
    done("encode quoted.csv -o o.csv")
    Path("one.csv").write_text("a;b\nx\n")
    assert call("encode", "one.csv", "--delimiter", ",", "-o", "p.csv").code == 0
    assert Path("p.csv").read_text().splitlines()[0].strip('"') == "a;b_x"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_other_encodings_are_read_with_an_option(encoding, done, refused):
    """They have an option, and the error names it; what is written is UTF-8."""
    Path("l.csv").write_bytes("größe,n\nü,1\n".encode(encoding))
    if encoding != "utf-8-sig":
        refused("inspect l.csv", Exit.CORRUPT, "--encoding")
    done(f"encode l.csv --encoding {encoding} -o o.csv")
    assert Path("o.csv").read_text("utf-8") == "größe_ü,n\n1,1\n"


def test_views_are_text(done):
    """Views of texts and bytes, which pyarrow does not write as CSV, are written like others."""
    columns = [pa.array(["x", 'y,"'], pa.string_view()), pa.array([b"b", None], pa.binary_view())]
    files.write(pa.table([*columns, ["S", "L"]], ["text", "bytes", "size"]), Path("in.arrow"))
    done("encode in.arrow -c size -o o.csv")
    lines = ['"text","bytes","size_L","size_S"', '"x","b",0,1', '"y,""",,1,0']
    assert Path("o.csv").read_text().splitlines() == lines


def test_csv_without_rows_is_encoded_and_decoded(done):
    """It is encoded with an encoder of another file, and decoded again."""
    Path("e.csv").write_text("a,b\n")
    done("encode t.csv --save-encoder e.json -o o.csv")
    done("encode e.csv --encoder e.json -o m.csv")
    done("decode m.csv --encoder e.json -o d.csv")
    assert [Path(name).read_text() for name in ("m.csv", "d.csv")] == ["a,b_x,b_y\n", "a,b\n"]
