"""Mistakes in a line or an input: nothing is written, and one line says what to type instead."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from onehot_fast import Encoder
from onehot_fast.cli.messages import CommandError, writing
from support import programs
from support.command_files import Exit, pa, parquet

pytestmark = pytest.mark.usefixtures("t_csv")
OLD = "of another"


# --- the line

IDS = "encode ids.parquet"
LINES = [
    # Files that do not exist, are empty, or contain something else.
    ("encode none.parquet -o o.parquet", Exit.INPUT, "No such file"),
    ("encode empty -o o.parquet", Exit.INPUT, "no data file"),
    ("encode empty.csv -o o.parquet", Exit.CORRUPT, "empty.csv"),
    ("encode x.csv.gz -o o.parquet", Exit.CORRUPT, "x.csv.gz"),
    ("encode x.npz -o o.parquet", Exit.INPUT, "can only be written"),
    ("encode encrypted.parquet -o o.parquet", Exit.CORRUPT, "encrypted.parquet"),
    ("encode ragged.csv -c a -o o.parquet", Exit.CORRUPT, "Expected 2"),
    ("encode latin.csv -c a -o o.parquet", Exit.CORRUPT, "latin.csv"),
    ("encode differ -c carrier -o o.parquet", Exit.SCHEMA, "b.parquet"),
    ("encode t.csv --input-format xls -o o.parquet", Exit.USAGE, "'xls'"),
    # Columns.
    ("inspect t.csv -c c", Exit.COLUMN, "no column 'c'; its columns are: a, b"),
    (f"{IDS} -c sise -o o.csv", Exit.COLUMN, "no column 'sise'; did you mean 'size'?\n"),
    ("encode twice.parquet -c a -o o.parquet", Exit.COLUMN, "2 columns 'a'; rename all but one\n"),
    ("encode numbers.parquet -o o.parquet", Exit.COLUMN, "no column contains strings"),
    ("encode lists.parquet -c n -o o.parquet", Exit.COLUMN, "column 'n'"),
    ("encode collide.parquet -c a -o o.parquet", Exit.VALUE, "'a_b'"),
    ("encode nulls.csv -c c -c d -o o.csv", Exit.OUTPUT, "there is no column to write"),
    ("encode lists.parquet -c size -o o.csv", Exit.OUTPUT, "column 'n' has type list"),
    ("encode t.csv --text-column zip -o q.csv", Exit.COLUMN, "no column 'zip'"),
    # Values of options.
    ("encode t.csv --prefix nope=x -o o.csv", Exit.USAGE, "not encoded; the encoded columns are b"),
    ("encode t.csv --prefix bb=x -o o.csv", Exit.USAGE, "'b'? (if the value contains =, type b="),
    ("encode t.csv --drop x -o o.csv", Exit.USAGE, "--drop x: drop must be one of 'first'"),
    ("encode t.csv --drop x -o o.csv", Exit.USAGE, "type a category as COLUMN=CATEGORY"),
    ("encode t.csv --drop b=z -o o.csv", Exit.VALUE, "got 'z'"),
    ("encode t.csv --handle-missing propagate -o o.csv", Exit.VALUE, "pass --dtype float32"),
    ("encode nulls.csv -c c --handle-missing error -o o.parquet", Exit.VALUE, "missing"),
    ("encode t.csv --dtype floot -o o.csv", Exit.USAGE, "e.g. bool, uint8 or float32"),
    ("encode t.csv --dtype datetime64[s] -o o.csv", Exit.USAGE, "dtype"),
    ("encode t.csv --min-frequency many -o o.csv", Exit.USAGE, "10, or a fraction of them, e.g."),
    ("encode t.csv --max-categories 1.5 -o o.csv", Exit.USAGE, "type an integer, e.g."),
    ("encode t.csv --handle-unknown ignor -o o.csv", Exit.USAGE, "must be one of 'error'"),
    ("encode t.csv --encoding latin9x -o o.csv", Exit.USAGE, "e.g. utf-8, cp1252 or latin-1"),
    ("encode t.csv --encoding rot13 -o o.csv", Exit.USAGE, "e.g. utf-8, cp1252 or latin-1"),
    ("encode t.csv --delimiter ;; -o o.csv", Exit.USAGE, r"type a tab as '\t'"),
    ("encode t.csv --prefx p -o o.csv", Exit.USAGE, "--prefx"),
    ("encode t.csv -c a b -o o.csv", Exit.USAGE, "(b); type several columns with commas, e.g."),
    ("encode t.csv --layout rows -o o.csv", Exit.USAGE, "see onehot-fast encode --help"),
    ("encode t.csv --layout tensor -o o.csv", Exit.USAGE, "cannot be used with csv output"),
    ("encode t.csv --encoder x --drop first -o o.csv", Exit.USAGE, "--drop"),
    ("encode t.csv --row-group-size 0 -o o.csv", Exit.USAGE, "0 is not in the range x>=1"),
    # Labels and matrices.
    ("encode lists.parquet -c size --sep= -o o.parquet", Exit.USAGE, "must not be empty"),
    (f"{IDS} -c id --sep id=| -o o.parquet", Exit.USAGE, "got int64"),
    ("encode tags.parquet --layout dictionary -c tags -o o.parquet", Exit.USAGE,
     "several labels per row (tags); use --layout columns"),
    ("encode tags.parquet --drop tags=first -c tags -o o.parquet", Exit.VALUE, "several labels"),
    ("encode tags.parquet --handle-missing propagate -c tags -o o.csv", Exit.VALUE,
     "tags.parquet: column 'tags': dtype must be a float type"),
    ("encode tags.parquet --sep tags=; -c tags -o o.csv", Exit.USAGE, "lists need no separator"),
    ("encode tags.parquet --handle-missing error -c tags -o o.csv", Exit.VALUE,
     "column 'tags', row 0: the value is missing"),
    ("encode t.csv --layout csr -o o.csv", Exit.USAGE, ".npz"),
    ("encode t.csv --layout array -o o.npz", Exit.USAGE, "npz"),
    ("encode t.csv --partition-by a --output-format npz -o p/", Exit.USAGE, "npz"),
    ("encode t.csv --dtype float16 -o o.npz", Exit.USAGE, "SciPy"),
    ("decode t.csv -o o.npz", Exit.USAGE, "npz files contain only features"),
    # Encoders.
    ("encode t.csv --encoder none.json -o o.csv", Exit.SCHEMA, "none.json"),
    ("encode t.csv --encoder numbers.parquet -o o.csv", Exit.SCHEMA, "numbers.parquet"),
    ("encode t.csv --encoder size.json -o o.csv", Exit.SCHEMA, "no column 'size'"),
    ("encode sizes.csv --encoder size.json -c n -o o.csv", Exit.SCHEMA, "of the encoder: size"),
    ("encode typed.parquet --encoder size.json -o o.csv", Exit.SCHEMA, "'size'"),
    ("encode sizes.csv --encoder size.json -o o.csv", Exit.VALUE,
     "'M' is unknown; learn the encoder again with --save-encoder FILE --handle-unknown ignore"),
    ("decode t.csv --encoder size.json -o o.csv", Exit.SCHEMA, "t.csv: "),
    ("decode wrong.csv --encoder size.json -o o.csv", Exit.VALUE, "row 1"),
    ("decode t.csv -o o.csv", Exit.SCHEMA, "pass --encoder FILE, with the file that `encode"),
    ("decode numbers.parquet -o o.csv", Exit.SCHEMA, "does not contain an encoder; pass"),
    # Outputs.
    ("encode t.csv -o no/o.parquet", Exit.OUTPUT,
     "no/o.parquet: the folder 'no' does not exist; create it first\n"),
    ("encode t.csv -o o.xls", Exit.USAGE, "pass --output-format"),
    ("encode t.csv -o twice.csv/", Exit.OUTPUT, "twice.csv"),
    ("encode t.csv --rows-per-file 1 -o o.parquet", Exit.USAGE, "parts/"),
    ("encode t.csv --rows-per-file 1 -o -", Exit.USAGE, "parts/"),
    ("encode t.csv -c b --rows-per-file 1 -o p/ --save-encoder -", Exit.USAGE, "name a file"),
    ("encode t.csv -c b --rows-per-file 1 -o p/ --save-encoder no/e", Exit.OUTPUT, "'no' does"),
    ("encode t.csv -c b --rows-per-file 1 -o p/ --save-encoder p/e", Exit.USAGE, "is within"),
    # Keys of folders.
    (f"{IDS} -c size --partition-by size -o p/", Exit.USAGE, "size: the column is encoded"),
    (f"{IDS} -c size --partition-by gat -o p/", Exit.COLUMN, "did you mean 'gate'?"),
    (f"{IDS} -c size --partition-by id -o p/", Exit.VALUE, "more than 10,000 folders"),
    (f"{IDS} -c size --partition-by _k -o p/", Exit.USAGE, "rename the column"),
    (f"{IDS} -c size --partition-by= -o p/", Exit.USAGE, "rename the column"),
    (f"{IDS} -c size --partition-by gate -o p/", Exit.VALUE, "gate: the column contains"),
    ("encode lists.parquet -c size --partition-by n -o p/", Exit.COLUMN, "lists or structs"),
    ("encode keys -o o.parquet", Exit.SCHEMA, "month=2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Return a folder with the inputs of all lines."""
    folder: Path = tmp_path_factory.mktemp("inputs")
    texts = {
        "t.csv": b"a,b\n1,x\n2,y\n", "empty.csv": b"", "x.npz": b"x",
        "x.csv.gz": b"a,b\n1,2\n", "encrypted.parquet": b"PARE" + bytes(100) + b"\x10\0\0\0PARE",
        "ragged.csv": b"a,b\nx,2\ny\n", "latin.csv": b"a,b\n\xff,2\n", "twice.csv": b"a,a\nx,y\n",
        "nulls.csv": b"c,d\n,\n,\n", "sizes.csv": b"size,n\nS,1\nM,2\n",
        "wrong.csv": b"size_L,size_S\n1,0\n1,1\n",
        "size.json": Encoder(["size"]).fit({"size": ["S", "L"]}).to_json().encode(),
    }  # fmt: skip
    gate = pa.array(["__HIVE_DEFAULT_PARTITION__"] + ["A"] * 10_000)
    n_rows = len(gate)
    tables = {
        "numbers": {"n": [1, 2]},
        "lists": {"size": ["S", "L"], "n": [[[1]], [[2]]]},
        "tags": {"tags": [None, ["a"]]},
        "collide": {"a": ["b"], "a_b": [1]},
        "typed": {"size": [1]},
        "ids": {"id": range(n_rows), "size": ["S"] * n_rows, "gate": gate, "_k": gate, "": gate},
        "differ/a": {"carrier": ["UA"]},
        "differ/b": {"carrier": [1]},
        "keys/year=1/a": {"size": ["S"]},
        "keys/month=2/a": {"size": ["S"]},
    }
    (folder / "empty").mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    for name, columns in tables.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table(columns), path)
    twice = pa.table([["x"], ["y"]], ["a", "a"])
    parquet.write_table(twice, folder / "twice.parquet")
    return folder


