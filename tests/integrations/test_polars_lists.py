"""Rows of several labels in polars: lists, arrays of one width and separated texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pl = pytest.importorskip("polars")

from polars_strategies import matrix  # noqa: E402  after the skip above

import onehot_fast  # noqa: E402
from onehot_fast.integrations.polars import read_lists  # noqa: E402

labels = st.sampled_from(["a", "b", "c", "d", None])
LABELS = pl.Enum(["d", "c", "b", "a", "cut off"])


def counted(rows: list[list[Any] | None], names: list[Any]) -> np.ndarray[Any, Any]:
    """Return how often each label is in each row: the oracle."""
    table = [[(row or []).count(name) for name in names] for row in rows]
    return np.array(table, np.int64).reshape(len(rows), len(names))


def in_chunks(column: Any, cut: int) -> Any:
    """Return the same rows in two chunks."""
    return pl.concat([column[:cut], column[cut:]], rechunk=False) if cut else column


class TestMultiHot:
    """``Series.onehot.multi_hot``."""

    @given(
        rows=st.lists(st.none() | st.lists(labels, max_size=4), max_size=15),
        start=st.integers(0, 3),
        cut=st.integers(0, 5),
        inner=st.sampled_from([pl.String, pl.Categorical, LABELS]),
    )
    def test_lists(self, rows: Any, start: int, cut: int, inner: Any) -> None:
        """Sliced and chunked ones too; missing rows and labels count nothing."""
        rows = [["cut off"], *rows]
        column = in_chunks(pl.Series("k", rows, dtype=pl.List(inner))[start:], cut)
        rows = rows[start:]
        names = sorted({label for row in rows for label in row or [] if label is not None})

        counts = column.onehot.multi_hot(mode="count")
        present = column.onehot.multi_hot()

        assert counts.columns == present.columns == names
        expected = counted(rows, names)
        np.testing.assert_array_equal(matrix(counts, len(rows)), expected)
        np.testing.assert_array_equal(matrix(present, len(rows)), expected > 0)
        assert set(counts.dtypes) <= {pl.Int64}
        assert set(present.dtypes) <= {pl.Boolean}

    @given(
        rows=st.lists(st.none() | st.lists(st.sampled_from("abc"), max_size=3), max_size=20),
        dtype=st.sampled_from([pl.String, pl.Categorical, pl.Categorical(pl.Categories("labels"))]),
        cut=st.integers(0, 5),
    )
    def test_separated_texts(self, rows: Any, dtype: Any, cut: int) -> None:
        """An empty label is none."""
        texts = [None if row is None else "|".join(row) for row in rows]
        names = sorted({label for row in rows for label in row or []})
        column = in_chunks(pl.Series("k", texts, dtype=dtype), cut)

        frame = column.onehot.multi_hot("|", mode="count")

        assert frame.columns == names
        expected = counted(rows, names)
        np.testing.assert_array_equal(matrix(frame, len(rows)), expected)

    @pytest.mark.parametrize("output", ["polars", "numpy", "csr"])
    @pytest.mark.parametrize("categories", [["b", "no", "a"], pl.Enum(["b", "no", "a"])], ids=str)
    def test_forms_and_categories(self, output: Any, categories: Any) -> None:
        """The labels in the order in which they were declared; others are skipped."""
        pytest.importorskip("scipy")
        column = pl.Series(["a,z", None, "b,a,,a"])

        result = column.onehot.multi_hot(",", categories=categories, output=output)

        values = result.toarray() if output == "csr" else np.asarray(result)
        assert values.astype(int).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 1]]

    @pytest.mark.parametrize("dtype", [pl.UInt8, "float32"])
    def test_dtypes(self, dtype: Any) -> None:
        """Those of polars, or of NumPy."""
        frame = pl.Series([["b", "b"], ["a"]]).onehot.multi_hot(mode="count", dtype=dtype)

        assert frame.to_dict(as_series=False) == {"a": [0, 1], "b": [2, 0]}
        assert set(frame.dtypes) == {pl.UInt8 if dtype == pl.UInt8 else pl.Float32}

    def test_numbers_are_labels_too(self) -> None:
        """Integers are labels here, and classes for `multi_hot`; a null is neither."""
        column = pl.Series([[3, None], None, [1, 3]], dtype=pl.List(pl.UInt8))

        frame = column.onehot.multi_hot(dtype=int)
        classes = onehot_fast.multi_hot(column, 4, dtype=int)

        assert frame.to_dict(as_series=False) == {"1": [0, 0, 1], "3": [1, 0, 1]}
        assert classes.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]

    def test_texts_for_multi_hot(self) -> None:
        """The core reads lists of texts, and separated ones, of polars."""
        lists = pl.Series([["a"], None, ["b", "a"]])
        texts = pl.Series(["a", None, "b|a"])
        expected = [[1, 0], [0, 0], [1, 1]]

        assert onehot_fast.multi_hot(lists, categories=["a", "b"]).tolist() == expected
        assert onehot_fast.multi_hot(texts, sep="|", categories=["a", "b"]).tolist() == expected

    def test_arrays_of_one_width(self) -> None:
        """A null array has room for elements, which do not count."""
        rows = [["a", "b"], None, ["b", None]]
        column = pl.Series(rows, dtype=pl.Array(pl.String, 2))

        frame = column.onehot.multi_hot(dtype=int)

        assert frame.to_dict(as_series=False) == {"a": [1, 0, 0], "b": [1, 0, 1]}

    def test_integers_are_not_copied(self) -> None:
        """The classes are read where the lists lie."""
        column = pl.Series([[3, 1], [2]], dtype=pl.List(pl.Int32))

        assert np.shares_memory(read_lists(column).elements, column.explode().to_numpy())

    @pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt64])
    def test_wide_integers(self, dtype: Any) -> None:
        """Those that NumPy has not are read, too; what is beyond int64 is refused by its name."""
        column = pl.Series("k", [[3, None], [1]], dtype=pl.List(dtype))
        far = pl.Series("k", [[2**63, None]], dtype=pl.List(dtype))

        assert read_lists(column).elements.tolist() == [3, -1, 1]
        assert read_lists(column.list.drop_nulls()).elements.tolist() == [3, 1]
        with pytest.raises(ValueError, match=r"Series 'k' of .* has elements beyond int64"):
            read_lists(far)

    @pytest.mark.parametrize("name", ["*", "^k$", "k\0"])
    def test_a_series_may_have_any_name(self, name: str) -> None:
        """Also those that polars takes for patterns, and those that it cannot export."""
        rows = pl.Series([["a"], None, ["b", "a"]]).alias(name)
        texts = pl.Series(["a", None, "b|a"]).alias(name)
        integers = pl.Series([[3, None]]).alias(name)
        expected = {"a": [True, False, True], "b": [False, False, True]}

        assert rows.onehot.multi_hot().to_dict(as_series=False) == expected
        assert texts.onehot.multi_hot("|").to_dict(as_series=False) == expected
        assert read_lists(integers).elements.tolist() == [3, -1]

    def test_labels_of_one_name(self) -> None:
        """A text and a number are two labels, and one name."""
        column = pl.Series([["1"]])

        with pytest.raises(ValueError, match="two columns would be named '1'"):
            column.onehot.multi_hot(categories=["1", 1])

    @pytest.mark.parametrize(
        ("rows", "options", "kind", "message"),
        [
            (["a"], {}, TypeError, "has dtype String; accepted are List and Array"),
            ([1], {"sep": "|"}, TypeError, "with sep= every row is a string"),
            ([["a"]], {"sep": "|"}, TypeError, "with sep= every row is a string"),
            (["a"], {"sep": ""}, ValueError, "sep is empty"),
            (["a"], {"sep": 1}, TypeError, "sep = 1 is an int"),
            (["a"], {"sep": "|", "mode": "all"}, ValueError, "mode"),
            (["a"], {"sep": "|", "output": "pandas"}, ValueError, "output"),
            (["a"], {"sep": "|", "dtype": "O"}, TypeError, "is not a Boolean"),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_refuses(
        self, rows: Any, options: dict[str, Any], kind: type[Exception], message: str
    ) -> None:
        """The error names the dtype of the rows, or the option."""
        with pytest.raises(kind, match=message):
            pl.Series(rows).onehot.multi_hot(**options)
