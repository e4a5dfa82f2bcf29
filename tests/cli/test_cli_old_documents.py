"""What earlier releases wrote for columns of several labels is decoded as they decoded it.

The documents in ``command_documents.json`` were written by such a release, with the columns that it
encoded, and with what it decoded. "later" are two other rows, which it encoded with the encoder.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onehot_fast import Encoder
from support import command_files as files
from support.command_files import Exit, pa, parquet

DOCUMENTS = json.loads(
    (Path(__file__).parents[1] / "data" / "command_documents.json").read_text(encoding="utf-8")
)
# A row with an infrequent label and a missing one, which the old command took for a missing row.
assert DOCUMENTS["options"]["decoded"]["tags"][3] is None
DOCUMENTS["options"]["decoded"]["tags"][3] = [None]
LATER = pa.table(
    {
        "size": ["XL", "S"],
        "tags": [["new", "y"], None],
        "genres": ["opera|war", "drama"],
        "codes": [[9, 1], [3, 3]],
        "kinds": [["k", "new"], []],
        "nothing": [[], ["new"]],
        "price": [7, 8],
    }
)


def encoded_file(one, suffix):
    """Write the features that an old command wrote, with the encoder in the metadata."""
    table = pa.table({**one["encoded"], "price": pa.array(one["encoded"]["price"], pa.int32())})
    metadata = {"onehot_fast.encoder": json.dumps(one["encoder"], ensure_ascii=False, indent=1)}
    files.write(table.replace_schema_metadata(metadata), Path(f"old.{suffix}"))


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_are_decoded_as_before(name, suffix, done):
    """A file of an earlier release is decoded to the same values and types, without an encoder."""
    one = DOCUMENTS[name]
    encoded_file(one, suffix)
    done(f"decode old.{suffix} -o out.parquet")
    found = parquet.read_table("out.parquet")
    assert found.to_pydict() == one["decoded"]
    assert {field.name: str(field.type) for field in found.schema} == one["types"]
    assert b"onehot_fast.encoder" not in (found.schema.metadata or {})


@pytest.mark.parametrize("name", DOCUMENTS)
def test_encoder_files_are_read_as_before(name, call, done):
    """They encode other rows to the same features, and decode a file of text without metadata."""
    one = DOCUMENTS[name]
    Path("old.json").write_text(json.dumps(one["encoder"]), encoding="utf-8")
    parquet.write_table(LATER.select([n for n in one["decoded"] if n != "price"]), "later.parquet")
    line = "encode later.parquet --encoder old.json --save-encoder new.json -o later.arrow -q"
    assert call(line).code == 0
    features = {n: later for n, later in one["later"].items() if n != "price"}
    assert files.read(Path("later.arrow")).to_pydict() == features

    files.write(pa.table(one["encoded"]), Path("old.csv"))
    done("decode old.csv --encoder old.json -o out.parquet")
    assert parquet.read_table("out.parquet").drop("price").to_pydict() == {
        n: values for n, values in one["decoded"].items() if n != "price"
    }
    # The saved encoder is one `Encoder`, which needs no command.
    assert list(Encoder.load("new.json").schema.names) == list(features)


def test_the_error_of_the_encoder_says_how_to_convert_a_document():
    """Only the command reads the old format."""
    with pytest.raises(ValueError, match=r"onehot-fast encode .*--encoder .*--save-encoder"):
        Encoder.from_json(json.dumps(DOCUMENTS["one drop"]["encoder"]))


def test_inspect_lists_the_features_of_old_files(call):
    encoded_file(DOCUMENTS["one drop"], "parquet")
    report = json.loads(call("inspect old.parquet --json").out)
    assert report["made_from"] == {
        "size": ["size_(infrequent)"],
        "tags": ["tags_x", "tags_y", "tags_(infrequent)"],
    }


DAMAGED = [
    {"version": 2},
    {"values": None},
    {"values": {}},
    {"labels": None},
    {"labels": [None]},
    {"labels": [{}]},
    {"labels": [{"column": "size"}]},
    {"labels": [{"column": "tags", "sep": "", "encoder": None}]},
]


@pytest.mark.parametrize("damage", DAMAGED, ids=str)
def test_damaged_documents_are_refused(damage, refused):
    """The error about a damaged document names its file."""
    parquet.write_table(LATER, "later.parquet")
    document = {**DOCUMENTS["one drop"]["encoder"], **damage}
    Path("old.json").write_text(json.dumps(document), encoding="utf-8")
    line = "encode later.parquet --encoder old.json -o x.parquet"
    refused(line, Exit.SCHEMA, "old.json is not an encoder written by --save-encoder")


@pytest.mark.parametrize(
    ("key", "value"),
    [("sep", ""), ("sep", 1), ("column", "size"), ("column", 1), ("encoder", {}), ("encoder", [])],
)
def test_damaged_columns_are_refused(key, value, refused):
    """The error about a document with a damaged column of labels names its file."""
    parquet.write_table(LATER, "later.parquet")
    document = json.loads(json.dumps(DOCUMENTS["texts alone"]["encoder"]))
    document["labels"][0][key] = value
    Path("old.json").write_text(json.dumps(document), encoding="utf-8")
    line = "encode later.parquet --encoder old.json -o x.parquet"
    refused(line, Exit.SCHEMA, "old.json is not an encoder written by --save-encoder")
