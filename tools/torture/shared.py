"""Threads that share what may be shared: a fitted encoder, a dictionary, parts of one output.

Nothing is built when they begin: hash tables, look-up tables, names and layouts are made by
the first thread. ThreadSanitizer watches in ``.ci/variant thread``.
"""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from onehot_fast import Encoder, decode, multi_hot, one_hot
from onehot_fast._categories.dictionary import Dictionary
from torture.tensors import pick
from torture.works import as_bytes

THREADS, REPEATS = 6, 3
HANG = 300


def case(seed: int) -> Counter[str]:
    """Let threads use new objects at the same moment."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for call, name in [*_encoders(rng), *_dictionaries(rng), *_outputs(rng)]:
        found[name] += _together(call, name)
    return found


def _together(call: Callable[[int], tuple[Any, Any]], name: str) -> int:
    """Call from every thread after one barrier; all results are right."""
    barrier, wrong = threading.Barrier(THREADS, timeout=HANG), []

    def work(number: int) -> None:
        barrier.wait()
        try:
            for _ in range(REPEATS):
                actual, expected = call(number)
                assert as_bytes(actual) == as_bytes(expected), "another result"
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, (name, wrong)
    return THREADS * REPEATS


def _encoders(rng: np.random.Generator) -> Any:
    """Yield uses of one new encoder."""
    n, n_levels = int(pick(rng, [50, 3000])), int(pick(rng, [3, 700]))
    texts = np.array([f"{i} {'y' * (i % 30)}" for i in range(n_levels)], object)
    table = {
        "text": texts[rng.integers(0, n_levels, n)],
        "number": rng.integers(0, n_levels, n) * 2**33,
        "float": rng.integers(0, 9, n) / 3,
    }
    known = Encoder([*table], dtype="f4", handle_unknown="ignore").fit(table)
    written = pickle.dumps(known)
    names = known.get_feature_names_out()
    for form in ("numpy", "csr", "csc"):
        expected = known.transform(table, form)
        fresh = pickle.loads(written)
        yield lambda _, e=fresh, f=form, x=expected: (e.transform(table, f), x), f"transform {form}"
    fresh = pickle.loads(written)
    yield lambda _: (fresh.get_feature_names_out(), names), "names"
    dense, back = known.transform(table, "numpy"), pickle.loads(written)
    decoded = known.inverse_transform(dense)
    yield lambda _: (back.inverse_transform(dense), decoded), "inverse"
    unfitted = known.to_json()
    yield lambda _: (Encoder([*table], dtype="f4").fit(table).n_features, known.n_features), "fit"
    yield lambda _: (Encoder.from_json(unfitted).to_json(), unfitted), "JSON"


def _dictionaries(rng: np.random.Generator) -> Any:
    """Yield look-ups in one dictionary, and reads of its values."""
    values = rng.permutation(int(pick(rng, [10, 20_000]))) * 2**35
    known = Dictionary("int64", values)
    order = rng.permutation(len(values))
    yield lambda _: (known.lookup(values[order]), order.astype(np.int32)), "lookup"
    yield lambda _: (known.values, values), "values"


def _outputs(rng: np.random.Generator) -> Any:
    """Yield writes into parts of one output, and calls whose memory goes through one cache."""
    n, depth = int(pick(rng, [300, 40_000])), int(pick(rng, [3, 17, 300]))
    n = min(n, 2_000_000 // depth)
    indices = rng.integers(-1, depth, (THREADS, n))
    expected = [one_hot(each, depth, dtype="u1") for each in indices]
    out = np.full((THREADS, n, depth), 9, np.uint8)

    def write(number: int) -> tuple[Any, Any]:
        one_hot(indices[number], depth, dtype="u1", out=out[number], num_threads=2)
        return out[number], expected[number]

    yield write, "out"
    shared = indices[0]
    yield lambda _: (one_hot(shared, depth, dtype="u1", num_threads=2), expected[0]), "one_hot"
    planes = np.ascontiguousarray(expected[0].T)
    yield lambda _: (one_hot(shared, depth, axis=0, dtype="u1"), planes), "planes"
    yield lambda _: (decode(expected[1]), indices[1]), "decode"
    offsets = np.arange(n + 1)
    yield (
        lambda _: (multi_hot(shared, depth, offsets=offsets, dtype="u1"), expected[0]),
        "multi_hot",
    )
