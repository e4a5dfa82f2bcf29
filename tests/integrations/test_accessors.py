"""The accessors: their options, and every form of a column holds the same.

The plain call and its labels are held against pandas in test_pandas.py.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

from frame_strategies import TEXT, declared, typed  # noqa: E402  after the skips above

import onehot_fast.integrations.pandas  # noqa: E402, F401
from onehot_fast import Encoder  # noqa: E402
from onehot_fast import column as column_module  # noqa: E402
from onehot_fast._categories.categories import Categories  # noqa: E402

BARE = pd.DataFrame({"n": [1, 2, 3], "size": ["S", None, "L"], "kind": list("xyx"), "m": [0, 1, 2]})

letters = st.sampled_from(["a", "b", "c", "d", None])
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


@st.composite
def columns(draw: st.DrawFn) -> Any:
    """Return texts, categories or numbers with missing values."""
    n_rows = draw(st.integers(0, 20))
    numbers = st.none() | st.integers(0, 5)
    kinds = [typed(letters, TEXT, n_rows), declared(n_rows), typed(numbers, ["Int8"], n_rows)]
    return draw(st.one_of(kinds)).rename(draw(st.sampled_from([None, "size", 7])))


class TestOptions:
    """What an encoder can do with one column, the accessor can."""

    @given(series=columns(), prefix=st.none() | st.just("x"))
    def test_drop_first_is_that_of_pandas(self, series: Any, prefix: str | None) -> None:
        """Values and labels, whose dtype stays that of the categories."""
        actual = series.onehot(prefix, drop="first")

        expected = pd.get_dummies(series, prefix=prefix, drop_first=True, dtype=bool)
        pd.testing.assert_frame_equal(actual, expected, check_column_type=prefix is None)

    @given(series=columns(), options=OPTIONS)
    def test_options_are_those_of_the_encoder(self, series: Any, options: dict[str, Any]) -> None:
        """The same columns in the same order as from an encoder that was fitted to the column."""
        frame = series.rename("k").to_frame().astype({"k": "category"})
        expected = Encoder(["k"], prefix="p", dtype="int8", **options).fit_transform(frame)

        actual = series.onehot(prefix="p", dtype="int8", **options)

        np.testing.assert_array_equal(actual.to_numpy(), expected.to_numpy())
        assert actual.shape == expected.shape
        assert [str(label).rpartition("_(")[2] for label in actual if "(" in label] == [
            name.rpartition("_(")[2] for name in expected if "(" in name
        ]

    @given(series=columns(), options=OPTIONS)
    def test_all_forms_hold_the_same(self, series: Any, options: dict[str, Any]) -> None:
        """Array, sparse array and Arrow batch have the columns of the frame."""
        frame = series.onehot(dtype="float32", **options)

        array = series.onehot.to_numpy(**options)
        sparse = series.onehot.to_csr(**options)
        by_column = series.onehot.to_csc(**options)
        batch = series.onehot.to_arrow(**options)

        assert array.flags.c_contiguous
        assert sparse.has_canonical_format
        assert (array.dtype, sparse.dtype) == (np.float32, np.float32)
        np.testing.assert_array_equal(array, frame.to_numpy())
        np.testing.assert_array_equal(sparse.toarray(), frame.to_numpy())
        np.testing.assert_array_equal(by_column.toarray(), frame.to_numpy())
        batch.validate(full=True)
        assert batch.schema.names == list(map(str, frame.columns))
        rows = [column.to_pylist() for column in batch.columns]
        assert rows == frame.to_numpy().T.astype(bool).tolist()

    def test_declared_categories_come_in_their_order(self) -> None:
        """Those that do not occur have a column, what is not declared is told apart."""
        series = pd.Series(["b", "a", None])

        frame = series.onehot(categories=["c", "a"], handle_unknown="indicator", dtype="uint8")

        assert frame.to_dict("list") == {"c": [0, 0, 0], "a": [0, 1, 0], "(unknown)": [1, 0, 0]}

    def test_a_category_can_be_dropped(self) -> None:
        """By its value, or in a list where that is the name of a rule."""
        series = pd.Series(["last", "first", "a"], name="place")

        assert series.onehot(drop="a").columns.tolist() == ["first", "last"]
        assert series.onehot(drop=["last"]).columns.tolist() == ["a", "first"]
        assert series.onehot(drop={"place": "first"}).columns.tolist() == ["first", "last"]

    @pytest.mark.parametrize("form", ["__call__", "to_numpy", "to_csr", "to_csc"])
    def test_missing_values_propagate(self, form: str) -> None:
        """The row of a missing value is NaN in every column."""
        call = getattr(pd.Series(["b", None]).onehot, form)
        result = call(dtype="float64", handle_missing="propagate")
        values = result.toarray() if "to_cs" in form else np.asarray(result)

        np.testing.assert_array_equal(values, [[1.0], [np.nan]])

    @pytest.mark.parametrize(
        ("options", "kind", "message"),
        [
            (
                {"order": "a"},
                TypeError,
                "'order' is no option: accepted are 'categories', 'drop', ",
            ),
            ({"drops": "a"}, TypeError, "did you mean 'drop'?"),
            ({"drop": "z"}, ValueError, r"drop\['size'\] = 'z' is no category of the column"),
            ({"categories": ["a"]}, ValueError, "column 'size', row 1: 'b' is unknown"),
            ({"handle_missing": "error"}, ValueError, "column 'size', row 2: the value is missing"),
            ({"handle_missing": "propagate"}, ValueError, "needs a float dtype"),
            ({"max_categories": "2"}, TypeError, "max_categories = '2' is a str"),
        ],
        ids=lambda value: str(value)[:20],
    )
    @pytest.mark.parametrize("form", ["__call__", "to_arrow"])
    def test_what_cannot_be_is_refused(
        self, form: str, options: dict[str, Any], kind: type[Exception], message: str
    ) -> None:
        """The error names the option, or the column and the row."""
        series = pd.Series(["a", "b", None], name="size")

        with pytest.raises(kind, match=message):
            getattr(series.onehot, form)(**options)

    def test_two_names_in_arrow_that_are_one_text(self) -> None:
        """A number and a text are two categories, but one name."""
        with pytest.raises(ValueError, match="two columns would be named '1'"):
            pd.Series([1, "1"], dtype=object).onehot.to_arrow()


class TestIndex:
    """An Index is a column without row labels."""

    @given(series=columns())
    def test_equals_get_dummies(self, series: Any) -> None:
        """The frame is the one pandas makes of an Index."""
        index = pd.Index(series)

        pd.testing.assert_frame_equal(index.onehot(), pd.get_dummies(index, dtype=bool))

    def test_codes_are_the_indexes_own(self) -> None:
        """A CategoricalIndex is not hashed, nor are its codes copied."""
        index = pd.CategoricalIndex(list("ba"))

        assert np.shares_memory(index.onehot.codes(), index.codes)

    def test_a_multiindex_has_no_categories(self) -> None:
        """The error tells how to get one of its levels."""
        index = pd.MultiIndex.from_tuples([("a", 1)])

        with pytest.raises(TypeError, match="get_level_values"):
            index.onehot()


class TestFrame:
    """The columns of a frame are encoded where they stand."""

    def test_all_texts_by_default(self) -> None:
        """What is not encoded keeps its place and its dtype."""
        frame = BARE.onehot(dtype="uint8")

        assert frame.columns.tolist() == ["n", "size_L", "size_S", "kind_x", "kind_y", "m"]
        pd.testing.assert_frame_equal(frame[["n", "m"]], BARE[["n", "m"]])
        assert frame["size_S"].tolist() == [1, 0, 0]

    def test_options_may_differ_by_column(self) -> None:
        """Every one is a value for all columns, or a dict."""
        frame = BARE.onehot(
            ["size", "m"], prefix={"m": "M"}, prefix_sep=".", drop={"size": "L"}, dtype={"m": float}
        )

        assert frame.columns.tolist() == ["n", "size.S", "kind", "M.0", "M.1", "M.2"]
        assert str(frame["size.S"].dtype) == "bool"
        assert frame["M.1"].tolist() == [0.0, 1.0, 0.0]

    @given(series=columns(), options=OPTIONS)
    def test_equals_the_encoder(self, series: Any, options: dict[str, Any]) -> None:
        """It is an encoder that is fitted to the rows at hand."""
        frame = series.to_frame("k").assign(n=1.5)

        actual = frame.onehot(["k"], **options)

        pd.testing.assert_frame_equal(actual, Encoder(["k"], **options).fit_transform(frame))
        pd.testing.assert_frame_equal(frame.onehot(frame.onehot.fit(["k"], **options)), actual)

    def test_each_column_is_hashed_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Learning and encoding share what was read."""
        hashed = []
        factorize = column_module.factorize_chunks
        monkeypatch.setattr(
            column_module, "factorize_chunks", lambda *read: hashed.append(1) or factorize(*read)
        )
        looked_up = []
        monkeypatch.setattr(Categories, "lookup", lambda *values: looked_up.append(1))

        BARE.astype(object).onehot(["size", "kind"])

        assert (len(hashed), len(looked_up)) == (2, 0)

    def test_an_encoder_brings_its_columns_and_options(self) -> None:
        """What it has learned from other rows is applied."""
        encoder = BARE.onehot.fit(["kind"], handle_unknown="ignore", dtype="uint8")

        frame = pd.DataFrame({"kind": ["z", "y"], "n": [1, 2]}).onehot(encoder)

        assert frame.to_dict("list") == {"kind_x": [0, 0], "kind_y": [0, 1], "n": [1, 2]}

    @pytest.mark.parametrize(
        ("columns", "options", "kind", "message"),
        [
            ("kinds", {}, ValueError, "no column 'kinds': did you mean 'kind'"),
            (["no"], {}, ValueError, "no column 'no'"),
            (None, {"dummy_na": 1}, TypeError, "here it is handle_missing='indicator'"),
            (None, {"order": 1}, TypeError, "'order' is no option: accepted are 'categories'"),
            (Encoder(), {"drop": "first"}, TypeError, "drop is given, and an Encoder"),
        ],
        ids=["name", "absent", "elsewhere", "option", "encoder"],
    )
    def test_refuses(self, columns: Any, options: Any, kind: type[Exception], message: str) -> None:
        """A name is that of a column, an option one of ours, and an Encoder has its own."""
        with pytest.raises(kind, match=message):
            BARE.onehot(columns, **options)


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("scipy.sparse", lambda of: of.to_csr()),
        ("scipy.sparse", lambda of: of.to_csc()),
        ("scipy.sparse", lambda of: of.multi_hot("|", output="csr")),
        ("pyarrow", lambda of: of.to_arrow()),
    ],
    ids=["to_csr", "to_csc", "multi_hot", "to_arrow"],
)
def test_a_missing_library_is_named(
    library: str, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SciPy and pyarrow are asked for only by the forms that are theirs."""
    monkeypatch.setitem(sys.modules, library, None)
    series = pd.Series(["a", None], dtype=object)

    with pytest.raises(ImportError, match=rf"needs {library.split('.')[0]} to be installed"):
        call(series.onehot)
    assert series.onehot.to_numpy().tolist() == [[1.0], [0.0]]