@pytest.mark.parametrize(("line", "code", "says"), LINES)
def test_a_mistake_in_the_line_is_one_line(line, code, says, inputs, refused, monkeypatch):
    """One line names the file or option, what is expected and what to type; nothing is written."""
    monkeypatch.chdir(inputs)
    refused([word.replace("\\t", "\t") for word in line.split()], code, says)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_device_without_room_is_an_error_of_the_output(refused):
    """The error of a device is an error of the output."""
    refused("encode t.csv --output-format parquet -o /dev/full", Exit.OUTPUT, "No space left")


@pytest.mark.parametrize("text", ['{"fraction": "1/0"}', "[" * 100_000, "{}", "\x00", "[1]",
                                  '{"format": "onehot_fast.command", "version": 2}'])  # fmt: skip
def test_a_file_that_is_no_encoder_is_an_error(text, refused):
    """A file that contains no encoder is an error of one line that names the file."""
    Path("e.json").write_text(text)
    refused("encode t.csv --encoder e.json -o o.csv", Exit.SCHEMA, "e.json is not an encoder")


def test_codes_beyond_their_dictionary_are_an_error_of_the_input():
    """Writing texts is the first step that looks at each code."""
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 15]), pa.array(["a"]), safe=False)

    with pytest.raises(CommandError, match="is corrupt") as caught, writing("x.csv"):
        codes.cast(pa.string())
    assert caught.value.code == Exit.CORRUPT


