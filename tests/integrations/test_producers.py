"""A column is the same column whatever carries it.

Every producer below carries one logical table. In one group, the producers *declare* the
categories, their order, and a category that no row has: a pandas category, an Enum, an ordered
Arrow dictionary. In the other group they are *plain*: strings, a polars Categorical, an unordered
dictionary. All producers of a group must give the same features, order, names, codes and decoded
values, and an encoder that is fitted to one of them must encode all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onehot_fast import Column, Encoder

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

import onehot_fast.integrations.pandas  # noqa: E402  registers the accessors
import onehot_fast.integrations.polars  # noqa: E402, F401

SIZES = ["S", "M", "L", "unused"]  # in an order that sorting would change
ROWS = ["L", None, "S", "M", "S", "L"]
NUMBERS = [1, 2, 3, 4, 5, 6]


class Capsule:
    """A table with Arrow data and nothing else, as any library may return."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def pandas_frame(column: Any) -> Any:
    return pd.DataFrame({"size": column, "n": NUMBERS})


def polars_frame(column: Any) -> Any:
    return pl.DataFrame({"size": column, "n": NUMBERS})


def arrow_table(column: Any) -> Any:
    return pa.table({"size": column, "n": NUMBERS})


def arrow_in_pandas(column: Any) -> Any:
    array = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return pandas_frame(pd.Series(pd.arrays.ArrowExtensionArray(array)))


def dictionary(
    known: list[str],
    ordered: bool,
    *,
    index: Any = None,
    value: Any = None,
    rows: list[str | None] = ROWS,
) -> Any:
    codes = [None if row is None else known.index(row) for row in rows]
    indices = pa.array(codes, pa.int8() if index is None else index)
    values = pa.array(known, pa.string() if value is None else value)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=ordered)


def dictionary_in_chunks(ordered: bool) -> Any:
    """Return chunks with equal dictionaries, of which each is an object of its own."""
    parts = ROWS[:2], ROWS[2:]
    return pa.chunked_array([dictionary(SIZES, ordered, rows=part) for part in parts])


def chunks_with_other_dictionaries() -> Any:
    """Return chunks whose dictionaries have other values in another order."""
    return pa.chunked_array(
        [
            dictionary(["L"], False, rows=ROWS[:2]),
            dictionary(["M", "S"], False, rows=ROWS[2:4]),
            dictionary(["S", "unused", "L"], False, rows=ROWS[4:]),
        ]
    )


def duckdb_relation(kind: str) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TYPE size AS ENUM ('S', 'M', 'L', 'unused')")
    connection.register("given", arrow_table(ROWS))
    connection.execute(f"CREATE TABLE t AS SELECT size::{kind} AS size, n FROM given")
    return connection.sql("SELECT * FROM t ORDER BY n")


def narwhals_frame(frame: Any) -> Any:
    nw = pytest.importorskip("narwhals")
    return nw.from_native(frame, eager_only=True)


def nanoarrow_array(table: Any) -> Any:
    nanoarrow = pytest.importorskip("nanoarrow")
    return nanoarrow.ArrayStream(table)


def dask_frame(frame: Any) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    import dask

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(frame, npartitions=2)


def pandas_category(ordered: bool) -> Any:
    return pd.Categorical(ROWS, SIZES, ordered=ordered)


def category_of_texts(dtype: Any) -> Any:
    return pd.Categorical(ROWS, pd.Index(SIZES, dtype=dtype))


def own_column(source: str, known: list[str]) -> Any:
    codes = np.array([-1 if row is None else known.index(row) for row in ROWS], np.int8)
    return Column(codes, np.array(known, object), source == "category", source)


