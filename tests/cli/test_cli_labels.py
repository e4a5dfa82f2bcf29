"""Rows of several labels, and results too wide for columns: against `multi_hot`, row by row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder, multi_hot
from onehot_fast.cli import main
from support import command_files as files
from support.command_files import Exit, pa, parquet
from support.strategies import examples

sparse = pytest.importorskip("scipy.sparse")

LABELS = st.sampled_from(["a", "b", "é|", "", " ", "a,b"])
ROWS = st.lists(st.none() | st.lists(LABELS, max_size=4), min_size=1, max_size=12)


@examples(0.2)
@given(
    rows=ROWS,
    sep=st.sampled_from([None, "|", ", "]),
    suffix=st.sampled_from(["parquet", "arrow", "arrows"]),
    is_coded=st.booleans(),
    indicator=st.booleans(),
)
def test_labels_are_encoded_as_by_multi_hot(
    tmp_path_factory, rows, sep, suffix, is_coded, indicator
):
    """Features are what `multi_hot` says, in columns and in a matrix; they come back as a set."""
    folder = tmp_path_factory.mktemp("labels")
    texts = rows if sep is None else [None if row is None else sep.join(row) for row in rows]
    tags = pa.array(texts, pa.string() if sep else pa.list_(pa.string()))
    tags = tags.dictionary_encode() if sep and is_coded else tags
    table = pa.table({"tags": tags, "size": ["S"] * len(rows)})
    source, out = str(folder / "in.parquet"), str(folder / f"out.{suffix}")
    matrix, saved = str(folder / "out.npz"), str(folder / "encoder.json")
    again, wide = str(folder / "again.parquet"), str(folder / "x.parquet")
    parquet.write_table(table, source)
    options = ["--sep", f"tags={sep}"] if sep else []
    options += ["--handle-missing", "tags=indicator"] if indicator else []
    columns = ["-c", "size,tags", "--save-encoder", saved]
    assert main(["encode", source, *columns, *options, "-o", out]) == 0
    assert main(["encode", source, "--encoder", saved, "-o", matrix]) == 0
    assert main(["encode", source, "--encoder", saved, "-o", wide]) == 0
    assert main(["decode", out, "-o", again]) == 0

    encoded = parquet.read_table(wide)
    assert main(["decode", wide, "--overwrite", "-o", again]) == 0
    missing = ["tags_(missing)"] if indicator and None in rows else []
    names = [n for n in encoded.column_names if n.startswith("tags_") and n not in missing]
    labels = [name.removeprefix("tags_") for name in names]
    expected = multi_hot(texts, categories=labels, sep=sep, dtype=bool)
    found = np.column_stack([encoded[n].to_numpy() for n in names] or [expected])
    np.testing.assert_array_equal(found, expected)
    if missing:
        assert encoded[missing[0]].to_pylist() == [row is None for row in rows]
    dense = np.column_stack([encoded[n].to_numpy() for n in encoded.column_names])
    csr, archive = sparse.load_npz(matrix), np.load(matrix)
    assert archive["names"].tolist() == encoded.column_names
    assert csr.has_canonical_format
    np.testing.assert_array_equal(csr.toarray(), dense)

    whole = [text.split(sep) if sep is not None and text is not None else text for text in texts]
    decoded = parquet.read_table(again)["tags"].to_pylist()
    for one, row in zip(decoded, whole, strict=True):
        known = set(row or ()) - ({""} if sep else set())
        assert one is not None or (row is None and indicator)
        kept = (one.split(sep) if sep else one) if one else []
        assert set(kept) - ({""} if sep else set()) == known


def test_the_options_are_those_of_values(call):
    """Infrequent labels share a feature, and prefix, dtype and unknown labels have their option."""
    files.write(pa.table({"tags": ["a|b", "a", "a|c", None]}), Path("in.csv"))
    files.write(pa.table({"tags": ["new|a", "b", ""]}), Path("later.csv"))
    options = "--sep | --min-frequency 2 --handle-unknown infrequent --dtype uint8 --prefix T"
    assert call(f"encode in.csv {options} --save-encoder e.json -o x.csv").code == 0
    assert Encoder.load("e.json").sep == {"tags": "|"}
    assert call("encode later.csv --encoder e.json -o out.csv").code == 0
    assert Path("out.csv").read_text() == "T_a,T_(infrequent)\n1,1\n0,1\n0,0\n"


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
@pytest.mark.usefixtures("small")
def test_any_file_may_hold_a_matrix_of_labels(dtype, call, done, here):
    """A file, parts and standard output contain the features of the columns, and nothing else."""
    line = f"encode in.parquet -c carrier,dest --dtype {dtype} --handle-missing carrier=indicator"
    done(f"{line} -o x.parquet")
    done(f"{line} -o x.npz")
    done(f"{line} --rows-per-file 300 --output-format npz -o parts")
    assert call(f"{line} --output-format npz -o -").out == Path("x.npz").read_bytes()

    whole, wide = sparse.load_npz("x.npz"), files.read(Path("x.parquet"))
    names = np.load("x.npz")["names"].tolist()
    assert whole.dtype == dtype
    assert names == [n for n in wide.column_names if n.startswith(("carrier_", "dest_"))]
    dense = np.column_stack([wide[n].to_numpy() for n in names])
    np.testing.assert_array_equal(whole.toarray(), dense)
    some = [sparse.load_npz(path) for path in sorted(Path("parts").iterdir())]
    assert [len(part.indptr) - 1 for part in some] == [300, 300, 300, 100]
    np.testing.assert_array_equal(sparse.vstack(some).toarray(), dense)
    assert files.leftovers(here) == []


def test_a_null_among_labels_comes_back_in_its_row(done):
    """A row with labels is never taken for one that was null."""
    rows = [["x"], ["y", None], None, [None, "x"], [], ["x", "y"]]
    parquet.write_table(pa.table({"tags": rows}), "in.parquet")
    done("encode in.parquet -c tags --handle-missing indicator -o encoded.parquet")
    done("decode encoded.parquet -o out.parquet")
    expected = [["x"], ["y", None], None, ["x", None], [], ["x", "y"]]
    assert parquet.read_table("out.parquet")["tags"].to_pylist() == expected


def test_an_encoder_of_lists_does_not_fit_texts(done, refused):
    """The error says what the column must contain, and that the encoder does not fit."""
    parquet.write_table(pa.table({"tags": [["a"]]}), "lists.parquet")
    parquet.write_table(pa.table({"tags": ["a"]}), "texts.parquet")
    done("encode lists.parquet -c tags --save-encoder e.json -o x.parquet")
    line = "encode texts.parquet --encoder e.json -o y.parquet"
    refused(line, Exit.SCHEMA, "texts.parquet: column 'tags' must contain lists,", "got string")


ROWS_OF_LISTS = [["x", "y"], [], None, ["y", None], ["x", "x", "z"], [None]]


def lists_over(labels):
    """Return lists like those of `ROWS_OF_LISTS` whose elements are an array of eight labels."""
    offsets = pa.array([0, 2, 2, 2, 4, 7, 8], pa.int32())
    mask = pa.array([row is None for row in ROWS_OF_LISTS])
    return pa.ListArray.from_arrays(offsets, labels, mask=mask)


def uuids():
    """Return eight UUIDs."""
    stored = pa.array([bytes([i % 3] * 16) for i in range(8)], pa.binary(16))
    return pa.ExtensionArray.from_storage(pa.uuid(), stored)


LISTS = {
    "list": lambda: pa.array(ROWS_OF_LISTS),
    "large list": lambda: pa.array(ROWS_OF_LISTS, pa.large_list(pa.large_string())),
    "view": lambda: pa.array(ROWS_OF_LISTS, pa.list_view(pa.string())),
    "large view": lambda: pa.array(ROWS_OF_LISTS, pa.large_list_view(pa.string_view())),
    "fixed size": lambda: pa.array([[1, 2], [2, 2], None, [3, 1], [1, 1], [1, 2]], FIXED),
    "dictionary": lambda: lists_over(
        pa.array(["x", "y", "y", None, "x", "q", "x", "x"]).dictionary_encode()
    ),
    "uuid": lambda: lists_over(uuids()),
    "dates": lambda: lists_over(pa.array(range(8), pa.int32()).cast(pa.date32())),
}
FIXED = pa.list_(pa.int16(), 2)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("name", LISTS)
def test_every_type_of_lists_is_encoded_as_by_an_encoder(name, suffix, done):
    """The command encodes, saves and decodes lists of every type as an `Encoder` does.

    Decoding returns each label once, in lists of the same type, but of no fixed size.
    """
    table = pa.table({"n": range(6), "tags": LISTS[name]()})
    if suffix == "parquet":
        try:
            parquet.write_table(table, "in.parquet", row_group_size=2)
            parquet.read_table("in.parquet")
        except pa.ArrowException as error:  # early versions have no views and no missing lists
            pytest.skip(f"pyarrow does not write or read this type: {error}")
    else:
        make = pa.ipc.new_file if suffix == "arrow" else pa.ipc.new_stream
        with make(f"in.{suffix}", table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    source = files.read(Path(f"in.{suffix}"))
    expected = Encoder(["tags"], handle_missing="indicator").fit(source)
    line = f"encode in.{suffix} -c tags --handle-missing indicator"
    done(f"{line} --save-encoder e.json -o x.{suffix}")
    assert Path("e.json").read_text() == expected.to_json()
    encoded = files.read(Path(f"x.{suffix}"))
    assert encoded.to_pydict() == expected.transform(source, "arrow").to_pydict()

    done(f"decode x.{suffix} -o again.{suffix}")
    again = files.read(Path(f"again.{suffix}"))
    decoded = expected.inverse_transform(expected.transform(source))
    assert again.to_pydict() == decoded.to_pydict()
    kind = source.schema.field("tags").type
    assert again.schema.field("tags").type == (pa.list_(pa.int16()) if kind == FIXED else kind)


@pytest.mark.parametrize("layout", ["struct", "array", "tensor"])
def test_lists_have_their_features_in_one_column(layout, done):
    """The layouts "struct", "array" and "tensor" keep lists in one column, and are decoded."""
    table = pa.table({"tags": ROWS_OF_LISTS, "size": ["S", "M", "S", "L", "S", "M"]})
    parquet.write_table(table, "in.parquet")
    done(f"encode in.parquet --handle-missing indicator --layout {layout} -o x.arrow")
    encoded = files.read(Path("x.arrow"))
    assert encoded.column_names == table.column_names
    done("decode x.arrow -o again.parquet")
    expected = [["x", "y"], [], None, ["y", None], ["x", "z"], None]
    again = parquet.read_table("again.parquet")
    assert again.to_pydict() == {"tags": expected, "size": table["size"].to_pylist()}


def test_the_columns_are_those_that_an_encoder_chooses(done):
    """Lists of strings, but not of numbers; `--sep` splits all columns of strings."""
    table = pa.table(
        {"tags": [["b", "a"], []], "vector": [[1.5], [2.5]], "genres": ["x|y", "y"], "n": [1, 2]}
    )
    parquet.write_table(table, "in.parquet")
    done("encode in.parquet --sep | --save-encoder e.json -o x.parquet")
    expected = Encoder(sep="|").fit(table).transform(table, "arrow")
    assert parquet.read_table("x.parquet").to_pydict() == expected.to_pydict()
    assert Encoder.load("e.json").columns == ("tags", "genres")


def test_one_rule_to_drop_skips_columns_of_labels(done):
    """`--drop first` drops no label of a column of lists, and `propagate` adds no column to it."""
    parquet.write_table(pa.table({"tags": [["a"], None], "size": ["S", "M"]}), "in.parquet")
    done(
        "encode in.parquet --drop first --handle-missing tags=propagate --dtype float32"
        " -o x.parquet"
    )
    encoded = parquet.read_table("x.parquet")
    assert encoded.column_names == ["tags_a", "size_S"]
    assert np.isnan(encoded["tags_a"][1].as_py())
    done("decode x.parquet -o again.parquet")
    assert parquet.read_table("again.parquet").to_pydict() == {
        "tags": [["a"], None],
        "size": ["S", "M"],
    }


def test_labels_without_a_category_are_left_out_of_decoded_rows(done):
    """A text has no place for an infrequent or an unknown label, and a list is treated alike."""
    table = pa.table({"tags": [["a", "b"], ["b"], ["c"]], "genres": ["x|y", "y", "z"]})
    parquet.write_table(table, "in.parquet")
    done("encode in.parquet --sep | --min-frequency 2 -o x.parquet")
    assert parquet.read_table("x.parquet")["genres_(infrequent)"].to_pylist() == [True, False, True]
    done("decode x.parquet -o again.parquet")
    found = parquet.read_table("again.parquet")
    assert found.to_pydict() == {"tags": [["b"], ["b"], []], "genres": ["y", "y", ""]}


def test_inspect_counts_the_rows_that_have_a_label(call):
    """Once for each row; the rows of infrequent labels are not known, and texts are not counted."""
    rows = ["a|b|a", "a", None, "a|c", "d|c"]
    files.write(pa.table({"genres": rows, "n": range(5)}), Path("in.parquet"))
    line = "inspect in.parquet -c genres --sep | --min-frequency 2 --limit 1"
    found = json.loads(call(f"{line} --json").out)["encoding"]["frequencies"]["genres"]
    top = [(one["category"], one["count"], one["infrequent"]) for one in found["top"]]
    assert top == [("a", 3, False), ("c", 2, False), ("b", 1, True), ("d", 1, True)]
    assert found["infrequent"] == {"categories": 2, "rows": None}
    assert b"infrequent, in one feature: 2\n" in call(line).out


def test_a_separator_of_one_column_must_name_a_column_of_strings(refused):
    """The error says what to type for a CSV column that looks like numbers."""
    Path("in.csv").write_text("tags,size\n1,S\n2,M\n")
    line = "encode in.csv -c tags,size --sep tags=| -o x.csv"
    refused(line, Exit.USAGE, "--sep tags=|", "got int64", "--text-column tags")


def test_texts_with_and_without_labels_are_told_apart(done, refused):
    """An encoder of single values does not fit lists; an encoder of texts also fits lists."""
    parquet.write_table(pa.table({"tags": ["a|b"]}), "texts.parquet")
    parquet.write_table(pa.table({"tags": [["b"]]}), "lists.parquet")
    done("encode texts.parquet --save-encoder values.json -o x.parquet")
    done("encode texts.parquet --sep | --save-encoder labels.json -o y.parquet")
    line = "encode lists.parquet --encoder values.json -o z.parquet"
    refused(line, Exit.SCHEMA, "column 'tags' must contain single values,", "got list")
    done("encode lists.parquet --encoder labels.json -o z.parquet")
    assert parquet.read_table("z.parquet").to_pydict() == {"tags_a": [False], "tags_b": [True]}


def test_a_note_names_a_column_whose_texts_lack_the_separator(done):
    """A note names a column whose texts lack the separator, and the flag that sets another.

    Otherwise each text would be one label without a word.
    """
    files.write(pa.table({"tags": ["a|b", "c"], "other": ["x;y", "x"]}), Path("in.csv"))
    note = done("encode in.csv --sep ; -o x.csv")
    assert "no text of column 'tags' contains the separator ';'; pass --sep COLUMN=..." in note
    assert "'other'" not in note
    assert done("encode in.csv --sep tags=| --sep other=; -o y.csv") == ""
