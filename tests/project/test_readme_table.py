"""The table of defaults in docs/tables.md agrees with the functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onehot_fast import Encoder, multi_hot, one_hot

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_table_of_defaults_is_correct():
    """The dtype of each function, and its results for a missing and an unknown value."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    sklearn = pytest.importorskip("onehot_fast.integrations.sklearn")
    arrow = pytest.importorskip("onehot_fast.integrations.arrow")
    own = pytest.importorskip("onehot_fast.integrations.pandas")
    pytest.importorskip("onehot_fast.integrations.polars")
    values = ["b", None, "a"]
    series, column = pd.Series(values, name="c"), pl.Series("c", values)
    encoder = Encoder(["c"]).fit({"c": values})
    unknown = {"c": ["z"]}

    def of(expression):
        return np.vstack(column.to_frame().select(expression).to_series().to_list())

    array, struct = pl.col("c").onehot(["a", "b"]), pl.col("c").onehot(["a", "b"], layout="struct")
    # For each row: the result, the position of the missing value, a call with an unknown value.
    calls: dict[str, tuple[Any, Any, Callable[[], Any]]] = {
        "one_hot": (one_hot([1, -1, 0], 2), 1, lambda: one_hot([2], 2)),
        "multi_hot": (
            multi_hot([["b"], [None], ["a"]], categories=["a", "b"]), 1,
            lambda: multi_hot([["z"]], categories=["a", "b"]),
        ),
        "Series.onehot": (
            series.onehot().to_numpy(), 1, lambda: series.onehot(categories=["a"]),
        ),
        ".onehot.to_numpy": (
            series.onehot.to_numpy(), 1, lambda: column.onehot.to_csr(categories=["a"]),
        ),
        "Encoder": (encoder.transform({"c": values}), 1, lambda: encoder.transform(unknown)),
        "Expr.onehot": (
            of(array).astype(np.uint8), 1, lambda: of(pl.col("c").onehot(["a"])),
        ),
        "arrow.one_hot": (
            np.asarray(arrow.one_hot(pa.array(values))), 1,
            lambda: np.asarray(arrow.one_hot(pa.array(["z"]), categories=["a"])),
        ),
        "get_dummies": (own.get_dummies(series).to_numpy(), 1, None),
        "OneHotEncoder": (
            sklearn.OneHotEncoder(sparse_output=False).fit_transform(series.to_frame()), None,
            lambda: sklearn.OneHotEncoder().fit([["a"]]).transform([["z"]]),
        ),
    }  # fmt: skip
    rows = {
        row.split("|")[1]: row.split("|")[2:]
        for row in PAGE.read_text(encoding="utf-8").splitlines()
        if row[:3] == "| `"
    }
    for function, (result, missing, look_up) in calls.items():
        [cells] = [cells for name, cells in rows.items() if name.startswith(f" `{function}")]
        assert str(result.dtype) in cells[0], function
        assert missing is None or not result[missing].any(), function
        if look_up is None:
            assert "cannot occur" in cells[2]
        elif "an error" in cells[2] or "as above" in cells[2]:
            with pytest.raises((ValueError, pl.exceptions.PolarsError), match=r"unknown"):
                look_up()
        else:
            assert not look_up().any(), function
    schema = column.to_frame().lazy().select(array, struct.alias("s")).collect_schema()
    assert schema["c"].inner == pl.UInt8
    assert {field.dtype for field in schema["s"].fields} == {pl.Boolean}