def test_a_missing_library_is_one_line():
    """If an extra is missing, one line says how to install it."""
    done = programs.start("""
        import sys
        sys.modules["click"] = None
        from onehot_fast.cli import main
        sys.exit(main(["--help"]))
    """)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr == "onehot-fast: click must be installed; type pip install 'onehot-fast[cli]'\n"
    )


# --- outputs that exist


@pytest.mark.parametrize("name", ["t.csv", "hard.csv", "soft.csv", "../{}/t.csv", "folder/"])
@pytest.mark.parametrize("option", ["", "--overwrite"])
def test_the_input_is_never_overwritten(name, option, here, refused):
    """Another spelling, a link, or the folder of the input is the input too."""
    os.link("t.csv", "hard.csv")
    os.symlink("t.csv", "soft.csv")
    os.mkdir("folder")
    os.link("t.csv", "folder/t.csv")

    refused(f"encode t.csv {option} -o {name.format(here.name)}", Exit.OUTPUT, "is the input")


def test_standard_input_and_output_are_files_too(call, refused, monkeypatch):
    """``< t.csv`` and ``>> t.csv`` name files, but - is no file of the current folder."""
    assert call("encode . -c b -o -").out == b"a,b_x,b_y\n1,1,0\n2,0,1\n"
    with open("t.csv") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        refused("encode - --overwrite -o t.csv", Exit.OUTPUT, "is the input")
    with open("t.csv", "a") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", file)
        refused("encode t.csv -o -", Exit.OUTPUT, "standard output is the input")


