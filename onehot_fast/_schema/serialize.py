"""Convert the options and the learned statistics of an encoder to and from JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import secrets
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from onehot_fast._arguments.messages import error_at, shown, with_article
from onehot_fast._categories.categories import Categories
from onehot_fast._categories.keys import NEVER_MISSING, is_missing, name_keys
from onehot_fast._categories.scalar_json import Json, from_json, to_json
from onehot_fast._runtime.utils import MAX_QUOTED, UNREADABLE, reason_of, warn
from onehot_fast._schema.option_checks import DropValue
from onehot_fast._schema.options import OPTIONS, Options, option_names
from onehot_fast._schema.statistics import (
    ColumnStatistics,
    InputTable,
    TableStatistics,
    checked_count,
)
from onehot_fast._version import __version__

FORMAT = "onehot_fast.Encoder"
COMMAND_FORMAT = "onehot_fast.command"  # of earlier releases: see `cli.old_documents`
# Version 2 added the remainder, handle_unknown="warn" and the writer; version 3 the input table;
# version 4 columns with several labels in a row, and the option sep.
VERSION = 4
# The forms of the rows of such a column, and whether they are texts with a separator.
LABEL_FORMS = {"lists": False, "texts": True}
# Types written without conversion (JSON has no NaN or infinity), and types read without one.
AS_THEY_ARE = {str, int, bool}
PLAIN = {*AS_THEY_ARE, float, type(None)}
# Names and prefixes are part of every feature name: without a limit, the total length of all
# names could grow with the square of the length of the document.
MAX_NAME_LETTERS = 10_000
# The maximum length of the name of a type, which may contain names that the user chose. Libraries
# parse some names in quadratic time.
MAX_TYPE_LETTERS = 4_000
PREFIXES = option_names(["names"])


class NotJSONError(ValueError):
    """The document of an encoder is not JSON."""


class NotAnEncoderError(ValueError):
    """A JSON document is not a valid encoder. The message names the invalid part."""


@contextlib.contextmanager
def reading(where: str) -> Iterator[None]:
    """Convert errors in a `with` block to NotAnEncoderError. The message includes `where`."""
    try:
        yield
    except NotAnEncoderError:
        raise
    except UNREADABLE as error:
        reason = reason_of(error)
        raise NotAnEncoderError(f"the text is not a complete encoder: {where}: {reason}") from error


@contextlib.contextmanager
def writing(where: str) -> Iterator[None]:
    """Add the part of the encoder to the errors of `to_json` in a `with` block."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise error_at(where, error) from error


