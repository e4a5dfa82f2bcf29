"""Codes, indices and categorical columns: one number for each category, the same in every call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support.encoder_oracle import (
    INFREQUENT,
    MISSING,
    UNKNOWN,
    Options,
    columns_of,
    meaning,
    refused_row,
)
from support.strategies import policies

VALUES = ["a", "b", "c", "B", "", 1, 2.5, None, float("nan")]
FRAMES = ["pandas", "polars", "pyarrow"]


@st.composite
def cases(draw, pool):
    """Return values to learn, values to encode, and options."""
    lists = st.lists(st.sampled_from(pool), max_size=12)
    train, rows = draw(lists), draw(lists)
    options = Options(**draw(policies()))
    if options.handle_missing == "error":
        train = [value for value in train if value is not None and value == value]
    return train, rows, options


def new_encoder(columns, options):
    return Encoder(columns, dtype="float32", **{**vars(options), "categories": "auto"})


def encoder_of(train, options):
    return new_encoder(["c"], options).fit({"c": train})


def code_of(value, train, options):
    """Return the code of a value; dropped categories have codes too."""
    labels = [label for label, _ in columns_of(train, options) if label != INFREQUENT]
    if value is None or value != value:
        return 0
    found = meaning(value, train, options)
    is_known = any(value in group for _, group in columns_of(train, options))
    if not is_known:
        return 2 if options.handle_unknown == "infrequent" else 1
    return 2 if found == INFREQUENT else 3 + labels.index(found)


@given(case=cases(VALUES))
def test_codes_are_those_of_the_categories(case):
    """0 is missing, 1 unknown, 2 infrequent; indices continue from column to column."""
    train, rows, options = case
    encoder = encoder_of(train, options)
    if refused_row(rows, train, options) is not None:
        for form in ("codes", "indices"):
            with pytest.raises(ValueError, match=r"column 'c', row"):
                encoder.transform({"c": rows}, form)
        return
    expected = [code_of(value, train, options) for value in rows]

    codes = encoder.transform({"c": rows}, "codes")
    assert codes.dtype == np.uint8
    assert codes[:, 0].tolist() == expected
    listing = encoder.vocabulary
    assert len(listing["code"]) == encoder.cardinalities["c"]
    by_code = dict(zip(listing["code"].tolist(), listing["category"], strict=True))
    labels = [by_code[code] for code in expected]
    assert [v for v, code in zip(rows, expected, strict=True) if code > 2] == [
        label for label, code in zip(labels, expected, strict=True) if code > 2
    ]

    both = new_encoder(["c", "d"], options).fit({"c": train, "d": train})
    indices = both.transform({"c": rows, "d": rows}, "indices")
    assert indices.dtype == np.int32
    offsets = np.array([0, both.cardinalities["c"]])
    np.testing.assert_array_equal(indices, codes + offsets)


@pytest.mark.parametrize("library", FRAMES)
@given(case=cases(["a", "b", "c", "B", "", None]))
def test_categorical_columns_hold_the_values(library, case):
    """Infrequent, unknown and missing values are named like their features; the dtype is fixed."""
    pl = pytest.importorskip("polars")
    pytest.importorskip(library)
    train, rows, options = case
    encoder = encoder_of(train, options)
    frame = pl.DataFrame({"n": range(len(rows)), "c": pl.Series(rows, dtype=pl.String)})
    make = {"pandas": frame.to_pandas, "polars": lambda: frame, "pyarrow": frame.to_arrow}[library]
    if refused_row(rows, train, options) is not None:
        with pytest.raises(ValueError, match=r"column 'c', row"):
            encoder.transform(make(), "category")
        return
    undropped = Options(**{**vars(options), "drop": None})
    meanings = [meaning(value, train, undropped) for value in rows]
    expected = [None if found == "nan" else found for found in meanings]
    labels = [label for label, _ in columns_of(train, undropped)]
    labels += [UNKNOWN] if options.handle_unknown == "indicator" else []
    labels += [MISSING] if options.handle_missing == "indicator" else []
    if options.handle_unknown == "infrequent" and INFREQUENT not in labels:
        expected = [found if found in labels else None for found in expected]

    encoded: Any = encoder.transform(make(), "category")

    if library == "pandas":
        levels, values = encoded["c"].cat.categories.tolist(), encoded["c"].astype(object)
        values = values.where(values.notna(), None).tolist()
    elif library == "polars":
        levels, values = encoded["c"].dtype.categories.to_list(), encoded["c"].to_list()
    else:
        chunks = encoded["c"].combine_chunks()
        levels, values = chunks.dictionary.to_pylist(), chunks.to_pylist()
    assert (levels, values) == (labels, expected)
    assert list(encoded["n"]) == list(make()["n"])


def test_numbers_stay_numbers_in_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"k": [3, 1, 3]})
    encoder = Encoder(["k"], handle_unknown="ignore").fit(frame)

    encoded = encoder.transform(pd.DataFrame({"k": [1, 7]}, index=[5, 6]), "category")

    expected = pd.DataFrame({"k": pd.Categorical([1, None], [1, 3])}, index=[5, 6])
    pd.testing.assert_frame_equal(encoded, expected)


@pytest.mark.parametrize(("n", "dtype"), [(253, np.uint8), (254, np.int16), (40_000, np.int32)])
def test_codes_have_the_smallest_possible_dtype(n, dtype):
    values = np.arange(n)
    encoder = Encoder(["c"]).fit({"c": values})

    codes = encoder.transform({"c": values[::-1].copy()}, "codes")

    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes[:, 0], values[::-1] + 3)


def test_names_and_set_output_know_every_form():
    table = {"n": np.arange(2.0), "s": ["a", "b"]}
    encoder = Encoder(["s"]).fit(table)

    for form in ("codes", "indices"):
        encoder.set_output(transform=form)
        assert encoder.get_feature_names_out().tolist() == ["s"]
        assert encoder.transform(table).tolist() == [[3], [4]]
    encoder.set_output(transform="category")
    assert encoder.get_feature_names_out().tolist() == ["n", "s"]
    with pytest.raises(ValueError, match="'category' needs a table of arrow, pandas, polars"):
        encoder.transform(table)


def test_torch_shares_the_memory_of_codes():
    torch = pytest.importorskip("torch")
    encoder = Encoder().fit({"s": ["a", "b"], "t": ["c", "d"]})
    indices = encoder.transform({"s": ["b", "a"], "t": ["d", "d"]}, "indices")

    tensor = torch.from_dlpack(indices)
    assert tensor.data_ptr() == indices.ctypes.data
    table = torch.nn.Embedding(sum(encoder.cardinalities.values()), 3)
    assert table(tensor).shape == (2, 2, 3)
    bags = torch.nn.EmbeddingBag(table.num_embeddings, 3, mode="sum", _weight=table.weight.detach())
    torch.testing.assert_close(bags(tensor), table(tensor).sum(1))
