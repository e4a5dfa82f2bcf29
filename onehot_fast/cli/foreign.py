"""Files of other formats, which the command does not read: how to recognize and convert them."""

from __future__ import annotations

import json
import re
import shlex

from onehot_fast.cli.formats import format_of_content

# The first bytes of files that are not CSV, what they are, and Python code that converts one to
# Parquet. Without code, it is a program that unpacks it.
EXCEL = "import pandas; pandas.read_excel({path}).to_parquet({new})"
FOREIGN = {
    b"PK\x03\x04": ("a zip archive", "python -m zipfile -e {path} FOLDER"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", EXCEL),
    b"ORC": (
        "ORC",
        "import pyarrow.orc as orc, pyarrow.parquet as parquet;"
        " parquet.write_table(orc.read_table({path}), {new})",
    ),
    b"SQLite format 3\0": (
        "an SQLite database",
        "import pandas, sqlite3; pandas.read_sql('select * from TABLE',"
        " sqlite3.connect({path})).to_parquet({new})",
    ),
    b"Obj\x01": ("Avro", "import polars; polars.read_avro({path}).write_parquet({new})"),
    b"\x89HDF": ("HDF5", "import pandas; pandas.read_hdf({path}).to_parquet({new})"),
    b"<?xml": ("XML", "import pandas; pandas.read_xml({path}).to_parquet({new})"),
    b"<!DOCTYPE": ("HTML", "import pandas; pandas.read_html({path})[0].to_parquet({new})"),
    b"<html": ("HTML", "import pandas; pandas.read_html({path})[0].to_parquet({new})"),
    b"{": ("JSON", "import duckdb; duckdb.read_json({path}).write_parquet({new})"),
    b"%PDF-": ("a PDF document", ""),
    b"7z\xbc\xaf": ("a 7z archive", ""),
}
# Magic bytes that could begin the first name of a CSV file, which contains no control characters.
TEXT_MAGIC = (b"ORC", b"PAR1", b"ARROW1")
TAR_MAGIC, TAR_AT = b"ustar", 257
# A path that needs no escape within quotation marks of a shell and of Python.
PLAIN_PATH = re.compile(r"[\w./:=@%+,-]+")


def foreign(start: bytes, path: str) -> str | None:
    """Return what a file is that begins with `start` and is not CSV, and how to read it.

    Return None if it may be CSV. `start` is long enough for a line of JSON.
    """
    if start.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")) and _is_binary(start):
        kind = format_of_content(start).kind
        return f"the file is {kind}, not CSV; pass --input-format {kind}"
    if start[TAR_AT:].startswith(TAR_MAGIC):
        return f"the file is a tar archive, not CSV; unpack it first, e.g. with tar -xf {path}"
    is_json = _is_json(start.lstrip())
    for magic, (what, how) in FOREIGN.items():
        if not (is_json if magic == b"{" else start.lstrip().startswith(magic)):
            continue
        if magic in TEXT_MAGIC and not _is_binary(start):
            continue
        if b"[Content_Types].xml" in start or b"_rels/.rels" in start:
            what, how = "an Excel workbook", EXCEL
        doubt = "; if it is CSV, pass --input-format csv" if is_json else ""
        if how.startswith("import"):
            return (
                f"the file is {what}, not CSV; convert it to Parquet first, e.g. with"
                f" {python_line(how, path)}{doubt}"
            )
        if how:
            return (
                f"the file is {what}, not CSV; unpack it first, e.g. with"
                f" {how.format(path=shlex.quote(path))}{doubt}"
            )
        return f"the file is {what}, not CSV; name another input{doubt}"
    return None


def _is_binary(start: bytes) -> bool:
    """Tell whether bytes contain control characters other than tabs and line breaks."""
    return any(byte < ord(" ") and byte not in b"\t\n\r\f" for byte in start[:64])


def _is_json(start: bytes) -> bool:
    """Tell whether a file is a JSON document, or has a JSON document in each line."""
    if re.match(rb"\[\s*[\[{]", start):
        return True
    if not re.match(rb'\{\s*["}]', start):
        return False
    line = start.splitlines()[0].strip()
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line == b"{" or bool(re.match(rb'\{\s*"[^"]*"\s*:', line))


def python_line(code: str, path: str) -> str:
    """Return a shell command that runs Python code on a file; {new} is a Parquet file beside it."""
    stem = re.sub(r"(\.\w{1,7})?(\.(gz|bz2|zst|lz4|br))?$", "", path)
    code = code.format(path=repr(path), new=repr(f"{stem}.parquet"))
    quoted = f'"{code}"' if PLAIN_PATH.fullmatch(path) else shlex.quote(code)
    return f"python -c {quoted}"
