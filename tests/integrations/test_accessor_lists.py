"""Rows of several labels, by `.onehot.multi_hot`: lists of Python and of Arrow, and texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("scipy")

from frame_strategies import TEXT  # noqa: E402  after the skips above

import onehot_fast  # noqa: E402
from onehot_fast.integrations.pandas import read_lists  # noqa: E402

letters = st.sampled_from(["a", "b", "c", "d", None])


def counted(rows: list[list[Any] | None], labels: list[Any]) -> np.ndarray[Any, Any]:
    """Return how often each label is in each row: the oracle."""
    table = [[(row or []).count(label) for label in labels] for row in rows]
    return np.array(table, np.int64).reshape(len(rows), len(labels))


class TestMultiHot:
    """Rows of several labels."""

    LISTS = (
        object,
        pd.ArrowDtype(pa.list_(pa.string())),
        pd.ArrowDtype(pa.large_list(pa.large_string())),
        pd.ArrowDtype(pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    )

    @given(
        rows=st.lists(st.none() | st.lists(letters, max_size=4), min_size=1, max_size=15),
        start=st.integers(0, 3),
        dtype=st.sampled_from(LISTS),
    )
    def test_lists(self, rows: Any, start: int, dtype: Any) -> None:
        """Lists of Python and of Arrow, sliced ones too; missing rows and labels count nothing."""
        series = pd.Series([["cut off"], *rows], dtype=dtype).iloc[start:]
        rows = [["cut off"], *rows][start:]
        labels = sorted({label for row in rows for label in row or [] if label is not None})

        counts = series.onehot.multi_hot(mode="count")
        present = series.onehot.multi_hot()

        assert counts.columns.tolist() == present.columns.tolist() == labels
        assert counts.index.equals(series.index)
        expected = counted(rows, labels)
        np.testing.assert_array_equal(counts.to_numpy(), expected)
        np.testing.assert_array_equal(present.to_numpy(), expected > 0)
        assert set(map(str, counts.dtypes)) <= {"int64"}
        assert set(map(str, present.dtypes)) <= {"bool"}

    @pytest.mark.parametrize("dtype", ["int8", "uint64"])
    def test_numbers_are_labels_too(self, dtype: str) -> None:
        """Arrow's integers are labels here, and classes for `multi_hot`; a null is neither."""
        lists = pd.ArrowDtype(pa.list_(getattr(pa, dtype)()))
        series = pd.Series([[3, None], None, [1, 3]], dtype=lists)

        assert series.onehot.multi_hot(dtype=int).to_dict("list") == {1: [0, 0, 1], 3: [1, 0, 1]}
        classes = onehot_fast.multi_hot(series, 4, dtype=int)
        assert classes.tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]

    def test_integers_of_arrow_are_not_copied(self) -> None:
        """The classes are read where the lists lie."""
        series = pd.Series([[3, 1], [2]], dtype=pd.ArrowDtype(pa.list_(pa.int32())))
        values = np.asarray(pa.array(series.array).flatten())

        assert np.shares_memory(read_lists(series).elements, values)

    def test_fixed_size_lists(self) -> None:
        """A null list has room for elements, which do not count."""
        series = pd.Series(
            [["a", "b"], None, ["b", None]], dtype=pd.ArrowDtype(pa.list_(pa.string(), 2))
        )

        assert series.onehot.multi_hot(dtype=int).to_dict("list") == {
            "a": [1, 0, 0],
            "b": [1, 0, 1],
        }

    @given(
        rows=st.lists(st.none() | st.lists(st.sampled_from("abc"), max_size=3), max_size=20),
        dtype=st.sampled_from([*TEXT, "category"]),
    )
    def test_separated_texts(self, rows: Any, dtype: Any) -> None:
        """What pandas' ``str.get_dummies`` finds, without its column for an empty label."""
        texts = [None if row is None else "|".join(row) for row in rows]
        labels = sorted({label for row in rows for label in row or []})
        series = pd.Series(texts, dtype=object).astype(dtype)

        frame = series.onehot.multi_hot("|", mode="count")

        assert frame.columns.tolist() == labels
        np.testing.assert_array_equal(frame.to_numpy(), counted(rows, labels))

    @pytest.mark.parametrize("output", ["pandas", "numpy", "csr"])
    def test_forms_and_categories(self, output: Any) -> None:
        """The labels in the order in which they were declared; others are skipped."""
        series = pd.Series(["a,z", None, "b,a,a"], index=[5, 6, 7])

        result = series.onehot.multi_hot(",", categories=["b", "no", "a"], output=output)

        values = result.toarray() if output == "csr" else np.asarray(result)
        assert values.astype(int).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 1]]

    def test_a_dtype_declares_the_labels(self) -> None:
        """As everywhere, the categories of a categorical dtype."""
        dtype = pd.CategoricalDtype(["b", "a"])

        frame = pd.Series(["a"]).onehot.multi_hot("|", categories=dtype)

        assert frame.columns.tolist() == ["b", "a"]

    @pytest.mark.parametrize(
        ("rows", "options", "kind", "message"),
        [
            (["a"], {}, TypeError, "strings need sep="),
            ([1], {"sep": "|"}, TypeError, "with sep= every row is a str or None"),
            (["a"], {"sep": ""}, ValueError, "sep is empty"),
            (["a"], {"sep": "|", "mode": "all"}, ValueError, "mode"),
            (["a"], {"sep": "|", "output": "xml"}, ValueError, "output"),
            (["a"], {"sep": "|", "dtype": "O"}, TypeError, "is not a Boolean"),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_refuses(
        self, rows: Any, options: dict[str, Any], kind: type[Exception], message: str
    ) -> None:
        """The error names the row or the option."""
        with pytest.raises(kind, match=message):
            pd.Series(rows).onehot.multi_hot(**options)
