"""Columns with several labels in a row, in engines: expressions give what `transform` gives."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support.encoder_oracle import UNKNOWN_RULES
from support.strategies import examples

LABELS = ["a", "b", "c", "é€"]
ROWS = st.lists(
    st.none() | st.lists(st.sampled_from([*LABELS, None]), max_size=4), min_size=1, max_size=8
)
OPTIONS = st.fixed_dictionaries(
    {
        "handle_missing": st.sampled_from(["ignore", "indicator", "error", "propagate"]),
        "handle_unknown": st.sampled_from(UNKNOWN_RULES),
        "min_frequency": st.none() | st.integers(1, 3),
        "max_categories": st.none() | st.integers(1, 3),
        "dtype": st.sampled_from(["bool", "float32"]),
    }
)


def fitted_on(rows, options):
    """Return a fitted encoder, or None if the options do not allow the rows or each other."""
    if options["handle_missing"] == "propagate":
        options = {**options, "dtype": "float32"}
    try:
        empty: object = "" if "sep" in options else []  # a row that shows the kind of the column
        return Encoder(["g"], **options).fit({"g": [empty, *rows]})
    except ValueError:
        return None


@pytest.mark.filterwarnings("ignore::onehot_fast.UnknownValueWarning")
@pytest.mark.filterwarnings("ignore:no text of column")
@pytest.mark.parametrize("form", ["list", "array", "text", "categorical"])
@pytest.mark.parametrize("lazily", [False, True])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.5)
@example(fitted=[["a", "b"]], rows=[["c"], ["a", "a"], [], None], options={
    "handle_missing": "ignore", "handle_unknown": "error", "min_frequency": None,
    "max_categories": None, "dtype": "bool"})  # fmt: skip
def test_expressions_of_polars_give_what_transform_gives(form, lazily, fitted, rows, options):
    """They also fail where `transform` does, whichever single feature a query selects."""
    pl = pytest.importorskip("polars", "1.32")
    if form in ("text", "categorical"):
        options = {**options, "sep": "|"}
        fitted, rows = ([_text(row) for row in each] for each in (fitted, rows))
    elif form == "array":
        rows = [None if row is None else (row + [None] * 4)[:4] for row in rows]
    encoder = fitted_on(fitted, options)
    if encoder is None:
        return
    dtype = {
        "list": pl.List(pl.String), "array": pl.Array(pl.String, 4),
        "text": pl.String(), "categorical": pl.Categorical(),
    }[form]  # fmt: skip
    frame = pl.DataFrame({"g": pl.Series(rows, dtype=dtype, strict=False)})
    try:
        features = encoder.expressions(frame)
    except ValueError:
        assert not encoder.schema.n_features  # nothing could raise the error
        return
    table = frame.lazy() if lazily else frame
    try:
        expected = encoder.transform({"g": rows}, output="numpy")
    except ValueError:
        for feature in features:
            with pytest.raises(pl.exceptions.PolarsError, match="'g'"):
                table.select(feature).lazy().collect()
        return
    result = table.select(features).lazy().collect()
    assert result.columns == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(result.to_numpy().reshape(expected.shape), expected)


def _text(row):
    """Return labels as a text, which has no missing label."""
    return row if row is None else "|".join(filter(None, row))


VALUES = [
    ("Int64", [3, -(2**62), 5]),
    ("UInt8", [0, 255]),
    ("Float64", [0.5, float("nan"), -0.0]),
    ("Boolean", [True, False]),
    ("Date", [datetime.date(2024, 2, 29), datetime.date(1969, 1, 1)]),
    ("Binary", [b"a", b"\x00"]),
    ("Decimal", [Decimal("1.25"), Decimal("2.50")]),
]


@pytest.mark.parametrize(("dtype", "values"), VALUES, ids=[name for name, _ in VALUES])
def test_labels_of_every_kind_are_compared_in_polars(dtype, values):
    pl = pytest.importorskip("polars", "1.32")
    kind = pl.Decimal(10, 2) if dtype == "Decimal" else getattr(pl, dtype)
    rows = [values, values[:1], [], None, [values[-1], None]]
    frame = pl.DataFrame({"g": pl.Series(rows, dtype=pl.List(kind))})
    encoder = Encoder(["g"], handle_missing="indicator", handle_unknown="indicator").fit(frame[:2])
    expected = encoder.transform(frame, output="numpy")
    np.testing.assert_array_equal(frame.select(encoder.expressions(frame)).to_numpy(), expected)


def test_expressions_reject_a_column_without_lists():
    """The error names the column, its dtype and what was expected."""
    pl = pytest.importorskip("polars", "1.32")
    encoder = Encoder(["g"]).fit({"g": [["a"], ["b"]]})
    with pytest.raises(TypeError, match="'g' must have lists, as in fit, got dtype String"):
        encoder.expressions(pl.DataFrame({"g": ["a"]}))
