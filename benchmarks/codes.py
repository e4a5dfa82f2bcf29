"""The workloads of values → codes → categories, and of products with codes, D1 to D39."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.workloads import Array
from onehot_fast import Encoder, OneHotMatrix
from onehot_fast._arrow.array import read
from onehot_fast._categories.hashtable.dictionary import Dictionary

Libraries = Mapping[str, Any]
URL = "https://www.example.com/catalogue/%s/index.html"
# Integers of a large span are hashed: a look-up table of all integers between is too large.
SPAN = 2**62


@dataclass(frozen=True)
class Way:
    """The call of a library, and the part of its result that all libraries must agree on."""

    library: str
    call: Callable[[], Any]
    read: Callable[[Any], Array]


@dataclass(frozen=True)
class CodesWork:
    """One work: `make` takes the libraries, the values' categories and the row of each value."""

    name: str
    title: str
    peer: str  # the library that we compare with
    wanted: float  # the target: how many times as fast as the peer
    pool: Callable[[np.random.Generator], Array]  # distinct values
    make: Callable[[Libraries, Array, Array], dict[str, Way]]
    rows: int = 1_000_000

    def ways(self, libraries: Libraries, scale: float) -> dict[str, Way]:
        """Draw the same values each time, and return the calls of all libraries."""
        draw = np.random.default_rng(7)
        pool = self.pool(draw)
        rows = draw.integers(0, len(pool), max(1000, round(self.rows * scale)))
        return self.make(libraries, pool, rows)


def texts(n: int, low: int, high: int, form: str = "%s") -> Callable[[np.random.Generator], Array]:
    """Return a function that draws distinct texts of `low` to `high` letters."""

    def draw(random: np.random.Generator) -> Array:
        made: dict[str, None] = {}
        while len(made) < n:
            lengths = random.integers(low, high + 1, n)
            letters = random.integers(97, 123, (n, high), dtype=np.uint8)
            words = letters.view(f"S{high}").ravel().tolist()
            pairs = zip(words, lengths.tolist(), strict=True)
            made.update(dict.fromkeys(form % word[:length].decode() for word, length in pairs))
        return np.array(list(made)[:n], object)

    return draw


def integers(n: int) -> Callable[[np.random.Generator], Array]:
    """Return a function that draws distinct integers, far from one another."""
    return lambda random: np.unique(random.integers(-SPAN, SPAN, n))


def small_integers(random: np.random.Generator) -> Array:
    """Return integers next to one another."""
    return np.arange(3000)


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


def sizes(*n_categories: int) -> Callable[[np.random.Generator], Array]:
    """Return a function that counts the categories of each column."""
    return lambda random: np.array(n_categories)


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