INDICES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TEXT_TYPES = ["string", "large_string", "string_view"]
NAMED = hasattr(pl, "Categories")
PRODUCERS: dict[str, dict[str, Callable[[], Any]]] = {
    "declared": {
        "pandas category": lambda: pandas_frame(pandas_category(ordered=False)),
        "pandas ordered category": lambda: pandas_frame(pandas_category(ordered=True)),
        "pandas category of nullable strings": lambda: pandas_frame(category_of_texts("string")),
        "pandas category of Arrow strings": lambda: pandas_frame(
            category_of_texts(pd.ArrowDtype(pa.string()))
        ),
        "pandas ordered dictionary": lambda: arrow_in_pandas(dictionary(SIZES, True)),
        "pandas ordered dictionary in chunks": lambda: arrow_in_pandas(dictionary_in_chunks(True)),
        "pandas ordered dictionary of views": lambda: arrow_in_pandas(
            dictionary(SIZES, True, value=pa.string_view())
        ),
        "polars Enum": lambda: polars_frame(pl.Series(ROWS, dtype=pl.Enum(SIZES))),
        **{
            f"pyarrow ordered dictionary of {index}": lambda index=index: arrow_table(
                dictionary(SIZES, True, index=getattr(pa, index)())
            )
            for index in INDICES
        },
        **{
            f"pyarrow ordered dictionary, {text}": lambda text=text: arrow_table(
                dictionary(SIZES, True, value=getattr(pa, text)())
            )
            for text in TEXT_TYPES
        },
        "pyarrow ordered dictionary in chunks": lambda: arrow_table(dictionary_in_chunks(True)),
        "pyarrow record batch": lambda: arrow_table(dictionary(SIZES, True)).to_batches()[0],
        "pyarrow reader": lambda: arrow_table(dictionary_in_chunks(True)).to_reader(),
        "PyCapsule": lambda: Capsule(arrow_table(dictionary(SIZES, True))),
        "nanoarrow": lambda: nanoarrow_array(arrow_table(dictionary(SIZES, True))),
        "DuckDB ENUM": lambda: duckdb_relation("size"),
        "narwhals of pandas": lambda: narwhals_frame(pandas_frame(pandas_category(ordered=True))),
        "narwhals of polars": lambda: narwhals_frame(
            polars_frame(pl.Series(ROWS, dtype=pl.Enum(SIZES)))
        ),
        "narwhals of pyarrow": lambda: narwhals_frame(arrow_table(dictionary(SIZES, True))),
        "Dask category": lambda: dask_frame(pandas_frame(pandas_category(ordered=True))),
        "Dask ordered dictionary": lambda: dask_frame(arrow_in_pandas(dictionary(SIZES, True))),
        "mapping of a Categorical": lambda: {"size": pandas_category(False), "n": NUMBERS},
        "mapping of an Enum": lambda: {
            "size": pl.Series(ROWS, dtype=pl.Enum(SIZES)), "n": NUMBERS
        },
        "mapping of a dictionary": lambda: {"size": dictionary(SIZES, True), "n": NUMBERS},
        "mapping of a Column": lambda: {"size": own_column("category", SIZES), "n": NUMBERS},
    },
    "plain": {
        "pandas objects": lambda: pandas_frame(pd.Series(ROWS, dtype=object)),
        "pandas str": lambda: pandas_frame(pd.Series(ROWS, dtype="str")),
        "pandas string[python]": lambda: pandas_frame(pd.Series(ROWS, dtype="string[python]")),
        "pandas string[pyarrow]": lambda: pandas_frame(pd.Series(ROWS, dtype="string[pyarrow]")),
        **{
            f"pandas {text} of Arrow": lambda text=text: arrow_in_pandas(
                pa.array(ROWS, getattr(pa, text)())
            )
            for text in TEXT_TYPES
        },
        "pandas dictionary": lambda: arrow_in_pandas(dictionary(SIZES, False)),
        "polars String": lambda: polars_frame(pl.Series(ROWS)),
        "polars Categorical": lambda: polars_frame(pl.Series(ROWS, dtype=pl.Categorical)),
        **(
            {
                "polars named Categories": lambda: polars_frame(
                    pl.Series(ROWS, dtype=pl.Categorical(pl.Categories("sizes")))
                )
            }
            if NAMED
            else {}
        ),
        **{
            f"pyarrow {text}": lambda text=text: arrow_table(pa.array(ROWS, getattr(pa, text)()))
            for text in TEXT_TYPES
        },
        **{
            f"pyarrow dictionary of {index}": lambda index=index: arrow_table(
                dictionary(SIZES, False, index=getattr(pa, index)())
            )
            for index in INDICES
        },
        **{
            f"pyarrow dictionary, {text}": lambda text=text: arrow_table(
                dictionary(SIZES, False, value=getattr(pa, text)())
            )
            for text in TEXT_TYPES
        },
        "pyarrow dictionary in chunks": lambda: arrow_table(dictionary_in_chunks(False)),
        "pyarrow chunks with other dictionaries": lambda: arrow_table(
            chunks_with_other_dictionaries()
        ),
        "pyarrow runs": lambda: arrow_table(
            pa.array(ROWS, pa.run_end_encoded(pa.int32(), pa.string()))
        ),
        "pyarrow reader": lambda: arrow_table(chunks_with_other_dictionaries()).to_reader(),
        "PyCapsule": lambda: Capsule(arrow_table(ROWS)),
        "nanoarrow": lambda: nanoarrow_array(arrow_table(ROWS)),
        "DuckDB VARCHAR": lambda: duckdb_relation("VARCHAR"),
        "DuckDB ENUM as an Arrow table": lambda: duckdb_relation("size").to_arrow_table(),
        "Arrow table of polars": lambda: pa.table(polars_frame(pl.Series(ROWS))),
        "Arrow table of a polars Categorical": lambda: pa.table(
            polars_frame(pl.Series(ROWS, dtype=pl.Categorical))
        ),
        "narwhals of pandas": lambda: narwhals_frame(pandas_frame(pd.Series(ROWS, dtype="str"))),
        "narwhals of polars": lambda: narwhals_frame(polars_frame(pl.Series(ROWS))),
        "narwhals of pyarrow": lambda: narwhals_frame(arrow_table(ROWS)),
        "Dask objects": lambda: dask_frame(pandas_frame(pd.Series(ROWS, dtype=object))),
        "Dask strings of Arrow": lambda: dask_frame(arrow_in_pandas(pa.array(ROWS))),
        "records": lambda: [dict(size=s, n=n) for s, n in zip(ROWS, NUMBERS, strict=True)],
        "mapping of lists": lambda: {"size": ROWS, "n": NUMBERS},
        "mapping of objects": lambda: {"size": np.array(ROWS, object), "n": np.array(NUMBERS)},
        "mapping of StringDType": lambda: {
            "size": np.array(ROWS, np.dtypes.StringDType(na_object=None)), "n": NUMBERS
        },
        "mapping of a Column": lambda: {"size": own_column("hash", SIZES), "n": NUMBERS},
    },
}  # fmt: skip
FEATURES = {
    "declared": ["size_S", "size_M", "size_L", "size_unused"],
    "plain": ["size_L", "size_M", "size_S"],
}
KNOWN = {group: [name.removeprefix("size_") for name in names] for group, names in FEATURES.items()}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"drop": "first"},
    {"drop": "most_frequent", "handle_missing": "indicator"},
    {"max_categories": 2},
]


