"""How tables of polars are read and made, and ``Series.onehot`` against `to_dummies`."""

import datetime

import numpy as np
import pytest
from hypothesis import given

from support.libraries import assert_read

pl = pytest.importorskip("polars")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast._categories.values import read_column  # noqa: E402
from onehot_fast.adapter import PassThrough  # noqa: E402
from onehot_fast.integrations.polars import wrap  # noqa: E402
from onehot_fast.table import read_table  # noqa: E402
from support.polars_strategies import INTEGERS, LETTERS, series  # noqa: E402  after the skip above
from support.programs import WITHOUT_PYARROW, run  # noqa: E402

ENDS = [datetime.date.min, datetime.date.max]
WIDE = [0, None, 2**64 - 1, 2**63]
EXAMPLES = {
    # A category may appear only behind the first rows.
    "many texts": (pl.Series(["a"] * 20_000 + ["b", "c"] * 5), ["a"] * 20_000 + ["b", "c"] * 5),
    "extremes": (pl.Series(WIDE, dtype=pl.UInt64), WIDE),
    "null": (pl.Series([None, None]), [None, None]),
    "nan": (pl.Series([float("nan"), None]), [None, None]),
    "empty": (pl.Series([], dtype=pl.Float64), []),
    "days at both ends": (pl.Series(ENDS), ENDS),
}


class TestRead:
    """Series and DataFrames in."""

    @pytest.mark.parametrize(("column", "values"), EXAMPLES.values(), ids=EXAMPLES)
    def test_rare_values_are_read(self, column, values):
        assert_read(column, values)

    def test_a_categorical_has_the_categories_that_occur(self):
        whole = pl.Series([f"value {i}" for i in range(100)], dtype=pl.Categorical)
        read = read_column(whole.gather([99, 50, 99])).encode()

        assert read.categories.take(read.codes).tolist() == ["value 99", "value 50", "value 99"]
        assert len(read.categories) == 2
        assert not read.declared
        assert_read(whole[:0], [])
        assert_read(pl.concat([whole[:1], whole[99:]], rechunk=False), ["value 0", "value 99"])

    @pytest.mark.parametrize(
        ("count", "dtype", "message"),
        [
            (1, pl.Time, "nanoseconds"),
            (1, pl.Datetime("ns", "UTC"), "nanoseconds"),
            (2**31 - 1, pl.Date, "years outside 1 to 9999"),
            (-719_163, pl.Date, "years outside 1 to 9999"),
            (2**62, pl.Datetime("us", "UTC"), "years outside 1 to 9999"),
            (253_402_300_799_000, pl.Datetime("ms", "Pacific/Kiritimati"), "years outside"),
            (-62_135_596_800_000, pl.Datetime("ms", "America/Los_Angeles"), "years outside"),
        ],
    )
    def test_times_that_python_cannot_represent_are_rejected(self, count, dtype, message):
        """An error is raised before polars panics."""
        whole = pl.Series([count], dtype=pl.Int32 if dtype == pl.Date else pl.Int64)
        with pytest.raises(ValueError, match=f"has {message}"):
            read_column(whole.cast(dtype)).encode()

    @pytest.mark.parametrize("kind", [pl.Datetime, pl.Duration])
    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_the_lowest_time_is_not_missing(self, kind, unit):
        """In NumPy it is NaT, in polars it is not null, and its conversion to Python panics."""
        frame = pl.DataFrame({"k": pl.Series([-(2**63), 0]).cast(kind(unit))})
        with pytest.raises(ValueError, match=r"column 'k'.*-2\*\*63"):
            Encoder(["k"]).fit(frame)
        encoder = Encoder(["k"]).fit(frame[1:])
        with pytest.raises(ValueError, match="column 'k'"):
            encoder.transform(frame)

    @pytest.mark.skipif(not hasattr(pl, "Categories"), reason="came with polars 1.32")
    @pytest.mark.parametrize("physical", [pl.UInt8, pl.UInt16, pl.UInt32])
    def test_named_categories(self, physical):
        """A Categorical of its own categories does not equal pl.Categorical, and is one."""
        dtype = pl.Categorical(pl.Categories(f"sizes {physical}", physical=physical))
        table = pl.DataFrame(
            {"k": pl.Series(["S", None, "L", "S"], dtype=dtype), "n": [1, 2, 3, 4]}
        )

        assert read_table(table).encodable == (True, False)
        assert table.onehot().to_dict(as_series=False) == {
            "k_L": [False, False, True, False],
            "k_S": [True, False, False, True],
            "n": [1, 2, 3, 4],
        }

    def test_texts_and_categories_are_encodable(self):
        schema = {
            "text": pl.String, "enum": pl.Enum(["a"]), "category": pl.Categorical,
            "bytes": pl.Binary, "whole": pl.Int8, "real": pl.Float32, "truth": pl.Boolean,
            "day": pl.Date, "list": pl.List(pl.String), "vector": pl.List(pl.Float32),
            "array": pl.Array(pl.String, 2), "lists": pl.List(pl.List(pl.String)),
        }  # fmt: skip
        table = read_table(pl.DataFrame(schema=schema))

        assert table.names == tuple(schema)
        encodable = [
            name for name, chosen in zip(table.names, table.encodable, strict=True) if chosen
        ]
        assert encodable == ["text", "enum", "category", "bytes", "list", "array"]

    def test_a_lazy_frame_is_rejected(self):
        with pytest.raises(TypeError, match=r"got a polars\.LazyFrame, which has no rows"):
            Encoder().fit(pl.LazyFrame({"a": ["x"]}))