def _works() -> list[CodesWork]:
    """Return all workloads; the position gives the name."""
    objects, own = numpy(np.asarray), numpy(own_objects)
    unicode = numpy(lambda values: values.astype("U8"))
    string = numpy(lambda values: values.astype(np.dtypes.StringDType()))
    short, middle, fixed, long = (4000, 5, 8), (105, 16, 32), (105, 60, 60), (4000, 100, 100)
    five, twenty, wide = sizes(3, 12, 50, 100, 300), sizes(*[10] * 20), sizes(100_000)
    multiply = products(
        lambda x, w: x.matvec(w, num_threads=1), lambda x, w: x @ w, lambda x, w: x.matvec(w)
    )
    transposed = products(
        lambda x, y: x.rmatvec(y, num_threads=1),
        lambda x, y: x.T @ y,
        lambda x, y: x.transpose_matvec(y),
        of_rows=True,
    )
    gram = products(
        lambda x, w: x.gram(w, num_threads=1), tabmat=lambda x, w: x.sandwich(w), of_rows=True
    )
    block = products(lambda x, w: x.matvec(w, num_threads=1), lambda x, w: x @ w, width=8)
    least_squares = products(solve, solve, of_rows=True, read=np.round)
    rows: list[tuple[str, str, float, Any, Any, int]] = [
        ("Arrow strings, 2 levels", "pyarrow", 4.5, texts(2, 5, 8), arrow, 10**6),
        ("Arrow strings, 16 levels", "pyarrow", 4.5, texts(16, 5, 8), arrow, 10**6),
        ("Arrow strings, 105 levels", "pyarrow", 3.5, texts(105, 5, 8), arrow, 10**6),
        ("Arrow strings, 4,000 levels", "pyarrow", 3.0, texts(*short), arrow, 10**6),
        ("Arrow strings, 100,000 levels", "pyarrow", 2.2, texts(100_000, 5, 8), arrow, 10**6),
        ("Arrow strings, 1,000,000 levels", "pyarrow", 2.5, texts(10**6, 5, 8), arrow, 10**6),
        ("Arrow strings of 16-32 bytes, 105 levels", "pyarrow", 2.5, texts(*middle), arrow, 10**6),
        ("the same, 4,000 levels", "pyarrow", 2.5, texts(4000, 16, 32), arrow, 10**6),
        ("Arrow strings of 60 bytes, 105 levels", "pyarrow", 1.7, texts(*fixed), arrow, 10**6),
        ("the same of 100 bytes, 4,000 levels", "pyarrow", 1.0, texts(*long), arrow, 10**6),
        ("URLs in Arrow, 4,000 levels", "pyarrow", 1.7, texts(4000, 6, 6, URL), arrow, 10**6),
        ("Arrow strings, 16 levels", "pyarrow", 1.0, texts(16, 5, 8), arrow, 1000),
        ("Arrow strings, 4,000 levels", "pyarrow", 3.0, texts(*short), arrow, 10**7),
        ("known Arrow strings, 4,000 levels", "pyarrow", 1.0, texts(*short), look_up, 10**6),
        ("strings of polars, 4,000 levels", "polars", 3.0, texts(*short), polars, 10**6),
        ("strings of polars, 100,000 levels", "polars", 2.0, texts(100_000, 5, 8), polars, 10**6),
        ("shared objects, 16 levels", "pandas", 15.0, texts(16, 5, 8), objects, 10**6),
        ("shared objects, 4,000 levels", "pandas", 15.0, texts(*short), objects, 10**6),
        ("objects of their own, 16 levels", "pandas", 4.0, texts(16, 5, 8), own, 10**6),
        ("objects of their own, 100,000 levels", "pandas", 4.0, texts(100_000, 5, 8), own, 10**6),
        ("<U8, 4,000 levels", "pandas", 10.0, texts(*short), unicode, 10**6),
        ("StringDType, 105 levels", "pandas", 10.0, texts(105, 5, 8), string, 10**6),
        ("int64 of large span, 4,000 levels", "pandas", 1.8, integers(4000), objects, 10**6),
        ("int64 of large span, 100,000 levels", "pandas", 1.2, integers(100_000), objects, 10**6),
        ("objects, sorted, 3,000 levels", "pandas", 1.5, texts(3000, 5, 8), fit, 200_000),
        ("objects, sorted, 90,000 levels", "pandas", 1.5, texts(90_000, 5, 8), fit, 200_000),
        ("integers, sorted, 3,000 levels", "pandas", 1.5, small_integers, fit, 200_000),
        ("objects to CSR, 3,000 levels", "sklearn", 6.0, texts(3000, 5, 8), estimator, 200_000),
        ("objects to CSR, 90,000 levels", "sklearn", 4.0, texts(90_000, 5, 8), estimator, 200_000),
        ("int64 to CSR, 300,000 levels", "sklearn", 4.0, integers(300_000), estimator, 200_000),
        ("to sparse columns of 2,000 levels", "pandas", 20.0, texts(2000, 5, 8), dummies, 200_000),
        ("X @ w, 5 columns", "tabmat", 1.8, five, multiply, 10**6),
        ("X.T @ y, 5 columns", "tabmat", 1.5, five, transposed, 10**6),
        ("X.T @ diag(w) @ X, 5 columns", "tabmat", 2.0, five, gram, 10**6),
        ("X @ 8 vectors, 5 columns", "scipy", 1.8, five, block, 10**6),
        ("lsqr, 30 steps, 5 columns", "scipy", 1.4, five, least_squares, 10**6),
        ("X @ w, 20 columns of 10 levels", "tabmat", 1.8, twenty, multiply, 10**6),
        ("X @ w, 100,000 levels", "tabmat", 0.9, wide, multiply, 10**6),
        ("X.T @ y, 100,000 levels", "tabmat", 0.9, wide, transposed, 10**6),
    ]
    return [CodesWork(f"D{i}", *row) for i, row in enumerate(rows, 1)]


CODES = {work.name: work for work in _works()}
