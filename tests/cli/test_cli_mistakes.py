"""Mistakes that people make: nothing is destroyed, and one line says what to type instead."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
parquet = pytest.importorskip("pyarrow.parquet")
Exit = pytest.importorskip("onehot_fast.cli.errors").Exit

pytestmark = pytest.mark.usefixtures("here")


# --- what is there already


@pytest.mark.parametrize("name", ["t.csv", "hard.csv", "soft.csv", "../{}/t.csv", "folder/"])
@pytest.mark.parametrize("option", ["", "--overwrite"])
def test_the_input_is_no_output(name: str, option: str, here: Path, refused: Any) -> None:
    """By whatever name: another spelling, a link, or the folder that it is in."""
    os.link("t.csv", "hard.csv")
    os.symlink("t.csv", "soft.csv")
    os.mkdir("folder")
    os.link("t.csv", "folder/t.csv")

    refused(f"encode t.csv {option} -o {name.format(here.name)}", Exit.OUTPUT, "is the input")


def test_standard_input_and_output_are_files_too(
    here: Path, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``< t.csv`` and ``>> t.csv`` name files."""
    with open("t.csv") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        refused("encode - --overwrite -o t.csv", Exit.OUTPUT, "is the input")
    with open("t.csv", "a") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", file)
        refused("encode t.csv -o -", Exit.OUTPUT, "standard output is the input")


def test_the_encoder_is_no_output_either(refused: Any, done: Any) -> None:
    """What is read stays, and two outputs are not one."""
    done("encode t.csv --save-encoder e.csv -o o.csv")
    refused("encode t.csv --encoder e.csv --overwrite -o e.csv", Exit.OUTPUT, "is the input")
    refused("encode t.csv --save-encoder e.csv -o p.csv", Exit.OUTPUT, "--overwrite")
    refused("encode t.csv --encoder o.csv -o p.csv", Exit.SCHEMA, "is not an encoder written")
    refused("encode t.csv --save-encoder ./p.csv -o p.csv", Exit.USAGE, "is the output")


def test_an_output_that_is_there(refused: Any, done: Any) -> None:
    """Files and folders follow one rule."""
    os.mkdir("in")
    os.link("t.csv", "in/1.csv")
    for output in ("o.csv", "folder"):
        done(f"encode in -o {output}")
        refused(f"encode in -o {output}", Exit.OUTPUT, "already exists", "--overwrite")
        assert done(f"encode in --overwrite -o {output}") == ""


def test_a_folder_is_replaced_as_a_whole(refused: Any, done: Any) -> None:
    """What was in it is gone, unless something was that is no data; then all stays."""
    os.makedirs("in")
    Path("in/2.csv").write_text(Path("t.csv").read_text())
    os.makedirs("folder/sub")
    Path("folder/1.csv").write_text("old")
    Path("folder/sub/3.parquet").write_text("old")
    done("encode in --overwrite -o folder")
    assert [str(path) for path in Path("folder").rglob("*")] == ["folder/2.csv"]

    Path("folder/notes.txt").write_text("kept")
    refused("encode in --overwrite -o folder", Exit.OUTPUT, "notes.txt")
    assert sorted(os.listdir()) == ["folder", "in", "t.csv"]