class TestWrap:
    """DataFrames out."""

    def test_tables_of_other_libraries_become_polars(self):
        source = read_table({"n": np.array([1, 2]), "s": ["x", None], "m": [1, "x"]})

        result = wrap(source, [PassThrough(name, i) for i, name in enumerate(source.names)])

        assert result.dtypes == [pl.Int64, pl.String, pl.Object]
        assert result.rows() == [(1, "x", 1), (2, None, "x")]

    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            (np.array(["2020-01", "NaT"], "M8[M]"), pl.Date),
            (np.array(["2020-01-01T05", "NaT"], "M8[h]"), pl.Datetime("ms")),
            (np.array(["2020-01-01T05:01:01", "NaT"], "M8[s]"), pl.Datetime("ms")),
            (np.array(["2020-01-01T05:01:01", "NaT"], "M8[10us]"), pl.Datetime("us")),
            (np.array([3, "NaT"], "m8[D]"), pl.Duration("ms")),
        ],
    )
    def test_units_of_time_that_polars_lacks_are_rejected(self, values, dtype):
        result = wrap(read_table({"^t$": values}), [PassThrough("^t$", 0)])

        assert result.schema == {"^t$": dtype}
        np.testing.assert_array_equal(result.to_series().to_numpy(), values)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            ((7,), "must be strings in polars, got 7"),
            (("n", "n"), "must be unique in polars, got 'n' twice"),
        ],
    )
    def test_invalid_names_are_rejected(self, names, message):
        with pytest.raises(ValueError, match=message):
            wrap(read_table({"k": [1]}), [PassThrough(name, 0) for name in names])


class TestEncoder:
    """What the core makes of frames of polars."""

    def test_specials_need_a_substitute(self):
        encoder = Encoder(["k"], handle_unknown="indicator").fit(pl.DataFrame({"k": ["a"]}))
        encoded = encoder.transform(pl.DataFrame({"k": ["a", "z"]}))

        assert encoder.inverse_transform(encoded, unknown="?")["k"].to_list() == ["a", "?"]
        with pytest.raises(TypeError, match=r"would mix Special\.UNKNOWN with"):
            encoder.inverse_transform(encoded)

    def test_complex_dtypes_are_rejected(self):
        with pytest.raises(TypeError, match=r"dtype must be one of .*, got complex64"):
            Encoder(dtype="complex64").fit_transform(pl.DataFrame({"k": ["a"]}))