def dumps(
    encoded: tuple[Hashable, ...] | None, options: Options, state: TableStatistics | None
) -> str:
    """Return an encoder of the columns `encoded` as JSON; `state` is None if it is not fitted."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written by": f"onehot_fast {__version__}",
        "columns": None if encoded is None else [*map(_name_to_json, encoded)],
        "options": _options_to_json(options),
        "fitted": None if state is None else _state_to_json(state),
    }
    try:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    except ValueError as error:  # an integer of thousands of digits
        raise ValueError(f"the encoder cannot be saved as JSON: {error}") from error


def _read_document(text: str | bytes) -> dict[str, Any]:
    """Return the parsed document; raise an error if its format or version is unknown."""
    if not isinstance(text, str | bytes | bytearray):
        hint = "; use Encoder.load for a file" if hasattr(text, "__fspath__") else ""
        raise TypeError(f"the text must be a str or bytes, got {with_article(text)}{hint}")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        # Each version of Python has its own words for a RecursionError.
        is_deep = isinstance(error, RecursionError)
        reason = "it is nested too deeply" if is_deep else error
        raise NotJSONError(
            f"the text must be JSON ({reason}), got {text[:40]!r};"
            " use Encoder.load(path) for a file"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        is_command = isinstance(document, dict) and document.get("format") == COMMAND_FORMAT
        hint = (
            "; only the onehot-fast command reads an encoder of this format: convert it with"
            " onehot-fast encode IN --encoder OLD.json --save-encoder NEW.json -o OUT"
        )
        raise ValueError(
            f"the text must be a result of Encoder.to_json, with the 'format' {FORMAT!r}, got"
            f" {text[:40]!r}{hint if is_command else ''}"
        )
    version = document.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        writer = str(document.get("written by", "an unknown release"))[:MAX_QUOTED]
        raise ValueError(
            f"the document version must be at most {VERSION} for onehot_fast {__version__}, got"
            f" {shown(version)}, written by {writer}; upgrade onehot_fast"
        )
    return document


def loads(
    text: str | bytes,
) -> tuple[list[Hashable] | None, dict[str, Any], TableStatistics | None]:
    """Return the columns and the options for `Encoder`, and the statistics of `fit`, if any."""
    document = _read_document(text)
    with reading("the document"):
        encoded, chosen, fitted = document["columns"], document["options"], document["fitted"]
    with reading("'columns'"):
        columns = None if encoded is None else _names_from_json(_list(encoded))
    options = {}
    with reading("'options'"):
        for name, value in chosen.items():
            if name not in OPTIONS:
                raise ValueError(f"option {shown(name)} does not exist")
            with reading(f"option {name!r}"):
                options[name] = _option_from_json(name, value)
    return columns, options, None if fitted is None else _state_from_json(fitted)


def _list(source: Json) -> list[Json]:
    """Return `source`; raise an error if it is not a list."""
    if not isinstance(source, list):
        raise TypeError(f"expected a list, got {with_article(source)}: {shown(source)}")
    return source


def _names_from_json(source: list[Json]) -> list[Hashable]:
    """Return the names of columns; raise an error if a name appears twice."""
    names = [_name_from_json(name) for name in source]
    if len(set(name_keys(names))) < len(names):
        raise ValueError(f"column names must differ from each other, got {shown(names)}")
    return names


def _name_from_json(source: Json) -> Hashable:
    """Return the name of a column, or a prefix; raise an error if it is too long."""
    return _checked_name(from_json(source))


def _name_to_json(name: Hashable) -> Json:
    """Return the JSON form of the name of a column; raise an error if it is too long."""
    return to_json(_checked_name(name))


def _checked_name(name: Hashable) -> Hashable:
    """Return the name of a column, or a prefix; raise an error if it is too long."""
    if len(letters := str(name)) > MAX_NAME_LETTERS:
        raise ValueError(
            f"a name or prefix in JSON must have at most {MAX_NAME_LETTERS:,} letters, got"
            f" {len(letters):,}: {shown(name)}; rename the column, or pass a shorter prefix="
        )
    return name


def _options_to_json(options: Options) -> Json:
    """Return the options that differ from their defaults as JSON."""
    chosen = {}
    for name, value in options.chosen():
        with writing(f"option {name!r}"):
            chosen[name] = _option_to_json(name, value)
    return chosen


def _option_to_json(option: str, value: Any) -> Json:
    """Return the JSON form of the value of an option, or of a mapping from columns to values."""
    if isinstance(value, Mapping):
        pairs = [[_name_to_json(name), _option_to_json(option, v)] for name, v in value.items()]
        return {"per column": pairs}
    if option == "categories":
        return "auto" if value is None else [to_json(item) for item in value]
    if isinstance(value, DropValue):
        return [to_json(value.value)]
    if isinstance(value, np.dtype):
        return value.name if value.isnative else value.str
    return _checked_name(value) if option in PREFIXES else value


def _option_from_json(option: str, source: Json) -> Any:
    if not isinstance(source, dict):
        return _value_from_json(option, source)
    pairs = source["per column"]
    return {_name_from_json(name): _value_from_json(option, value) for name, value in pairs}


def _value_from_json(option: str, source: Json) -> Any:
    if isinstance(source, list):
        if option == "drop" and len(source) != 1:
            raise ValueError(f"drop must be a list of one category, got {shown(source)}")
        return [from_json(item) for item in source]
    if isinstance(source, dict):
        raise TypeError(f"the value for a column must not be a dict, got {shown(source)}")
    if option == "dtype" and isinstance(source, str):
        _import_dtype(source)
    return _name_from_json(source) if option in PREFIXES else source


def _import_dtype(name: str) -> None:
    """Import ml_dtypes if NumPy does not know a dtype, such as "bfloat16", without it."""
    if not name.isidentifier() or len(name) > MAX_QUOTED:
        return
    try:
        np.dtype(name)
    except TypeError:
        with contextlib.suppress(ImportError):
            importlib.import_module("ml_dtypes")


def drop_as_passed(value: str | DropValue | None) -> Any:
    """Return `drop` as the user passes it, e.g. the rule "first", or the category ``["first"]``."""
    if not isinstance(value, DropValue):
        return value
    is_plain = value.value not in (*OPTIONS["drop"].rules, None) and not isinstance(
        value.value, list
    )
    return value.value if is_plain else [value.value]


def _state_to_json(state: TableStatistics) -> Json:
    """Return the statistics of a table as JSON."""
    pairs = zip(state.names, state.columns, strict=True)
    _warn_of_long_types(state)
    columns = []
    for name, learned in pairs:
        with writing(f"column {shown(name)}"):
            columns.append({"name": _name_to_json(name), **_learned_to_json(learned)})
    table: Json = None
    if state.input is not None:
        with writing("the names of the columns"):
            names = [to_json(name) for name in state.input.names]
        table = {"named": state.input.has_names, "columns": names}
    return {"rows": state.n_rows, "input": table, "columns": columns}


def _warn_of_long_types(state: TableStatistics) -> None:
    """Warn if the name of a type is too long to be saved; only the type is lost."""
    pairs = zip(state.names, state.columns, strict=True)
    lost = [name for name, v in pairs if any(len(kind) > MAX_TYPE_LETTERS for kind in v.types)]
    if lost:
        warn(
            f"column {shown(lost[0])}{' and others' if lost[1:] else ''}: the name of the type has"
            f" more than {MAX_TYPE_LETTERS:,} letters; the saved encoder will decode such a column"
            " to the type of its categories"
        )


def _learned_to_json(learned: ColumnStatistics) -> dict[str, Json]:
    """Return the statistics of one column as JSON, with the declared categories first."""
    learned = learned.sorted_after(learned.n_declared or 0)
    categories, items = learned.categories, learned.categories.tolist()
    is_plain = set(map(type, items)) <= AS_THEY_ARE
    types = sorted(kind for kind in learned.types if len(kind) <= MAX_TYPE_LETTERS)
    # Categories determine their type, unless there are none.
    kind = {} if len(categories) or not categories.kind_name else {"type": categories.kind_name}
    forms = [form for form, is_split in LABEL_FORMS.items() if is_split == learned.is_split]
    return {
        **kind,
        **({"types": types} if types else {}),
        **({"labels": forms[0]} if learned.is_ragged else {}),
        "declared": learned.n_declared,
        "conflict": learned.conflict,
        "categories": items if is_plain else [to_json(item) for item in items],
        "counts": learned.counts.tolist(),
    }


def _state_from_json(source: Json) -> TableStatistics:
    """Return the statistics of a table from JSON."""
    with reading("'fitted'"):
        documents, n_rows = _list(source["columns"]), checked_count(source["rows"])
        names = _names_from_json([column["name"] for column in documents])
        table = _input_from_json(source.get("input"), names)
    learned = []
    for name, document in zip(names, documents, strict=True):
        with reading(f"column {shown(name)}"):
            learned.append(_learned_from_json(document))
    return TableStatistics(tuple(names), tuple(learned), n_rows, table)


def _input_from_json(source: Json, encoded: list[Hashable]) -> InputTable | None:
    """Return the `InputTable` from JSON; raise an error if it lacks an encoded column."""
    if source is None:
        return None
    names = [from_json(name) for name in _list(source["columns"])]
    keys = name_keys(encoded)
    known = {*keys}
    if [key for key in name_keys(names) if key in known] != keys:
        raise ValueError("'input' must list all encoded columns, in the same order as 'fitted'")
    if type(source["named"]) is not bool:
        raise TypeError(f"'named' must be true or false, got {shown(source['named'])}")
    return InputTable(tuple(names), source["named"])


def _learned_from_json(source: Json) -> ColumnStatistics:
    """Return the statistics of one column from JSON."""
    items = _list(source["categories"])
    if not set(map(type, items)) <= PLAIN:
        items = [from_json(item) for item in items]
    if not set(map(type, items)) <= NEVER_MISSING:
        hash(tuple(items))  # raises TypeError for unhashable items
        if any(map(is_missing, items)):
            raise ValueError("a category must not be a missing value")
    categories, repeated = Categories.distinct(items)
    if not items and "type" in source:
        categories = Categories.empty(source["type"])
    counts = np.array([*map(checked_count, _list(source["counts"]))], np.int64)
    if repeated is not None or counts.shape != (len(categories),):
        raise ValueError("'categories' must be distinct, with one of 'counts' for each category")
    n_declared, conflict = source["declared"], source["conflict"]
    if type(conflict) is not bool:
        raise TypeError(f"'conflict' must be true or false, got {shown(conflict)}")
    if n_declared is not None:
        n_declared = min(checked_count(n_declared), len(categories))
    types = _list(source.get("types", []))
    for name in types:
        if not isinstance(name, str) or len(name) > MAX_TYPE_LETTERS:
            raise ValueError(
                f"a type name must be a str of at most {MAX_TYPE_LETTERS:,} letters, got"
                f" {shown(name)}"
            )
    form = source.get("labels")
    if "labels" in source and form not in LABEL_FORMS:
        raise ValueError(f"'labels' must be one of {[*LABEL_FORMS]}, got {shown(form)}")
    return ColumnStatistics(
        categories,
        counts,
        n_declared,
        conflict,
        types=frozenset(types),
        is_ragged=form is not None,
        is_split=form is not None and LABEL_FORMS[form],
    )


def save(path: str | os.PathLike[str], text: str) -> None:
    """Write a file completely, or leave an existing file as it was, even if the process crashes."""
    target = os.path.realpath(path)  # follow symbolic links, as open() does
    temporary = f"{target}.{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        with open(temporary, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):  # name the path of the caller, not the temporary file
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
