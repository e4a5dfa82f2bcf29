"""Expressions of polars and narwhals: types, limits and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onehot_fast import Encoder

pl = pytest.importorskip("polars")


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "duckdb"])
def test_the_two_zeros_are_one_value(library: str) -> None:
    nw, other = pytest.importorskip("narwhals"), pytest.importorskip(library)
    frame = pl.DataFrame({"x": [-0.0, 0.0, 1.5, 7.0, None]})
    options = {"min_frequency": 2, "handle_unknown": "indicator"}
    encoder = Encoder(["x"], **options).fit({"x": np.array([0.0, 1.5])})
    native = {
        "pandas": lambda: frame.to_pandas(),
        "pyarrow": lambda: frame.to_arrow(),
        "duckdb": lambda: other.from_arrow(frame.to_arrow()),
    }[library]()
    narwhal = nw.from_native(native)

    found = narwhal.select(encoder.expressions(narwhal)).lazy().collect("polars").to_native()

    np.testing.assert_array_equal(found.to_numpy(), encoder.transform(frame, "numpy"))


@pytest.mark.parametrize("texts", [["1", "2"], [1, 2]])
def test_narwhals_encodes_categories_that_are_texts(texts: list[Any]) -> None:
    """Narwhals casts other categories to texts, so that no number would be found."""
    nw, pd = pytest.importorskip("narwhals"), pytest.importorskip("pandas")
    for ordered in (False, True):
        table = pd.DataFrame({"c": pd.Categorical([*texts, None], ordered=ordered)})
        encoder, frame = Encoder(handle_unknown="ignore").fit(table), nw.from_native(table)
        if texts == ["1", "2"]:
            found = frame.select(encoder.expressions(frame)).to_native()
            pd.testing.assert_frame_equal(found, encoder.transform(table))
        else:
            with pytest.raises(TypeError, match=r"column 'c' .* cast the column"):
                encoder.expressions(frame)


def test_expressions_of_narwhals_cannot_reject_a_value() -> None:
    nw = pytest.importorskip("narwhals")
    frame = nw.from_native(pl.DataFrame({"c": ["a"]}))

    with pytest.raises(ValueError, match=r"narwhals expressions cannot raise"):
        Encoder().fit({"c": ["a"]}).expressions(frame)


@pytest.mark.parametrize("frame", [{"c": ["a"]}, np.array([["a"]])])
def test_only_frames_with_expressions_are_accepted(frame: Any) -> None:
    with pytest.raises(TypeError, match="frame must be a frame of polars or narwhals, got"):
        Encoder().fit({"c": ["a"]}).expressions(frame)


def test_expressions_of_lists_are_rejected() -> None:
    with pytest.raises(TypeError, match=r"column 'c' has dtype List"):
        Encoder().fit({"c": ["a"]}).expressions(pl.DataFrame({"c": [["a"]]}))
