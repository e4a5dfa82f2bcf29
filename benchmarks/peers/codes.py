"""Who makes codes of values, and who multiplies by codes: the ways of each task, in `TASKS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.codes import CodesWorkload
from benchmarks.kinds.labels import Array
from onehot_fast import Encoder, OneHotMatrix, one_hot, one_hot_sequences
from onehot_fast._arrow.array import read
from onehot_fast._categories.hashtable.dictionary import Dictionary

Libraries = Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """The call of a library, and the part of its result that all libraries must agree on."""

    library: str
    call: Callable[[], Any]
    read: Callable[[Any], Array]


# It takes the libraries, the distinct values and the place among them of each row.
Task = Callable[[Libraries, Array, Array], dict[str, Way]]


def ways(workload: CodesWorkload, libraries: Libraries, scale: float) -> dict[str, Way]:
    """Return the calls of all libraries for a workload."""
    return TASKS[workload.task](libraries, *workload.make(scale))


def first_seen(codes: Array) -> Array:
    """Return codes numbered in the order in which they are first seen."""
    _, rows, codes = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(rows), np.int64)
    rank[np.argsort(rows)] = np.arange(len(rows))
    return rank[codes]


def learned(kind: str, values: Any) -> Way:
    """Return our call that numbers unknown values."""
    return Way("onehot_fast", lambda: Dictionary(kind).encode(values), first_seen)


def arrow(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Code Arrow's strings."""
    array = libraries["pyarrow"].array(pool[rows], "large_string")
    (chunk,) = read(array)
    peer = Way(
        "pyarrow", array.dictionary_encode, lambda coded: first_seen(np.array(coded.indices))
    )
    return {"Dictionary": learned("string", chunk), "dictionary_encode": peer}


