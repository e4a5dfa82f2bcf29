"""``Series.onehot``: what polars' own `to_dummies` gives, and every form of it."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pl = pytest.importorskip("polars")

from polars_strategies import INTEGERS, LETTERS, matrix, series  # noqa: E402  after the skip above
from programs import WITHOUT_PYARROW, run  # noqa: E402

import onehot_fast.integrations.polars as polars_door  # noqa: E402
from onehot_fast import Encoder  # noqa: E402

# Those of which the names of the categories are a matter of taste stay out: times, floats, bytes.
NAMED_ALIKE = (pl.String, pl.Categorical, LETTERS, *INTEGERS, pl.Date)
# The first three are patterns, the fourth ends within itself in C.
STRANGE_NAMES = ["*", "^.*$", "^k$", "k\0", ""]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "drop": st.sampled_from([None, "first", "last", "if_binary", "most_frequent"]),
        "handle_missing": st.sampled_from(["ignore", "indicator"]),
        "handle_unknown": st.sampled_from(["error", "ignore", "indicator", "infrequent"]),
        "min_frequency": st.sampled_from([None, 2, 0.3]),
        "max_categories": st.sampled_from([None, 1, 3]),
    },
)


class TestFrame:
    """The plain call."""

    @given(column=series(NAMED_ALIKE))
    def test_equals_to_dummies(self, column: Any) -> None:
        """The names and values are polars'; ours has no column of nulls, and all of an Enum's."""
        actual = column.onehot(dtype=pl.UInt8)

        expected = column.to_dummies()
        expected = expected.drop("k_null", strict=False) if column.null_count() else expected
        more = [name for name in actual.columns if name not in expected.columns]
        # Of no columns, polars compares the heights of frames that never had one.
        assert expected.width == 0 or actual.select(expected.columns).equals(expected)
        assert more == [] or column.dtype == pl.Enum
        assert not any(actual[name].sum() for name in more)

    @given(column=series(), dtype=st.sampled_from([pl.Boolean, pl.Int16, pl.Float32, "float64"]))
    def test_dtype_changes_nothing_else(self, column: Any, dtype: Any) -> None:
        """The ones and zeros of every dtype are the same, and so are the names."""
        plain, other = column.onehot(dtype="uint8"), column.onehot(dtype=dtype)

        assert other.columns == plain.columns
        assert len(set(other.dtypes)) <= 1
        assert other.cast(pl.UInt8).equals(plain)

    def test_columns_are_named_by_prefix_and_category(self) -> None:
        """By default the prefix is the name of the Series, as in to_dummies."""
        column = pl.Series("size", ["S", "L"])

        assert column.onehot().schema == {"size_L": pl.Boolean, "size_S": pl.Boolean}
        assert column.onehot("is", prefix_sep="=").columns == ["is=L", "is=S"]
        assert column.alias("").onehot().columns == ["_L", "_S"]

    @pytest.mark.parametrize("name", STRANGE_NAMES)
    @pytest.mark.parametrize(
        "values", [["a\0b", "a\0€", None], [1, 10**12, None], [True, False, None]]
    )
    def test_a_series_may_have_any_name(self, name: str, values: list[Any]) -> None:
        """Also those that polars takes for patterns, and those that it cannot export."""
        frame = pl.Series(values).alias(name).onehot(prefix_sep="=")

        assert [column.removeprefix(f"{name}=") for column in frame.columns] == [
            str(value) for value in sorted(values[:2])
        ]
        assert sorted(frame.rows()) == [(False, False), (False, True), (True, False)]

    def test_the_columns_outlive_their_frame(self) -> None:
        """Each keeps the memory of all, and the last one gives it back."""
        column = pl.Series("k", np.arange(100_000) % 7).onehot()["k_3"]
        gc.collect()
        others = [pl.Series("k", np.arange(100_000) % 5).onehot() for _ in range(3)]

        assert column.sum() == 100_000 // 7 + 1
        assert len(others) == 3


class TestForms:
    """Array, sparse array, Arrow batch and codes."""

    @given(column=series(), options=OPTIONS)
    def test_every_form_is_what_an_encoder_gives(
        self, column: Any, options: dict[str, Any]
    ) -> None:
        """The frame, the array and the sparse arrays, from an encoder fitted to the same list."""
        pytest.importorskip("scipy")
        if column.dtype == pl.Enum:
            options = {"categories": column.dtype.categories.to_list(), **options}
        encoder = Encoder(["k"], dtype="int8", **options)
        expected = encoder.fit_transform({"k": column.to_list()})

        frame = column.onehot(dtype="int8", num_threads=2, **options)
        array = column.onehot.to_numpy(**options)

        np.testing.assert_array_equal(matrix(frame, len(column)), expected)
        assert (
            frame.columns == list(encoder.get_feature_names_out().tolist())
            or column.dtype.is_temporal()
        )
        np.testing.assert_array_equal(array, expected)
        assert (array.dtype, array.flags.c_contiguous) == (np.float32, True)
        for form in (column.onehot.to_csr, column.onehot.to_csc):
            sparse = form(dtype=pl.Float64, **options)
            np.testing.assert_array_equal(sparse.toarray(), expected)
            assert sparse.dtype == np.float64

    @given(column=series(), options=OPTIONS)
    def test_arrow_batch_holds_the_same(self, column: Any, options: dict[str, Any]) -> None:
        """Bit-packed Booleans of the names of the frame, without nulls."""
        pytest.importorskip("pyarrow")
        frame = column.onehot(**options)

        batch = column.onehot.to_arrow(**options)

        batch.validate(full=True)
        assert batch.to_pydict() == frame.to_dict(as_series=False)

    @given(column=series())
    def test_codes_are_the_columns(self, column: Any) -> None:
        """The position of the column that is on in the row, -1 where the value is missing."""
        codes = column.onehot.codes()

        matrix = column.onehot.to_numpy()
        assert codes.dtype.kind in "iu"
        np.testing.assert_array_equal(matrix.any(axis=1), codes.astype(int) >= 0)
        np.testing.assert_array_equal(codes < 0, column.is_null().to_numpy())
        rows = np.flatnonzero(codes.astype(int) >= 0)
        assert matrix[rows, codes[rows]].all()

    def test_the_codes_of_an_enum_are_its_own(self) -> None:
        """Where there are no nulls they are read where they lie, and nobody can write to them."""
        column = pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"]))

        codes = column.onehot.codes()

        assert np.shares_memory(codes, column.to_physical().to_numpy())
        assert not codes.flags.writeable

    @pytest.mark.parametrize("form", ["__call__", "to_numpy", "to_csr"])
    def test_missing_values_propagate(self, form: str) -> None:
        """The row of a missing value is NaN in every column."""
        call = getattr(pl.Series(["b", None]).onehot, form)
        result = call(dtype="float64", handle_missing="propagate")
        values = result.toarray() if form == "to_csr" else np.asarray(result)

        np.testing.assert_array_equal(values, [[1.0], [np.nan]])

    def test_a_category_can_be_dropped(self) -> None:
        """By its value, or in a list where that is the name of a rule."""
        column = pl.Series("place", ["last", "first", "a"])

        assert column.onehot(drop="a").columns == ["place_first", "place_last"]
        assert column.onehot(drop=["last"]).columns == ["place_a", "place_first"]


@pytest.mark.parametrize("form", ["__call__", "to_arrow"])
@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"order": "a"}, TypeError, "'order' is no option"),
        ({"drop": "z"}, ValueError, r"drop\['size'\] = 'z' is not a category of the column"),
        ({"categories": ["a"]}, ValueError, "column 'size', row 1: 'b' is unknown"),
        ({"handle_missing": "error"}, ValueError, "column 'size', row 2: the value is missing"),
        ({"handle_missing": "propagate"}, ValueError, "needs a float dtype"),
        ({"max_categories": "2"}, TypeError, "max_categories = '2' is a str"),
        ({"prefix": 1}, TypeError, "prefix = 1 is an int"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_is_refused(
    form: str, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    """The error names the option, or the column and the row."""
    if form == "to_arrow":
        pytest.importorskip("pyarrow")
    column = pl.Series("size", ["a", "b", None])

    with pytest.raises(kind, match=message):
        getattr(column.onehot, form)(**options)


@pytest.mark.parametrize("dtype", ["complex64", "S1", pl.String, pl.Date, None, "nonsense"])
def test_dtypes_without_a_polars_column_are_refused(dtype: Any) -> None:
    """A column holds Booleans or real numbers."""
    with pytest.raises(TypeError, match="dtype = "):
        pl.Series(["a"]).onehot(dtype=dtype)


def test_two_names_that_are_one_text() -> None:
    """A number and a text are two categories, but one name."""
    column = pl.Series("k", [1, "1"], dtype=pl.Object)

    with pytest.raises(ValueError, match="two output columns would be named 'k_1'"):
        column.onehot()


def test_pyarrow_is_not_needed() -> None:
    """All but `to_arrow`, which says what it needs."""
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
encoder = frame.lazy().onehot.fit(frame.columns)
encoded = encoder.transform(frame)
assert encoded.equals(frame.lazy().onehot(encoder).collect())
assert encoded[:1].equals(encoder.transform(frame[:1]))
assert encoder.inverse_transform(encoded).columns == frame.columns
for name in frame.columns:
    assert frame[name].onehot(dtype=pl.UInt8).equals(
        frame.select(pl.col(name).onehot(encoder, "struct").struct.unnest()).cast(pl.UInt8)
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


def test_the_function_is_the_namespace() -> None:
    """`onehot(data)` is `data.onehot()`, for those whose type checker knows no namespaces."""
    frame = pl.DataFrame({"size": ["S", "L", None], "n": [1, 2, 3]})
    for data in (frame, frame["size"]):
        assert polars_door.onehot(data).equals(data.onehot())
    encoder = polars_door.LazyFrameNamespace(frame.lazy()).fit(["size"])
    assert polars_door.onehot(frame.lazy(), encoder).collect().equals(frame.onehot(encoder))
    encoded = frame.select(polars_door.onehot(pl.col("size"), ["S", "L"], "struct", prefix="is"))
    assert encoded.unnest("size").columns == ["is_S", "is_L"]
    with pytest.raises(TypeError, match="data is a list; accepted are a DataFrame, LazyFrame"):
        polars_door.onehot([1])
