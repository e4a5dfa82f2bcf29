"""Several threads give the same codes and values as one, and the error of the first row."""

from __future__ import annotations

import numpy as np
import pytest

from onehot_fast._categories.hashtable.dictionary import Dictionary
from onehot_fast._kernels.dispatch import INDEX_DTYPES
from onehot_fast._runtime import parallel
from onehot_fast.adapter import read_arrow as read
from support.dictionary_values import BYTES_TYPES, TEXT_TYPES, learned

pa = pytest.importorskip("pyarrow")

# Two threads share a column from 2**18 rows on; the first 2**16 rows are learned by one thread.
N_ROWS = 700_001
THREADS = [2, 3, 5, 1000]


def generator():
    """Return new random numbers, which depend on no other test."""
    return np.random.default_rng(7)


def is_missing():
    """Return which rows have no value."""
    return generator().random(N_ROWS) < 0.1


def rows_of(n_distinct, n_rows=N_ROWS):
    """Return numbers of values, of which some occur only near the end."""
    random = generator()
    codes = random.integers(0, max(n_distinct // 2, 1), n_rows)
    codes[-n_rows // 3 :] = random.integers(0, n_distinct, len(codes[-n_rows // 3 :]))
    return codes


def texts(n_distinct, kind):
    """Return rows of short and long texts with missing ones, as the chunk of an Arrow array."""
    pool = np.array([f"{i:x}" * (1 + i % 4 * 7) for i in range(n_distinct)], object)
    if kind in BYTES_TYPES:
        pool = np.array([text.encode() for text in pool], object)
    rows = pool[rows_of(n_distinct)]
    rows[is_missing()] = None
    (chunk,) = read(pa.array(rows, kind))
    return chunk


def check(kind, values, known=None):
    """Compare what several threads learn and look up with what one thread does."""
    one = Dictionary(kind, known)
    codes = one.encode(values, num_threads=1)
    for num_threads in THREADS:
        team = Dictionary(kind, known)
        assert np.array_equal(team.encode(values, num_threads=num_threads), codes)
        assert team.values.tolist() == one.values.tolist()
        assert np.array_equal(team.lookup(values, num_threads=num_threads), codes)
        half = Dictionary(kind, one.values.take(np.arange(len(one) // 2)))
        expected = np.where(codes < len(half), codes, -2)
        assert np.array_equal(half.lookup(values, num_threads=num_threads), expected)


@pytest.mark.parametrize("n_distinct", [1, 90, 20_000, 150_000])
@pytest.mark.parametrize("kind", [*TEXT_TYPES, *BYTES_TYPES], ids=str)
def test_texts_of_arrow_have_the_same_codes(kind, n_distinct):
    check("string" if kind in TEXT_TYPES else "binary", texts(n_distinct, kind))


@pytest.mark.parametrize("dtype", ["U", "S"])
def test_texts_of_numpy_have_the_same_codes(dtype):
    pool = np.array([f"é{i}" if dtype == "U" else f"e{i}" for i in range(3000)], dtype)
    check("string" if dtype == "U" else "binary", pool[rows_of(3000)])


@pytest.mark.parametrize("n_distinct", [1, 5000, 200_000])
@pytest.mark.parametrize("dtype", [*map(str, INDEX_DTYPES), "bool", "M8[s]", "m8[ms]"])
def test_numbers_have_the_same_codes(dtype, n_distinct):
    values = (rows_of(n_distinct) * 1_001).astype(dtype)
    if values.dtype.kind in "fmM":
        values[::9] = np.array("NaN" if values.dtype.kind == "f" else "NaT", values.dtype)
    kind = {"f": "float64", "u": "uint64"}.get(values.dtype.kind, "int64")
    check(kind, values)


def test_numbers_of_arrow_have_the_same_codes():
    (chunk,) = read(pa.array(rows_of(700) * 1_001, mask=is_missing()))
    check("int64", chunk)


def test_known_values_keep_their_codes():
    """Values of an earlier call come first, in every part of the rows."""
    known = np.arange(0, 9_000_000, 1_001)[::-1].copy()
    check("int64", rows_of(20_000) * 1_001, known)


def test_values_that_all_differ_are_numbered():
    values = generator().permutation(N_ROWS).astype(np.int64) * 1_001
    for num_threads in (1, 3):
        dictionary = Dictionary("int64")
        codes = dictionary.encode(values, num_threads=num_threads)
        assert np.array_equal(codes, np.arange(N_ROWS))
        assert np.array_equal(dictionary.values, values)


def test_rows_of_several_steps_have_the_same_codes():
    """A step has 2**22 rows for each thread; the hash tables of threads are kept for the next."""
    values = generator().integers(0, 30, 2 * (2**22) + 900_000).astype(np.int64) ** 7
    values[-1000:] = -np.arange(1000) - 1
    one, team = Dictionary("int64"), Dictionary("int64")
    codes = one.encode(values, num_threads=1)
    assert np.array_equal(team.encode(values, num_threads=2), codes)
    assert np.array_equal(team.values, one.values)
    assert np.array_equal(team.lookup(values, num_threads=2), codes)


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("bad", [[9], [650_000], [650_000, 300_000, 400_000]], ids=len)
def test_the_error_is_that_of_the_first_row(bad, num_threads):
    values = rows_of(500).astype(np.uint64)
    values[bad] = 2**63
    with pytest.raises(TypeError, match=f"row {min(bad)}: the value does not fit a 'int64'"):
        Dictionary("int64").encode(values, num_threads=num_threads)
    known = learned("int64", np.arange(500))
    assert (known.lookup(values, num_threads=num_threads)[bad] == -2).all()


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("method", [Dictionary.encode, Dictionary.lookup])
def test_malformed_offsets_are_rejected_at_the_first_row(method, num_threads):
    pool = pa.array([f"value {i}" for i in range(500)])
    array = pool.take(pa.array(rows_of(500)))
    offsets = np.frombuffer(array.buffers()[1], np.int32).copy()
    offsets[[500_001, 650_001]] = 2**30
    buffers = [None, pa.py_buffer(offsets), array.buffers()[2]]
    (chunk,) = read(pa.Array.from_buffers(pa.string(), len(array), buffers))
    with pytest.raises(ValueError, match="row 500000: offsets and views must be inside"):
        method(learned("string", *read(pool)), chunk, num_threads=num_threads)


@pytest.mark.parametrize(
    ("num_threads", "error"), [(0, ValueError), (True, TypeError), ("2", TypeError)]
)
def test_another_number_of_threads_is_an_error(num_threads, error):
    with pytest.raises(error, match="num_threads must be"):
        Dictionary("int64").encode(rows_of(5), num_threads=num_threads)


def test_the_number_of_threads_follows_from_the_rows(monkeypatch):
    """Rows are counted as bytes of an output; a small array does not ask."""
    asked = []
    monkeypatch.setattr(parallel, "resolve", lambda *given: asked.append(given) or 1)
    for n_rows in (1000, N_ROWS):
        Dictionary("int64").encode(rows_of(5, n_rows))
    assert asked == [(None, 32 * N_ROWS)]
