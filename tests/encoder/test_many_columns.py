"""The time of every operation is linear in the number of encoded columns."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from onehot_fast import Encoder
from support.libraries import LIBRARIES
from support.work import CountedName, work_of

FEW, MANY = 100, 400
# Linear work grows by a factor of 4, quadratic work by 16.
MAX_FACTOR = 4.4


def columns_of(n_columns: int, name: type[str]) -> dict[Any, list[str]]:
    """Return columns of two categories."""
    return {name(f"c{i}"): ["a", "b"] for i in range(n_columns)}


def with_options(table: Any) -> Encoder:
    """Return an encoder with options for each column, in which every second has no features."""
    names = list(table)
    options: dict[str, Any] = {
        "prefix": {name: f"p{i}" for i, name in enumerate(names)},
        "drop": dict.fromkeys(names, "first"),
        "max_categories": dict.fromkeys(names[::2], 1),
    }
    return Encoder(names, **options).fit(table)


def first_row(table: Any) -> list[dict[str, str]]:
    """Return the first row as a record."""
    return [{name: table[name][0] for name in table}]


def unknown(table: Any) -> dict[str, list[str]]:
    """Return a table of unknown values."""
    return {name: ["x", "y"] for name in table}


# Each function receives a table, and an encoder of all its columns that ignores unknown values.
CALLS: dict[str, Callable[[Encoder, Any], Any]] = {
    "fit": lambda encoder, table: Encoder(list(table)).fit(table),
    "fit of default columns": lambda encoder, table: Encoder().fit(table),
    "options of each column": lambda encoder, table: with_options(table).schema,
    "partial_fit": lambda encoder, table: encoder.merge().partial_fit(table).schema,
    "merge": lambda encoder, table: encoder.merge(encoder, encoder).schema,
    "equality": lambda encoder, table: encoder == encoder.merge(),
    "check": lambda encoder, table: encoder.check(table),
    "first transform": lambda encoder, table: encoder.merge().transform(table),
    "second transform": lambda encoder, table: encoder.transform(table),
    "csr": lambda encoder, table: encoder.transform(table, "csr"),
    "indices": lambda encoder, table: encoder.transform(table, "indices"),
    "records": lambda encoder, table: encoder.transform(first_row(table)),
    "unknown values": lambda encoder, table: encoder.transform(unknown(table), "csr"),
    "inverse_transform": lambda encoder, table: encoder.inverse_transform(encoder.transform(table)),
    "columns without features": lambda encoder, table: with_options(table).inverse_transform(
        with_options(table).transform(table), infrequent="a"
    ),
    "names": lambda encoder, table: (encoder.get_feature_names_out(), repr(encoder)),
    "listings": lambda encoder, table: (encoder.features, encoder.summary(), encoder.vocabulary),
    "JSON": lambda encoder, table: Encoder.from_json(with_options(table).to_json()).schema,
}


def assert_linear(
    call: Callable[[Encoder, Any], Any], make: Callable[[Any], Any], name: Any
) -> None:
    """Raise an AssertionError if the work of a call grows faster than the number of columns."""
    work = []
    for n_columns in (FEW, MANY):
        columns = columns_of(n_columns, name)
        table = make(columns)
        encoder = Encoder(list(columns), handle_unknown="ignore").fit(table)
        call(encoder, table)  # the first call imports modules
        work.append(work_of(lambda: call(encoder, table)))  # noqa: B023
    assert work[1] < MAX_FACTOR * work[0], work


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_work_is_linear_in_the_number_of_columns(call):
    """The names count each comparison, so a scan in C code is found too."""
    assert_linear(call, dict, CountedName)


def expressions(encoder: Encoder, table: Any) -> Any:
    return encoder.expressions(table)


def lazily(encoder: Encoder, table: Any) -> Any:
    import_module("onehot_fast.integrations.polars")  # registers the namespace
    return table.lazy().onehot(encoder).collect_schema()


def in_arrow(encoder: Encoder, table: Any) -> Any:
    from onehot_fast.integrations import arrow

    return arrow.decode(arrow.encode(table, encoder), encoder)


def decoded(encoder: Encoder, table: Any) -> Any:
    return encoder.inverse_transform(encoder.transform(table))


def through_categories(encoder: Encoder, table: Any) -> Any:
    return encoder.inverse_transform(encoder.transform(table, "category"))


OF_FRAMES = [
    *((library, call) for library in LIBRARIES for call in (decoded,)),
    *((library, through_categories) for library in ("pandas", "polars", "arrow", "narwhals")),
    ("polars", expressions), ("narwhals", expressions), ("polars", lazily), ("arrow", in_arrow),
]  # fmt: skip


@pytest.mark.parametrize(("library", "call"), OF_FRAMES)
def test_work_is_linear_for_frames(library, call):
    assert_linear(call, LIBRARIES[library]().table, str)


def test_work_is_linear_in_columns_that_are_not_encoded():
    def call(encoder: Encoder, table: Any) -> Any:
        every_second = Encoder(list(table)[::2]).fit(table)
        return every_second.inverse_transform(every_second.transform(table))

    assert_linear(call, LIBRARIES["pandas"]().table, str)


@pytest.mark.parametrize("library", ["polars", "narwhals"])
def test_expressions_read_the_schema_once(library, monkeypatch):
    """`Schema.dtypes` copies all dtypes."""
    table = LIBRARIES[library]().table(columns_of(FEW, str))
    encoder = Encoder(handle_unknown="ignore").fit(table)
    kind, calls = type(table.collect_schema()), []
    dtypes = kind.dtypes
    monkeypatch.setattr(kind, "dtypes", lambda schema: calls.append(1) or dtypes(schema))

    encoder.expressions(table)
    assert len(calls) <= 2