# Those of which the names of the categories are a matter of taste stay out: times, floats, bytes.
NAMED_ALIKE = (pl.String, pl.Categorical, LETTERS, *INTEGERS, pl.Date)


@given(column=series(NAMED_ALIKE))
def test_the_accessor_equals_to_dummies(column):
    actual = column.onehot(dtype=pl.UInt8)

    expected = column.to_dummies()
    expected = expected.drop("k_null", strict=False) if column.null_count() else expected
    more = [name for name in actual.columns if name not in expected.columns]
    # Of no columns, polars compares the heights of frames that never had one.
    assert expected.width == 0 or actual.select(expected.columns).equals(expected)
    assert more == [] or column.dtype == pl.Enum
    assert not any(actual[name].sum() for name in more)


@pytest.mark.parametrize("name", ["*", "^.*$", "^k$", "k\0", ""])
@pytest.mark.parametrize("values", [["a\0b", "a\0€", None], [1, 10**12, None], [True, False, None]])
def test_a_series_may_have_any_name(name, values):
    """Some are patterns, or end at a NUL in C."""
    frame = pl.Series(values).alias(name).onehot(prefix_sep="=")

    assert [column.removeprefix(f"{name}=") for column in frame.columns] == [
        str(value) for value in sorted(values[:2])
    ]
    assert sorted(frame.rows()) == [(False, False), (False, True), (True, False)]
    labels = pl.Series([values]).alias(name).onehot.multi_hot()
    assert labels.columns == [column.removeprefix(f"{name}=") for column in frame.columns]
    assert labels.rows() == [(True, True)]


@pytest.mark.parametrize("dtype", ["complex64", "S1", pl.String, pl.Date, None, "nonsense"])
def test_dtypes_that_polars_lacks_are_rejected(dtype):
    with pytest.raises(TypeError, match="dtype "):
        pl.Series(["a"]).onehot(dtype=dtype)


def test_pyarrow_is_not_needed():
    run(
        WITHOUT_PYARROW
        + """
import datetime
import polars as pl
import onehot_fast.integrations.polars
from onehot_fast import Encoder

texts = ["a", "b", None] * 200
frame = pl.DataFrame({
    "text": texts, "category": pl.Series(texts, dtype=pl.Categorical),
    "enum": pl.Series(texts, dtype=pl.Enum(["a", "b"])), "whole": [1, None, 10**12] * 200,
    "day": [datetime.date(2020, 1, 2)] * 600, "moment": [datetime.datetime(2020, 1, 2)] * 600,
    "bytes": [b"a"] * 600, "real": [1.5] * 600, "truth": [True] * 600,
})
encoder = frame.onehot.fit(frame.columns)
encoded = encoder.transform(frame)
assert encoded.equals(frame.lazy().onehot(encoder).collect())
assert encoded[:1].equals(encoder.transform(frame[:1]))
assert encoder.inverse_transform(encoded).columns == frame.columns
for name in frame.columns:
    assert frame[name].onehot(dtype=pl.UInt8).equals(
        frame.select(pl.col(name).onehot(encoder, layout="struct").struct.unnest()).cast(pl.UInt8)
    )
assert frame.select(pl.col("text").onehot(["a", "b"])).dtypes == [pl.Array(pl.UInt8, 2)]
assert pl.Series(texts).onehot.multi_hot("|").columns == ["a", "b"]
assert pl.Series([texts]).onehot.multi_hot().row(0) == (True, True)
assert "pyarrow" not in sys.modules
try:
    frame["text"].onehot.to_arrow()
except ImportError as error:
    assert "to_arrow() needs pyarrow" in str(error)
else:
    raise AssertionError
"""
    )
