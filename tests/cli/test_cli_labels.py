"""Rows of several labels, and results too wide for columns: against `multi_hot`, row by row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import multi_hot
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
    assert json.loads(Path("e.json").read_text())["labels"][0]["sep"] == "|"
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
    refused(line, Exit.SCHEMA, "texts.parquet: column 'tags' must contain lists of single values")
