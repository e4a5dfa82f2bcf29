"""One column of text in every container of pandas and polars is one column.

Declared categories keep their order and the categories that do not occur: a categorical dtype, an
Enum, an ordered Arrow dictionary. Other containers hold plain values, in two groups each equal
within itself.
"""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast._categories.values import read_column  # noqa: E402
from support.pandas_types import text_dtypes  # noqa: E402  after the skips above

ROWS = ["L", None, "S", "L"]
LEVELS = ["S", "M", "L"]  # in no alphabetical order, and M does not occur


def arrow_series(array):
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def dictionary(values, *, ordered):
    codes = pa.array([None if row is None else LEVELS.index(row) for row in ROWS], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS, values), ordered=ordered)


def arrow_texts():
    kinds = [pa.string(), pa.large_string()]
    return [*kinds, pa.string_view()] if hasattr(pa, "string_view") else kinds


def declared():
    """Return a dict from names to Series that declare their categories."""
    found = {
        f"{'un' * (not ordered)}ordered {levels.dtype!r}": pd.Series(
            pd.Categorical(ROWS, dtype=pd.CategoricalDtype(levels, ordered))
        )
        for ordered in (False, True)
        for levels in [
            pd.Index(LEVELS, dtype=object),
            *(pd.Index(LEVELS, dtype=dtype) for dtype in text_dtypes()),
            *(pd.Index(arrow_series(pa.array(LEVELS, kind))) for kind in arrow_texts()[:2]),
        ]
    }
    for kind in arrow_texts():
        found[f"ordered Arrow dictionary of {kind}"] = arrow_series(dictionary(kind, ordered=True))
    found["Enum"] = pl.Series("c", ROWS, dtype=pl.Enum(LEVELS))
    return found


def plain():
    """Return a dict from names to Series of plain values."""
    found = {"object": pd.Series(ROWS, dtype=object), "String": pl.Series("c", ROWS)}
    for dtype in text_dtypes():
        found[repr(dtype)] = pd.Series(ROWS, dtype=dtype)
    for kind in arrow_texts():
        found[f"Arrow {kind}"] = arrow_series(pa.array(ROWS, kind))
        found[f"Arrow dictionary of {kind}"] = arrow_series(dictionary(kind, ordered=False))
    found["Categorical"] = pl.Series("c", ROWS, dtype=pl.Categorical)
    if hasattr(pl, "Categories"):
        named = pl.Categorical(pl.Categories("sizes", physical=pl.UInt8))
        other = pl.Series("c", ["M", "Z"], dtype=named)  # whose codes come before
        found["named Categories"] = pl.concat([other, pl.Series("c", ROWS, dtype=named)])[2:]
    return found


GROUPS = {"declared": (declared, LEVELS), "plain": (plain, ["L", "S"])}
CASES = [(group, name) for group, (make, _) in GROUPS.items() for name in make()]


def table_of(series):
    return series.to_frame("c") if isinstance(series, pd.Series) else series.to_frame()


def objects(column):
    """Return the values of a column of any container; None is missing."""
    return [None if pd.isna(value) else value for value in column.to_list()]


@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_column_is_the_same_whatever_carries_it(group, name):
    """The same features, order, unused categories, names, codes, and decoded values."""
    make, expected = GROUPS[group]
    series = make()[name]
    table = table_of(series)
    codes = [-1 if row is None else expected.index(row) for row in ROWS]
    ones = [[int(code == i) for i in range(len(expected))] for code in codes]

    encoder = Encoder(["c"], dtype="uint8").fit(table)

    assert encoder.categories["c"].tolist() == expected
    assert [*encoder.get_feature_names_out()] == [f"c_{value}" for value in expected]
    np.testing.assert_array_equal(encoder.transform(table, "numpy"), ones)
    np.testing.assert_array_equal(read_column(series).encode().codes >= 0, np.array(codes) >= 0)
    by_values = encoder.transform({"c": ROWS}, "codes")
    np.testing.assert_array_equal(encoder.transform(table, "codes"), by_values)
    features = table.onehot(["c"], dtype="uint8")
    assert [*features.columns] == [f"c_{value}" for value in expected]
    np.testing.assert_array_equal(features.to_numpy(), ones)
    decoded = encoder.inverse_transform(encoder.transform(table))["c"]
    assert objects(decoded) == ROWS
    dropped = Encoder(["c"], drop="first", handle_missing="indicator").fit(table)
    assert [*dropped.get_feature_names_out()] == [*(f"c_{v}" for v in expected[1:]), "c_(missing)"]
    assert read_column(series).encode().declared is (group == "declared")


@pytest.mark.parametrize(("group", "name"), CASES)
def test_encoders_of_all_containers_encode_all_containers(group, name):
    """An encoder that was fitted to one of them gives the same rows for all of the group."""
    make, expected = GROUPS[group]
    tables = {other: table_of(series) for other, series in make().items()}
    encoder = Encoder(["c"]).fit(tables[name])
    matrix = encoder.transform({"c": ROWS}, "numpy")
    assert matrix.shape == (len(ROWS), len(expected))
    for table in tables.values():
        np.testing.assert_array_equal(encoder.transform(table, "numpy"), matrix)


@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_series_gives_the_features_of_its_frame(group, name):
    """The accessor of a Series gives the features of its frame, with and without options.

    An unordered Arrow dictionary gives those of `get_dummies`.
    """
    make, expected = GROUPS[group]
    series = make()[name]
    if name.startswith("Arrow dictionary"):
        expected = LEVELS
    for options in ({}, {"handle_missing": "indicator"}, {"drop": "first"}):
        labels = expected[1:] if "drop" in options else [*expected]
        labels += ["(missing)"] * ("handle_missing" in options)
        found = series.onehot(prefix="c", **options)
        assert [*found.columns] == [f"c_{label}" for label in labels]
        rows = [[row == label for label in labels] for row in ROWS]
        if "handle_missing" in options:
            rows = [[*row[:-1], value is None] for row, value in zip(rows, ROWS, strict=True)]
        assert found.to_numpy().tolist() == rows