def test_an_old_folder_stays_where_the_new_one_cannot_come(
    refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the last step fails, the old folder is back under its name."""
    os.makedirs("in")
    Path("in/2.csv").write_text(Path("t.csv").read_text())
    os.makedirs("folder")
    Path("folder/1.csv").write_text("old")
    rename = os.rename

    def failing(source: Any, target: Any) -> None:
        if str(source).endswith("-part"):
            raise PermissionError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    refused("encode in --overwrite -o folder", Exit.OUTPUT, "Permission denied")
    assert sorted(os.listdir()) == ["folder", "in", "t.csv"]


def test_a_file_that_appears_meanwhile(
    refused: Any, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process writes while this one works is not replaced either."""
    fsync = os.fsync

    def appear(handle: int) -> None:
        Path("o.csv").write_text("of another")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", appear)
    assert call(*["encode", "t.csv", "-o", "o.csv"]).code == Exit.OUTPUT
    assert Path("o.csv").read_text() == "of another"


def test_a_file_into_a_folder(done: Any, refused: Any) -> None:
    """One file joins the others in a folder that is there, as with cp."""
    os.mkdir("folder")
    Path("folder/kept.txt").write_text("kept")
    done("encode t.csv -o folder")
    done("encode t.csv --output-format parquet -o folder/")
    assert sorted(os.listdir("folder")) == ["kept.txt", "t.csv", "t.parquet"]
    refused("encode t.csv -o folder", Exit.OUTPUT, "folder/t.csv", "--overwrite")


def test_a_folder_becomes_a_folder_without_a_slash(done: Any) -> None:
    """If the name says no format; files have that of the input."""
    os.mkdir("in")
    Path("in/1.csv").write_text(Path("t.csv").read_text())
    done("encode in -o out")
    done("encode in -o all.parquet")
    assert Path("out/1.csv").read_text() == "a,b_x,b_y\n1,1,0\n2,0,1\n"
    assert parquet.read_table("all.parquet").num_rows == 2


@pytest.mark.parametrize("name", ["in", "in/o.csv", "in/sub", "in/1.csv"])
def test_an_output_within_the_input(name: str, refused: Any) -> None:
    """The next run would read it as data."""
    os.mkdir("in")
    Path("in/1.csv").write_text(Path("t.csv").read_text())
    refused(f"encode in --overwrite -o {name}", Exit.OUTPUT, "is within the input")


# --- text


@pytest.mark.parametrize("letter", [";", "\t", "|"])
def test_another_delimiter_is_noticed(letter: str, refused: Any, call: Any) -> None:
    """The first line tells; the same delimiter stands in the output."""
    source = f"a{letter}b{letter}c\n1,5{letter}x{letter}\n2{letter}y{letter}7\n"
    Path("s.csv").write_text(source)
    typed = r"\t" if letter == "\t" else letter
    for command in ("encode s.csv -o o.csv", "inspect s.csv"):
        refused(command, Exit.CORRUPT, f"--delimiter '{typed}'", "--delimiter ','")

    assert call("encode", "s.csv", "--delimiter", typed, "-c", "b", "-o", "o.csv").code == 0
    assert Path("o.csv").read_text() == source.replace("b", f"b_x{letter}b_y", 1).replace(
        f"{letter}x", f"{letter}1{letter}0"
    ).replace(f"{letter}y", f"{letter}0{letter}1")


def test_what_only_looks_like_another_delimiter(call: Any, done: Any) -> None:
    """Quoted names may hold anything, and a delimiter that is named is obeyed."""
    Path("quoted.csv").write_text('"a;b;c",d\n1,x\n')
    done("encode quoted.csv -o o.csv")
    Path("one.csv").write_text("a;b\nx\n")
    assert call("encode", "one.csv", "--delimiter", ",", "-o", "p.csv").code == 0
    assert Path("p.csv").read_text().splitlines()[0].strip('"') == "a;b_x"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_other_encodings(encoding: str, done: Any, refused: Any) -> None:
    """They have an option, and the error names it; what is written is UTF-8."""
    Path("l.csv").write_bytes("größe,n\nü,1\n".encode(encoding))
    if encoding != "utf-8-sig":
        refused("inspect l.csv", Exit.CORRUPT, "--encoding")
    done(f"encode l.csv --encoding {encoding} -o o.csv")
    assert Path("o.csv").read_text("utf-8") == "größe_ü,n\n1,1\n"


# --- columns that nobody named


@pytest.fixture
def ids(here: Path) -> None:
    """Write a file with an identifier, a column of many values, and one of few."""
    rows = "".join(f"s{row},c{row % 300},{'pf'[row % 2]},{row}\n" for row in range(900))
    Path("ids.csv").write_text(f"session,city,plan,n\n{rows}")


@pytest.mark.usefixtures("ids")
def test_too_many_features_of_columns_that_nobody_named(refused: Any, done: Any) -> None:
    """They are refused before anything is written, the largest first, with both ways out."""
    says = "at most 1,000 features, got 1,202", "'session' 900, 'city' 300, 'plan' 2", "-c"
    refused("encode ids.csv -o o.parquet", Exit.COLUMN, *says)
    assert "'session' has 900 categories in 900 rows" in done(
        "encode ids.csv --max-features 1202 -o o.parquet"
    )
    refused("encode ids.csv --max-features 1201 -o p.parquet", Exit.COLUMN)
    named = "-c session -c city --max-features 0 -o named.parquet", "--layout dictionary -o d.arrow"
    assert [done(f"encode ids.csv {options}") for options in named] == ["", ""]
    assert done("encode ids.csv --max-categories 50 -o grouped.parquet") == ""


@pytest.mark.usefixtures("ids")
def test_columns_that_are_hardly_meant(done: Any, call: Any) -> None:
    """A column that is the bulk of the result is said, once, and not with -q."""
    options = "--text-column n --max-features 5000"
    said = done(f"encode ids.csv {options} --drop session=s0 -o o.parquet").splitlines()
    assert len(said) == 2
    assert all("an identifier? name the columns to encode with -c" in line for line in said)
    assert done(f"encode ids.csv {options} -q -o p.parquet") == ""
    assert call("inspect", "ids.csv").error.splitlines() == said[:1]
    assert call("inspect", "ids.csv", "-c", "session").error == ""
    lines = Path("ids.csv").read_text().splitlines()
    Path("cities.csv").write_text("\n".join(line.partition(",")[2] for line in lines))
    assert "'city' has 300 of 302 features" in done("encode cities.csv -o c.parquet")


def test_too_many_features_are_noticed_early(refused: Any) -> None:
    """Learning stops beyond the number that inspect counts, unless categories are grouped."""
    names = pa.array([f"s{row}" for row in range(400_000)])
    parquet.write_table(pa.table({"session": names, "n": range(len(names))}), "ids.parquet")
    Path("t.csv").unlink()
    text = "must have at most 1,000 features, got 131,072: 'session' 131,072; counted in the first"
    refused("encode ids.parquet -o o.parquet", Exit.COLUMN, text)
    grouped = "encode ids.parquet --max-features 3 --max-categories 4 -o o.parquet"
    refused(grouped, Exit.COLUMN, "must have at most 3 features, got 4: 'session' 4; ")


def test_warnings_are_notes(done: Any) -> None:
    """Unseen values are said in one line, however many batches have some, and not with -q."""
    done("encode t.csv -c b --handle-unknown warn --save-encoder e.json -o o.csv")
    Path("new.csv").write_text("a,b\n" + "1,w\n" * 2 + "1,z\n" * 300_000 + "1,v\n" * 3)
    said = "onehot-fast: new.csv: unknown values become rows of zeros, in 'b': "
    said += "'z' (300,000 rows), 'v' (3 rows), 'w' (2 rows)\n"
    assert done("encode new.csv --encoder e.json -o p.csv") == said
    assert done("encode new.csv --encoder e.json -q -o r.csv") == ""


# --- options


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ("--prefix nope=x", Exit.USAGE, "'nope' is not encoded; encoded are b"),
        ("--prefix bb=x", Exit.USAGE, "did you mean 'b'? (type a value with = as b=bb=x)"),
        ("--drop bb=x", Exit.USAGE, "did you mean 'b'?"),
        ("--drop x", Exit.USAGE, "--drop x: drop must be one of 'first'"),
        ("--drop x", Exit.USAGE, "type a category as COLUMN=CATEGORY"),
        ("--handle-missing propagate", Exit.VALUE, "pass --dtype float32"),
        ("--drop b=z", Exit.VALUE, "got 'z'"),
        ("--dtype floot", Exit.USAGE, "e.g. bool, uint8 or float32"),
        (
            "--min-frequency many",
            Exit.USAGE,
            "a number of rows, e.g. 10, or a share of them, e.g. 0.01",
        ),
        ("--max-categories 1.5", Exit.USAGE, "must be an integer"),
        ("--handle-unknown ignor", Exit.USAGE, "must be one of 'error', 'ignore'"),
        ("--encoding latin9x", Exit.USAGE, "e.g. utf-8, cp1252 or latin-1"),
        ("--encoding rot13", Exit.USAGE, "e.g. utf-8, cp1252 or latin-1"),
        ("--delimiter ;;", Exit.USAGE, r"type a tab as '\t'"),
        ("--prefx p", Exit.USAGE, "--prefx"),
        ("-c c", Exit.COLUMN, "no column 'c'; its columns are: a, b"),
        ("-c b,c", Exit.COLUMN, "no column 'c'"),
        ("--layout rows", Exit.USAGE, "see onehot-fast encode --help"),
    ],
)
def test_every_option(options: str, code: Exit, says: str, refused: Any) -> None:
    """An error says what came, what is accepted, and what was probably meant."""
    refused(f"encode t.csv {options} -o o.csv", code, says)