@pytest.mark.parametrize("address", ["file://{}/e.csv", "{}/e.csv", "e.csv", "./e.csv"])
def test_the_encoder_is_never_overwritten(address, here, refused, done):
    """An encoder that is read is an input, and one that is saved is an output."""
    if "://" in address:
        pytest.importorskip("fsspec")
    done("encode t.csv --save-encoder e.csv -o o.csv")
    line = f"encode t.csv --encoder {address.format(here)} --overwrite -o e.csv"
    refused(line, Exit.OUTPUT, "is the input")
    refused("encode t.csv --save-encoder e.csv -o p.csv", Exit.OUTPUT, "--overwrite")
    refused("encode t.csv --save-encoder ./p.csv -o p.csv", Exit.USAGE, "is the output")


def test_a_folder_is_replaced_as_a_whole(refused, done, monkeypatch):
    """A folder with other files is not replaced; if the rename fails, the old folder stays."""
    os.makedirs("in")
    os.link("t.csv", "in/2.csv")
    os.makedirs("folder/sub")
    Path("folder/1.csv").write_text("old")
    Path("folder/sub/3.parquet").write_text("old")
    done("encode in --overwrite -o folder")
    assert [str(path) for path in Path("folder").rglob("*")] == ["folder/2.csv"]

    rename = os.rename

    def failing(source, target):
        if str(source).endswith("-part"):
            raise PermissionError(13, "Permission denied")
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing)
        refused("encode in --overwrite -o folder", Exit.OUTPUT, "Permission denied")
    Path("folder/notes.txt").write_text("kept")
    refused("encode in --overwrite -o folder", Exit.OUTPUT, "notes.txt")
    assert sorted(os.listdir()) == ["folder", "in", "t.csv"]


def test_an_output_that_appears_during_the_run_is_kept(call, monkeypatch):
    """A file that another process writes in the meantime is not replaced."""
    fsync = os.fsync

    def appear(handle):
        Path("o.csv").write_text(OLD)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", appear)
    assert call("encode t.csv -o o.csv").code == Exit.OUTPUT
    assert Path("o.csv").read_text() == OLD


def test_a_file_may_join_an_existing_folder(done, refused):
    """One file joins the others in an existing folder, like with cp."""
    os.mkdir("folder")
    Path("folder/kept.txt").write_text("kept")
    done("encode t.csv -o folder")
    done("encode t.csv --output-format parquet -o folder/")
    assert sorted(os.listdir("folder")) == ["kept.txt", "t.csv", "t.parquet"]
    refused("encode t.csv -o folder", Exit.OUTPUT, "folder/t.csv", "--overwrite")


@pytest.mark.parametrize("name", ["in", "in/o.csv", "in/sub", "in/1.csv"])
def test_an_output_within_the_input_is_an_error(name, refused):
    """The next run would read it as data."""
    os.mkdir("in")
    os.link("t.csv", "in/1.csv")
    refused(f"encode in --overwrite -o {name}", Exit.OUTPUT, "is within the input")


# --- columns that are chosen by default


@pytest.fixture
def ids():
    """Write a file with an identifier, a column of many values, and one of few."""
    rows = "".join(f"s{row},c{row % 300},{'pf'[row % 2]},{row}\n" for row in range(900))
    Path("ids.csv").write_text(f"session,city,plan,n\n{rows}")


@pytest.mark.usefixtures("ids")
def test_too_many_features_of_default_columns_are_an_error(refused, done):
    """The error comes before anything is written, lists the largest first, and both remedies."""
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
def test_default_columns_with_many_features_have_a_note(done, call):
    """A note names an identifier, or a column with most of the features; -q hides it."""
    options = "--text-column n --max-features 5000"
    said = done(f"encode ids.csv {options} --drop session=s0 -o o.parquet").splitlines()
    assert len(said) == 2
    assert all("may be an identifier; name the columns to encode with -c" in line for line in said)
    assert done(f"encode ids.csv {options} -q -o p.parquet") == ""
    assert call("inspect ids.csv").error.splitlines() == said[:1]
    assert call("inspect ids.csv -c session").error == ""
    lines = Path("ids.csv").read_text().splitlines()
    Path("cities.csv").write_text("\n".join(line.partition(",")[2] for line in lines))
    assert "'city' has 300 of 302 features" in done("encode cities.csv -o c.parquet")