def look_up(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Look Arrow's strings up among known ones."""
    arrow = libraries["pyarrow"]
    array, known = arrow.array(pool[rows], "large_string"), Dictionary("string")
    (chunk,), (names,) = read(array), read(arrow.array(pool, "large_string"))
    known.encode(names)
    index_in = arrow.compute.index_in
    return {
        "Dictionary": Way("onehot_fast", lambda: known.lookup(chunk), np.asarray),
        "index_in": Way(
            "pyarrow", lambda: index_in(array, arrow.array(pool, "large_string")), np.array
        ),
    }


def polars(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Code the strings of polars."""
    pl = libraries["polars"]
    series = pl.Series(pool[rows].tolist())
    (chunk,) = read(series)
    return {
        "Dictionary": learned("string", chunk),
        "cast(Categorical)": Way(
            "polars",
            lambda: series.cast(pl.Categorical),
            lambda coded: first_seen(coded.to_physical().to_numpy()),
        ),
    }


def numpy(convert: Callable[[Array], Array]) -> Callable[..., dict[str, Way]]:
    """Code NumPy arrays of objects, or their conversion by `convert`."""

    def make(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
        values, factorize = convert(pool[rows]), libraries["pandas"].factorize
        kind = "int64" if values.dtype.kind == "i" else "string"
        plain = values.astype(object) if values.dtype.kind == "T" else None
        peer = lambda: factorize(values if plain is None else values.astype(object))  # noqa: E731
        return {
            "Dictionary": learned(kind, values),
            "factorize": Way("pandas", peer, lambda found: first_seen(found[0])),
        }

    return make


def own_objects(values: Array) -> Array:
    """Return a distinct text for each row."""
    return np.array(["".join([text[:1], text[1:]]) for text in values], object)


def fit(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Learn sorted categories and their counts."""
    values, pandas = pool[rows], libraries["pandas"]
    return {
        "Encoder.fit": Way(
            "onehot_fast",
            lambda: Encoder(["x"]).fit({"x": values}),
            lambda encoder: np.asarray(encoder.categories["x"]),
        ),
        "factorize(sort=True)": Way(
            "pandas",
            lambda: pandas.factorize(values, sort=True),
            lambda found: np.asarray(found[1]),
        ),
    }


def estimator(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Learn and encode to CSR."""
    ours = import_module("onehot_fast.integrations.sklearn")
    theirs = import_module("sklearn.preprocessing")
    column = libraries["pandas"].DataFrame({"x": pool[rows]})
    return {
        "OneHotEncoder (CSR)" if library == "onehot_fast" else "OneHotEncoder": Way(
            library,
            lambda made=module.OneHotEncoder: made().fit_transform(column),
            lambda matrix: matrix.indices,
        )
        for library, module in (("onehot_fast", ours), ("sklearn", theirs))
    }


def dummies(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
    """Make a frame of sparse columns."""
    pandas, ours = libraries["pandas"], import_module("onehot_fast.integrations.pandas")
    column = pandas.Series(pool[rows], dtype="str")
    return {
        f"{name}(sparse=True)": Way(
            library,
            lambda make=make: make(column, sparse=True),
            lambda frame: np.asarray(frame.sum()),
        )
        for name, library, make in (
            ("get_dummies", "onehot_fast", ours.get_dummies),
            ("pandas.get_dummies", "pandas", pandas.get_dummies),
        )
    }


def products(
    ours: Callable[[OneHotMatrix, Any], Any],
    scipy: Callable[[Any, Any], Any] | None = None,
    tabmat: Callable[[Any, Any], Any] | None = None,
    of_rows: bool = False,
    width: int | None = None,
    read: Callable[[Any], Array] = np.asarray,
) -> Callable[..., dict[str, Way]]:
    """Return a function that multiplies a one-hot matrix by integers, on one thread."""

    def make(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
        threads = import_module("threadpoolctl").ThreadpoolController()
        random = np.random.default_rng(7)
        codes = [random.integers(0, n, len(rows), np.int32) for n in pool]
        matrix = OneHotMatrix.from_codes(codes, pool.tolist())
        n = len(rows) if of_rows else matrix.shape[1]
        operand = random.integers(1, 9, n if width is None else (n, width)).astype(float)

        def way(library: str, function: Callable[[Any, Any], Any], matrix: Any) -> Way:
            def call() -> Any:
                with threads.limit(limits=1):  # tabmat has no option for it
                    return function(matrix, operand)

            return Way(library, call, read)

        ways = {"OneHotMatrix": way("onehot_fast", ours, matrix)}
        if scipy is not None:
            ways["csr_array"] = way("scipy", scipy, matrix.to_csr())
        if tabmat is not None:
            library, pandas = libraries["tabmat"], libraries["pandas"]
            categories = [
                library.CategoricalMatrix(pandas.Categorical.from_codes(c, range(n)))
                for c, n in zip(codes, pool, strict=True)
            ]
            other = library.SplitMatrix(categories) if len(categories) > 1 else categories[0]
            ways["SplitMatrix"] = way("tabmat", tabmat, other)
        return ways

    return make


def solve(matrix: Any, y: Array) -> float:
    """Take 30 steps of least squares; the norm of the residuals varies in its sixth digit."""
    lsqr = import_module("scipy.sparse.linalg").lsqr
    return float(lsqr(matrix, y, atol=0, btol=0, iter_lim=30)[3])


LENGTH = 1000  # letters of a sequence


def letters(dtype: str, axis: int) -> Callable[..., dict[str, Way]]:
    """Return a function that encodes sequences of letters, on one thread."""

    def make(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
        codes = pool[rows[: len(rows) // LENGTH * LENGTH]].reshape(-1, LENGTH)
        table = np.zeros((256, len(pool)), dtype)
        table[pool] = np.eye(len(pool))
        options = {"axis": axis, "dtype": dtype, "num_threads": 1}
        found = {
            "one_hot_sequences": Way(
                "onehot_fast", lambda: one_hot_sequences(codes, **options), np.asarray
            ),
            "table[codes]": Way(
                "numpy",
                lambda: np.ascontiguousarray(np.moveaxis(table[codes], -1, axis)),
                np.asarray,
            ),
        }
        if "seqpro" in libraries and dtype == "uint8" and axis == -1:
            seqpro = libraries["seqpro"]
            found["ohe"] = Way(
                "seqpro", lambda: seqpro.ohe(codes.view("S1"), seqpro.DNA), np.asarray
            )
        return found

    return make


def classes(axis: int, outer: int = 1) -> Callable[..., dict[str, Way]]:
    """Encode labels that are listed, on one thread, beside the idioms of other libraries."""

    def make(libraries: Libraries, pool: Array, rows: Array) -> dict[str, Way]:
        values = pool[rows[: len(rows) // outer * outer].reshape(outer, -1)]
        depth, is_palette = len(pool), pool.ndim > 1
        grid = np.ogrid[: values.shape[0], : values.shape[1]]

        def compare() -> Array:
            if is_palette:
                equal = (values[:, :, None] == pool).all(-1)
            else:
                equal = values[:, :, None] == pool
            return np.ascontiguousarray(np.moveaxis(equal, -1, axis), np.float32)

        def search() -> Array:
            places = np.searchsorted(pool, values)
            result = np.zeros((*values.shape, depth), np.float32)
            result[grid[0], grid[1], places] = 1
            return np.ascontiguousarray(np.moveaxis(result, -1, axis))

        def encode() -> Array:
            return one_hot(values, categories=pool, axis=axis, num_threads=1)

        found = {
            "one_hot": Way("onehot_fast", encode, np.asarray),
            "x[..., None] == categories": Way("numpy", compare, np.asarray),
        }
        if not is_palette:
            found["searchsorted"] = Way("numpy", search, np.asarray)
        if values.dtype == np.uint8 and not is_palette:
            lut = np.zeros(256, np.intp)
            lut[pool] = np.arange(depth)
            eye = np.eye(depth, dtype=np.float32)

            def select() -> Array:
                return np.ascontiguousarray(np.moveaxis(eye[lut[values]], -1, axis))

            found["eye[lut[x]]"] = Way("numpy", select, np.asarray)
        if "torch" in libraries:
            found |= _classes_of_torch(libraries["torch"], pool, values, axis)
        if "jax" in libraries:
            found |= _classes_of_jax(libraries["jax"], pool, values, axis)
        return found

    return make


def _classes_of_torch(torch: Any, pool: Array, values: Array, axis: int) -> dict[str, Way]:
    """Return the idioms of torch for labels that are listed."""
    tensor, keys, depth = torch.from_numpy(values), torch.from_numpy(pool), len(pool)

    def compare() -> Any:
        equal = tensor[:, :, None] == keys
        equal = equal.all(-1) if keys.ndim > 1 else equal
        return equal.movedim(-1, axis).to(torch.float32, memory_format=torch.contiguous_format)

    def search() -> Any:
        rows = torch.nn.functional.one_hot(torch.searchsorted(keys, tensor), depth)
        return rows.movedim(-1, axis).to(torch.float32, memory_format=torch.contiguous_format)

    found = {"tensor[..., None] == categories": Way("torch", compare, np.asarray)}
    if pool.ndim == 1:
        found["one_hot(searchsorted)"] = Way("torch", search, np.asarray)
    return found


def _classes_of_jax(jax: Any, pool: Array, values: Array, axis: int) -> dict[str, Way]:
    """Return the idioms of jax for labels that are listed, compiled."""
    array, keys, depth = jax.numpy.asarray(values), jax.numpy.asarray(pool), len(pool)

    @jax.jit
    def compare(array: Any) -> Any:
        equal = array[:, :, None] == keys
        equal = equal.all(-1) if keys.ndim > 1 else equal
        return jax.numpy.moveaxis(equal, -1, axis).astype("float32")

    @jax.jit
    def search(array: Any) -> Any:
        places = jax.numpy.searchsorted(keys, array)
        return jax.nn.one_hot(places, depth, dtype="float32", axis=axis)

    ways = {"jit(x[..., None] == categories)": compare}
    if pool.ndim == 1:
        ways["jit(one_hot(searchsorted))"] = search

    def way(function: Callable[[Any], Any]) -> Way:
        return Way("jax", lambda: function(array).block_until_ready(), np.asarray)

    return {name: way(function) for name, function in ways.items()}


# A title of `benchmarks.workloads` names the values; these are what is done with them.
TASKS: dict[str, Task] = {
    "classes": classes(-1),
    "planes of classes": classes(1, outer=8),
    "Arrow": arrow,
    "known Arrow": look_up,
    "polars": polars,
    "objects": numpy(np.asarray),
    "own": numpy(own_objects),
    "U8": numpy(lambda values: values.astype("U8")),
    "StringDType": numpy(lambda values: values.astype(np.dtypes.StringDType())),
    "fit": fit,
    "to CSR": estimator,
    "sparse": dummies,
    "X @ w": products(
        lambda x, w: x.matvec(w, num_threads=1), lambda x, w: x @ w, lambda x, w: x.matvec(w)
    ),
    "X.T @ y": products(
        lambda x, y: x.rmatvec(y, num_threads=1),
        lambda x, y: x.T @ y,
        lambda x, y: x.transpose_matvec(y),
        of_rows=True,
    ),
    "Gram": products(
        lambda x, w: x.gram(w, num_threads=1), tabmat=lambda x, w: x.sandwich(w), of_rows=True
    ),
    "X @ block": products(lambda x, w: x.matvec(w, num_threads=1), lambda x, w: x @ w, width=8),
    **{f"letters, {dtype}": letters(dtype, -1) for dtype in ("uint8", "float32")},
    **{f"letter planes, {dtype}": letters(dtype, 1) for dtype in ("uint8", "float32")},
    "lsqr": products(solve, solve, of_rows=True, read=np.round),
}