def test_values_with_an_equals_sign(done: Any) -> None:
    """They are typed with their column."""
    done("encode t.csv --prefix b=p=q --prefix-sep = -o o.csv")
    assert Path("o.csv").read_text().splitlines()[0] == "a,p=q=x,p=q=y"


def test_names_between_commas(done: Any) -> None:
    """``-c a,b`` are two columns, unless one has that name."""
    done("encode t.csv -c a,b -o o.csv")
    assert Path("o.csv").read_text().splitlines()[0] == "a_1,a_2,b_x,b_y"
    Path("u.csv").write_text('"a,b",a,b\nx,1,2\n')
    done("encode u.csv -c a,b -o p.csv")
    assert Path("p.csv").read_text().splitlines()[0] == '"a,b_x","a","b"'


def test_a_column_that_was_nearly_typed(refused: Any) -> None:
    """The name that was probably meant, and not all the others."""
    Path("c.csv").write_text("city,plan\nx,y\n")
    refused("encode c.csv -c citty -o o.csv", Exit.COLUMN, "'citty'; did you mean 'city'?\n")


def test_an_encoder_that_csv_cannot_hold(refused: Any, done: Any) -> None:
    """Decoding says where the encoder comes from."""
    done("encode t.csv -o o.csv")
    says = "csv cannot", "--encoder FILE", "encode --save-encoder FILE"
    refused("decode o.csv -o p.csv", Exit.SCHEMA, *says)


