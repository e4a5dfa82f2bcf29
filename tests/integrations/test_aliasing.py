"""No result aliases an input, another result or recycled memory; and nothing is copied either."""

import gc

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pytest.importorskip("scipy")

import onehot_fast  # noqa: E402  after the skips above
import onehot_fast.integrations.polars  # noqa: E402
from onehot_fast import Encoder  # noqa: E402
from onehot_fast.integrations.pandas import get_dummies  # noqa: E402

N_ROWS = 100_001  # a block of so many rows is worth keeping when it dies
CODED = pd.Series(pd.Categorical.from_codes(np.arange(N_ROWS) % 4 - 1, categories=list("abc")))
WIDE = pd.Series(
    pd.Categorical.from_codes(np.arange(N_ROWS) % 99, categories=list(map(str, range(99))))
)
BARE = pd.DataFrame({"n": [1, 2, 3], "size": ["S", None, "L"], "m": [0, 1, 2]})


def test_arrow_columns_lie_in_one_buffer():
    """The bits of the columns follow each other in whole lines, and nobody can write to them."""
    bits = [column.buffers()[1] for column in CODED.onehot.to_arrow().columns]

    steps = np.diff([buffer.address for buffer in bits])
    assert steps.tolist() == [-(-N_ROWS // (8 * 64)) * 64] * 2
    assert not any(buffer.is_mutable for buffer in bits)


def written_to(result):
    """Return the arrays of a result; those of a frame of one block are views of it."""
    if isinstance(result, pd.DataFrame):
        return [result.to_numpy()]
    is_array = isinstance(result, np.ndarray)
    return [result] if is_array else [result.data, result.indices, result.indptr]


def overwrite(result):
    """Write to every element of a result, and see that a frame's are the kernel's memory."""
    if not isinstance(result, pd.DataFrame):
        for array in written_to(result):
            array.fill(77)
        return
    before = result.to_numpy().__array_interface__["data"]
    for position in range(result.shape[1]):
        result.iloc[:, position] = ~result.iloc[:, position].to_numpy(copy=True)
    assert result.to_numpy().__array_interface__["data"] == before


FORMS = {
    "series": lambda data: data.onehot(),
    "dropped": lambda data: data.onehot(handle_missing="indicator"),
    "index": lambda data: pd.Index(data).onehot(),
    "frame": lambda data: data.to_frame("k").onehot(),
    "get_dummies": lambda data: get_dummies(data, dtype=bool),
    "two columns": lambda data: get_dummies(pd.DataFrame({"a": data, "b": data})),
    "lists": lambda data: data.onehot.multi_hot("|"),
    "array": lambda data: data.onehot.to_numpy(),
    "csr": lambda data: data.onehot.to_csr(),
}


@pytest.mark.parametrize("form", FORMS)
def test_writing_to_a_result_changes_no_other(form):
    """Encoded again, with the first result alive and after its death, the rows are the same."""
    encode = FORMS[form]
    data = CODED.copy()
    expected = [part.copy() for part in written_to(encode(data))]
    written, bystander = encode(data), encode(data)

    overwrite(written)
    beside = encode(data)
    del written
    gc.collect()
    after = encode(data)

    for result in (bystander, beside, after):
        parts = written_to(result)
        assert list(map(np.array_equal, parts, expected)) == [True] * len(expected)
    assert data.equals(CODED)


@pytest.mark.parametrize(
    "encode",
    [lambda frame: frame.onehot(), get_dummies, lambda frame: Encoder().fit_transform(frame)],
    ids=["accessor", "get_dummies", "encoder"],
)
def test_kept_columns_are_not_shared_for_writing(encode):
    """Neither from the result to the input nor from the input to the result."""
    frame = BARE.copy()
    result, other = encode(frame), encode(frame)

    result.loc[:, "n"] = 100
    result.loc[0, "m"] = 100

    pd.testing.assert_frame_equal(frame, BARE)
    frame.iloc[0, 0] = 200
    assert other["n"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (lambda: CODED.onehot(), lambda frame: frame["b"]),
        (lambda: CODED.onehot(), lambda frame: frame.to_numpy()[5:, 1]),
        (lambda: WIDE.onehot(drop="first"), lambda frame: frame.iloc[10:]),
        (lambda: CODED.onehot.to_numpy(), lambda array: array[3]),
        (lambda: WIDE.onehot.to_arrow(), lambda batch: batch.column(1).slice(9)),
        (lambda: CODED.onehot.to_csr(), lambda ones: ones.indices[1:]),
        (lambda: pl.Series("k", np.arange(N_ROWS) % 99).onehot(), lambda frame: frame["k_3"]),
    ],
    ids=["column", "values", "rows", "array", "arrow", "csr", "polars"],
)
def test_memory_is_recycled_only_when_the_last_view_is_gone(make, view):
    gc.collect()
    before = onehot_fast.cache_info().n_live
    result = make()
    kept = view(result)
    del result
    gc.collect()
    during = onehot_fast.cache_info().n_live
    copied = np.asarray(kept).copy()

    others = [make() for _ in range(3)]

    np.testing.assert_array_equal(np.asarray(kept), copied)
    del kept, others
    gc.collect()
    assert during > before
    assert onehot_fast.cache_info().n_live == before