def parameters(group: str, name: str) -> Any:
    """Return the parameters of a test of one producer."""
    return pytest.param(group, name, id=f"{group}-{name}")


of_every_producer = pytest.mark.parametrize(
    ("group", "name"),
    [parameters(group, name) for group, made in PRODUCERS.items() for name in made],
)


@pytest.fixture(autouse=True)
def single_thread():
    """Run Dask in this thread, which starts nothing."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


def computed(result: Any) -> Any:
    return result.compute() if hasattr(result, "compute") else result


def mapping(group: str) -> dict[str, Any]:
    """Return what the producers of a group are compared with."""
    column = ROWS if group == "plain" else own_column("category", SIZES)
    return {"size": column, "n": NUMBERS}


def decoded_values(frame: Any) -> list[Any]:
    """Return the decoded column as Python objects; every missing value is None."""
    column = computed(frame)["size"]
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [value if isinstance(value, str) else None for value in values]


@of_every_producer
def test_features_and_codes_do_not_depend_on_the_producer(group, name):
    """The names, the order and the unused category, by every option that depends on the order."""
    produce = PRODUCERS[group][name]
    for options in OPTIONS:
        encoder = Encoder(["size"], **options).fit(produce())
        expected = Encoder(["size"], **options).fit(mapping(group))

        assert [*encoder.features["name"]] == [*expected.features["name"]]
        assert encoder.categories["size"].tolist() == KNOWN[group]
        for output in ("numpy", "codes", "indices"):
            found = np.asarray(computed(encoder.transform(produce(), output)))
            np.testing.assert_array_equal(found, expected.transform(mapping(group), output))


@of_every_producer
def test_parts_of_several_producers_are_learned(group, name):
    """`partial_fit` and `merge` of a producer with the others of its group."""
    produce = PRODUCERS[group][name]
    whole = Encoder(["size"]).fit(mapping(group))
    streamed = Encoder(["size"]).partial_fit(mapping(group)).partial_fit(produce())
    merged = Encoder(["size"]).fit(produce()).merge(whole)
    for encoder in (streamed, merged):
        assert [*encoder.features["name"]] == FEATURES[group]


@of_every_producer
def test_decoded_values_do_not_depend_on_the_producer(group, name):
    produce = PRODUCERS[group][name]
    encoder = Encoder(["size"], remainder="drop").fit(produce())
    if "nanoarrow" in name or name in ("PyCapsule", "pyarrow reader"):
        encoded = encoder.transform(arrow_table(ROWS))
    else:
        encoded = encoder.transform(produce())
    decoded = encoder.inverse_transform(encoded)
    assert decoded_values(decoded) == ROWS
    matrix = encoder.transform(mapping(group), "numpy")
    assert encoder.inverse_transform(matrix)["size"].tolist() == ROWS


@pytest.mark.parametrize("fitted", [*PRODUCERS])
def test_every_producer_is_encoded_by_the_encoder_of_another(fitted):
    """An encoder of declared or of plain categories encodes the rows of every producer alike."""
    encoder = Encoder(["size"]).fit(mapping(fitted))
    expected = encoder.transform(mapping(fitted), "numpy")
    for name, produce in itertools.chain(*(made.items() for made in PRODUCERS.values())):
        found = np.asarray(computed(encoder.transform(produce(), "numpy")))
        np.testing.assert_array_equal(found, expected, err_msg=name)


WITH_ACCESSORS = [
    parameters(group, name)
    for group, made in PRODUCERS.items()
    for name in made
    if name.partition(" ")[0] in ("pandas", "polars")
]
# `Series.onehot` has the order of `pandas.get_dummies`, which keeps that of any dictionary.
ORDER_OF_GET_DUMMIES = {("plain", "pandas dictionary"): ["S", "M", "L", "unused"]}


@pytest.mark.parametrize(("group", "name"), WITH_ACCESSORS)
def test_the_accessors_of_a_series_and_a_frame_agree(group, name):
    frame = PRODUCERS[group][name]()
    known = ORDER_OF_GET_DUMMIES.get((group, name), KNOWN[group])
    of_series, of_frame = frame["size"].onehot(prefix="size"), frame.onehot(["size"])

    assert [*of_series.columns] == [f"size_{value}" for value in known]
    assert [*of_frame.columns] == [*FEATURES[group], "n"]
    matrix = frame["size"].onehot.to_numpy()
    order = [known.index(value) for value in KNOWN[group]]
    np.testing.assert_array_equal(matrix[:, order], of_frame.to_numpy()[:, :-1].astype(bool))
    np.testing.assert_array_equal(
        frame.onehot.to_numpy(["size"])[:, : len(order)].astype(bool), matrix[:, order]
    )


def test_get_dummies_keeps_the_order_of_a_dictionary():
    """Pandas itself does, which is why one accessor differs from the other.

    pandas fails for missing values in a dictionary, so there are none here.
    """
    frame = PRODUCERS["plain"]["pandas dictionary"]().dropna()
    known = ORDER_OF_GET_DUMMIES["plain", "pandas dictionary"]
    dummies = pd.get_dummies(frame, columns=["size"])
    assert dummies.columns.tolist() == ["n", *(f"size_{value}" for value in known)]


def test_times_with_offsets_of_a_relation_are_rejected():
    """DuckDB exports them without their offsets, which makes different values equal."""
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(
        "SELECT ('10:00:00' || o)::TIMETZ AS t FROM (VALUES ('+01'), ('+02')) v(o)"
    )

    with pytest.raises(TypeError, match=r"column 't'.*TIME WITH TIME ZONE.*REPLACE"):
        Encoder(["t"]).fit(relation)

    as_text = relation.project('* REPLACE ("t"::VARCHAR AS "t")')
    assert Encoder().fit(as_text).transform(as_text, "numpy").tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("n_rows", [0, 6])
def test_a_relation_gives_its_enum(n_rows):
    """A relation of DuckDB declares its enum's categories, also without rows or beside a struct."""
    pytest.importorskip("duckdb")
    relation = duckdb_relation("size").limit(n_rows).project("n, size, {'inner': size} AS s")
    encoder = Encoder(["size"]).fit(relation)

    assert [*encoder.features["name"]] == FEATURES["declared"]
    back = encoder.inverse_transform(encoder.transform(relation))
    assert back.column_names == ["n", "size", "s"]
    assert back["size"].to_pylist() == ROWS[:n_rows]
    assert back["size"].type.ordered
    plain = Encoder(["size"], categories={"size": SIZES}).fit(relation.to_arrow_table())
    assert [*plain.features["name"]] == FEATURES["declared"]