@pytest.mark.parametrize("text", ['{"fraction": "1/0"}', "[" * 100_000, "{}", "\x00", "[1]"])
def test_encoders_that_are_none(text: str, refused: Any) -> None:
    """Whatever is in the file is one line."""
    Path("e.json").write_text(text)
    refused("encode t.csv --encoder e.json -o o.csv", Exit.SCHEMA, "e.json")


def test_nothing_typed(call: Any) -> None:
    """The command alone shows its help, as --help does, with an example of each kind."""
    alone, asked = call(), call("--help")
    assert alone == asked
    assert (alone.code, alone.error) == (0, "")
    text = alone.out.decode()
    assert "    onehot-fast encode flights.parquet -c carrier -c dest -o encoded.parquet\n" in text
    assert not [line for line in text.splitlines()[1:] if len(line) > 100 or line.endswith("...")]


def test_escape_sequences(call: Any) -> None:
    """Names of columns do not reach the terminal as they are."""
    Path("e.csv").write_bytes(b"a\x1b[2J\x07,b\nx,y\n")
    ended = [call("inspect", "e.csv"), call("encode", "e.csv", "-c", "z", "-o", "o.csv")]
    for each in ended:
        assert "a\\x1b[2J\\x07" in each.out.decode() + each.error
        assert b"\x1b" not in each.out + each.error.encode()


# --- places


@pytest.mark.parametrize("address", ["file://{}/e.json", "{}/e.json", "e.json", "./e.json"])
def test_the_encoder_is_not_overwritten(address: str, here: Path, done: Any, refused: Any) -> None:
    """However it is named."""
    if "://" in address:
        pytest.importorskip("fsspec")
    done("encode t.csv -c b -o first.csv --save-encoder e.json")
    line = f"encode t.csv --encoder {address.format(here)} --output-format csv --overwrite -o"
    refused(f"{line} e.json", Exit.OUTPUT, "is the input")


@pytest.mark.parametrize(
    ("place", "code", "says"),
    [
        ("-", Exit.USAGE, "name a file"),
        ("nowhere/e.json", Exit.OUTPUT, "does not exist"),
        ("parts/e.json", Exit.USAGE, "is within the output"),
    ],
)
def test_places_for_the_encoder(place: str, code: Exit, says: str, refused: Any) -> None:
    """What cannot be saved is said before anything is written."""
    line = "encode t.csv -c b --rows-per-file 1 -o parts/ --save-encoder"
    refused(f"{line} {place}", code, says)


def test_an_encoder_by_its_address(here: Path, done: Any) -> None:
    """The local disk has addresses too."""
    pytest.importorskip("fsspec")
    done(f"encode t.csv -c b -o first.csv --save-encoder file://{here}/e.json")
    done(f"encode t.csv -o second.csv --encoder file://{here}/e.json")
    assert Path("first.csv").read_text() == Path("second.csv").read_text()