def test_too_many_features_are_noticed_early(refused):
    """Learning stops beyond the number that inspect counts, unless categories are grouped."""
    names = pa.array([f"s{row}" for row in range(400_000)])
    parquet.write_table(pa.table({"session": names, "n": range(len(names))}), "ids.parquet")
    text = "must have at most 1,000 features, got 131,072: 'session' 131,072; counted in the first"
    refused("encode ids.parquet -o o.parquet", Exit.COLUMN, text)
    grouped = "encode ids.parquet --max-features 3 --max-categories 4 -o o.parquet"
    refused(grouped, Exit.COLUMN, "must have at most 3 features, got 4: 'session' 4; ")


def test_warnings_are_notes(done):
    """Unknown values of all batches are one line, which -q hides."""
    done("encode t.csv -c b --handle-unknown warn --save-encoder e.json -o o.csv")
    Path("new.csv").write_text("a,b\n" + "1,w\n" * 2 + "1,z\n" * 300_000 + "1,v\n" * 3)
    said = "onehot-fast: new.csv: unknown values become rows of zeros, in 'b': "
    said += "'z' (300,000 rows), 'v' (3 rows), 'w' (2 rows)\n"
    assert done("encode new.csv --encoder e.json -o p.csv") == said
    assert done("encode new.csv --encoder e.json -q -o r.csv") == ""


def test_what_the_result_lacks_is_a_note(done):
    """A column without features, a file without rows, and unknown values beside a dropped one."""
    Path("empty.csv").write_text("a,b\n")
    few = "-c b --min-frequency 99 --drop first"
    assert "column 'b' has no features" in done(f"encode t.csv {few} -o o.csv")
    assert "--min-frequency 99" in done(f"encode t.csv {few} -o p.csv")
    assert done(f"encode t.csv {few} -q -o q.csv") == ""
    assert "without rows" in done("encode empty.csv -c b -o r.csv")

    Path("abc.csv").write_text("b\nx\ny\n")
    Path("new.csv").write_text("b\nx\nQQ\n")
    options = "-c b --drop first --handle-unknown ignore"
    assert done(f"encode abc.csv {options} --save-encoder f.json -o s.csv") == ""
    said = done("encode new.csv --encoder f.json -o u.csv")
    assert "'QQ' (1 row)" in said
    assert "dropped category 'x'" in said
    assert "--handle-unknown indicator" in said


# --- names


@pytest.mark.parametrize(
    ("text", "options", "header"),
    [
        # A value with an equals sign is typed with its column.
        ("a,b\n1,x\n", "--prefix b=p=q --prefix-sep =", "a,p=q=x"),
        # `a,b` are two columns, unless one has that name.
        ("a,b\n1,x\n", "-c a,b", "a_1,b_x"),
        ('"a,b",a,b\nx,1,2\n', "-c a,b", '"a,b_x",a,b'),
    ],
)
def test_a_name_may_contain_the_signs_of_an_option(text, options, header, done):
    """An equals sign or a comma belongs to a name if a column has this name."""
    Path("names.csv").write_text(text)
    done(f"encode names.csv {options} -o o.csv")
    assert Path("o.csv").read_text().splitlines()[0] == header


# --- help


def test_help_shows_examples_and_exit_codes(call):
    """The command alone prints its help: an example of each kind, and all exit codes."""
    alone, asked = call(), call("--help")
    assert alone == asked
    assert (alone.code, alone.error) == (0, "")
    text = alone.out.decode()
    assert "    onehot-fast encode flights.parquet -c carrier -c dest -o encoded.parquet\n" in text
    assert [code.name for code in Exit if not re.search(rf"^ +{code.value} ", text, re.M)] == []
    assert "130" in text
    assert "143" in text


@pytest.mark.parametrize("name", ["", "inspect", "encode", "decode", "completion"])
def test_help_fits_into_80_columns(name, call, monkeypatch):
    """No line is cut, and each subcommand has an example."""
    monkeypatch.setenv("COLUMNS", "80")
    text = call(*name.split(), "--help").out.decode()
    assert f"Usage: onehot-fast {name}".rstrip() in text
    assert f"  onehot-fast {name}".rstrip() in text
    assert [line for line in text.splitlines() if len(line) > 80 or line.endswith("...")][1:] == []
