"""Names of folders such as year=2013; the columns in the names are the keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

import pyarrow as pa

# Hive, Spark, pyarrow, DuckDB and polars write this for a missing value in the name of a folder.
MISSING = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def keys_of(folders: Iterable[str]) -> dict[str, str | None]:
    """Parse names of folders such as year=2013 to keys and values; None is a missing value."""
    pairs = [name.split("=", 1) for name in folders if "=" in name[1:]]
    return {unquote(key): None if value == MISSING else unquote(value) for key, value in pairs}


def folder_name(key: str, value: str | None) -> str:
    """Return the name of a folder, e.g. from%2Fto=XL%2E for the key "from/to" and value "XL."."""
    text = MISSING if value is None else _percent_encoded(value)
    if text[-1:] in (".", " "):  # Windows ignores these at the end
        text = f"{text[:-1]}%{ord(text[-1]):02X}"
    return f"{_percent_encoded(key)}={text}"


def _percent_encoded(text: str) -> str:
    """Percent-encode the characters of a string, except those that every system accepts."""
    return "".join(c if c.isalnum() or c in " -_.,+" else quote(c, safe="") for c in text)


def key_type(values: Sequence[str | None]) -> pa.DataType:
    """Return int64 if all values are integers without leading zeros, and string otherwise."""
    present = [value for value in values if value is not None]
    is_number = present and all(WHOLE_NUMBER.fullmatch(value) for value in present)
    return pa.int64() if is_number else pa.string()
